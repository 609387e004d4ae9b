"""Logs are cut behind recorded matches, so that a room costs no more after many matches than after two."""

import pytest
from redis.exceptions import ResponseError

from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_server import MatchRecord, Snapshot, View
from fairest_server.live import log_cutter
from fairest_server.live.live_room import LiveRoom
from fairest_server.live.log_reader import read_steps
from fairest_server.live.proposal import Request
from fairest_server.live.room_server import RoomServer
from fairest_server.live.slices import Slices
from fairest_server.room.commands import ApplyPauses, Pause, TakeSeat
from fairest_server.room.events import Checkpoint
from fairest_server.room.view import ViewCursor
from fairest_server.store.log import KEPT_BEFORE_CHECKPOINT
from fairest_server.store.records import RecordStore
from fairest_server.store.redis.batching_client import BatchingRedis
from tests.support.isolated_room import RecordingSubscriber
from tests.support.rematches import ENTRIES_OF_MATCH, Pair
from tests.support.room_server import heartbeat, serving_room_server, soon
from tests.support.single_and_cluster import requested_url
from tests.support.stored_logs import count_entries

CUT_AFTER = 80
"""Less than in production, so that a test plays few matches, and more than are kept before a checkpoint."""
MATCHES = 2 * CUT_AFTER // ENTRIES_OF_MATCH
"""The log of so many is cut at least once."""


@pytest.fixture(params=["single", pytest.param("cluster", marks=pytest.mark.long)])
def redis_url(request: pytest.FixtureRequest, redis_url: str) -> str:
    """A single Redis, and in the long tests a Cluster."""
    return requested_url(request, redis_url)


@pytest.fixture(autouse=True)
def _logs_are_cut_early(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_cutter, "CUT_AFTER", CUT_AFTER)


@pytest.fixture
async def pair(rooms: RoomServer) -> Pair:
    pair = Pair(rooms)
    await pair.sit_down()
    return pair


async def play_matches(pair: Pair, matches: int) -> list[str]:
    """Play so many matches, and open the next one; return the ids of the matches."""
    played = []
    for _ in range(matches):
        played.append(await pair.play_match())
        await pair.ask_for_rematch()
        await soon(lambda: not pair.rooms.registry.cutter.is_under_way(pair.room), "nothing is being cut")
    return played


async def play_until_last_match_is_cut(pair: Pair) -> None:
    """Play matches until the log holds nothing of one that is over."""
    await play_matches(pair, MATCHES)
    while pair.room.cursor.length > 1:
        await play_matches(pair, 1)


async def come_back(pair: Pair, seen: View) -> RecordingSubscriber:
    """Let the player in seat 0, who has seen all up to the end of a view, enter again; return its new connection."""
    again = RecordingSubscriber("abcd1234-9", "resume")
    again.seen_upto = ViewCursor(seen.position, seen.tag)
    pair.room.submit(Request(TakeSeat("player-0", "ann", again.connection_id, "resume"), again))
    await soon(lambda: again.frames, "the player is in the room")
    return again


async def test_a_room_is_opened_from_as_few_entries_after_many_matches_as_after_two(pair: Pair) -> None:
    await play_matches(pair, MATCHES)
    steps, _ = await read_steps(pair.rooms.log, Slices(), pair.room.code)
    assert len(steps) <= CUT_AFTER + ENTRIES_OF_MATCH


async def test_the_log_of_a_room_does_not_grow_with_its_matches(pair: Pair, redis: BatchingRedis) -> None:
    await play_matches(pair, MATCHES)
    length = await count_entries(redis, pair.room.code)
    assert length <= CUT_AFTER + ENTRIES_OF_MATCH + KEPT_BEFORE_CHECKPOINT


@pytest.mark.long
async def test_the_log_of_a_room_in_which_guests_come_and_go_does_not_grow(pair: Pair) -> None:
    for _ in range(CUT_AFTER):
        await pair.leave_and_join()
    await soon(lambda: pair.room.cursor.length <= CUT_AFTER, "the log is cut")
    assert pair.room.cursor.index > 3 * CUT_AFTER


async def test_every_match_keeps_its_record(pair: Pair, redis: BatchingRedis) -> None:
    played = await play_matches(pair, MATCHES)
    assert all([await RecordStore(redis).read(match) for match in played])


async def test_the_record_of_a_match_before_the_checkpoint_is_found(pair: Pair) -> None:
    await play_until_last_match_is_cut(pair)
    record, _ = await pair.rooms.find_record(pair.room.code, None)
    assert isinstance(record, MatchRecord)


async def test_a_player_goes_on_where_it_stood_when_the_log_is_cut(pair: Pair) -> None:
    await play_matches(pair, MATCHES)
    views = [message for message in pair.players[0].messages if isinstance(message, View)]
    assert [view.first for view in views[1:]] == [view.position + 1 for view in views[:-1]]


async def test_a_player_who_comes_back_to_a_cut_log_gets_a_snapshot(pair: Pair) -> None:
    await play_matches(pair, MATCHES)
    first = pair.players[0].messages[1]
    assert isinstance(first, View)
    again = await come_back(pair, first)
    assert isinstance(again.messages[0], Snapshot)
    assert again.messages[0].scene.phase is Phase.READY


async def test_a_player_who_comes_back_to_the_end_of_a_cut_log_goes_on(pair: Pair) -> None:
    await play_until_last_match_is_cut(pair)
    last = pair.players[0].messages[-1]
    assert isinstance(last, View)
    again = await come_back(pair, last)
    assert isinstance(again.messages[0], View)


async def test_a_room_that_nobody_needs_is_dropped_after_its_log_was_cut(pair: Pair) -> None:
    await play_matches(pair, MATCHES)
    for player in pair.players:
        pair.room.disconnect(player)
    await soon(lambda: pair.room.code not in pair.rooms.registry.rooms, "the room is dropped")
    again = await pair.rooms.registry.open_room(pair.room.code)
    assert again is not None
    assert (again.cursor.end, again.state) == (pair.room.cursor.end, pair.room.state)


async def test_another_process_goes_on_with_a_room_whose_log_is_cut(
    pair: Pair, redis: BatchingRedis, redis_url: str
) -> None:
    async with serving_room_server(redis, redis_url, "0123cdef") as other, heartbeat(other):
        pair.rooms.registry.set_shared(is_shared=True, pauses=())
        other.registry.set_shared(is_shared=True, pauses=())
        spectator = RecordingSubscriber("0123cdef-1", "watch")
        room = await other.entrance.watch(pair.room.code, spectator)
        assert room is not None
        await play_matches(pair, MATCHES)
        await soon(lambda: room.cursor.end == pair.room.cursor.end, "the other process has followed")
        assert (room.state, room.cursor.start) == (pair.room.state, pair.room.cursor.start)
        assert spectator.notes == ["admitted None"]
        room.unsubscribe(spectator)


async def test_a_process_that_slept_through_a_checkpoint_takes_what_it_missed(pair: Pair) -> None:
    """The entries just before a checkpoint are kept for that."""
    await play_matches(pair, MATCHES)
    found = await pair.rooms.log.read(pair.room.code)
    checkpoint = next(place for place, entry in enumerate(found) if isinstance(entry.event, Checkpoint))
    assert checkpoint == KEPT_BEFORE_CHECKPOINT


def paused_until_ms(room: LiveRoom) -> int:
    assert room.state is not None
    return room.state.clocks.paused_until_ms


def pause_shortly(room: LiveRoom) -> Pause:
    """Ask the room for one more entry, which is that of a pause of 1 ms."""
    known_ms = paused_until_ms(room)
    pause = Pause(start_ms=known_ms, end_ms=known_ms + 1)
    room.submit(Request(ApplyPauses((pause,))))
    return pause


async def test_a_log_to_which_another_process_appends_is_cut_all_the_same(
    pair: Pair, redis: BatchingRedis, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut = pair.rooms.log.cut
    calls = 0

    async def cut_late(*arguments: object, **options: object) -> int | None:
        nonlocal calls
        calls += 1
        if calls == 1:
            room = await other.registry.open_room(pair.room.code)
            assert room is not None
            pause = pause_shortly(room)
            await soon(lambda: paused_until_ms(room) == pause.end_ms, "the other process has appended")
        return await cut(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(pair.rooms.log, "cut", cut_late)
    async with serving_room_server(redis, redis_url, "0123cdef") as other, heartbeat(other):
        while not calls:
            await pair.leave_and_join()
        await soon(lambda: pair.room.cursor.start > 1, "the log is cut")
    assert calls > 1


async def test_a_room_decides_nothing_while_its_log_is_cut(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    cut, waited, pauses = pair.rooms.log.cut, [], []

    async def cut_late(*arguments: object, **options: object) -> int | None:
        before = pair.room.cursor.index
        pauses.append(pause_shortly(pair.room))
        for _ in range(10):
            await pair.rooms.log.now_ms()
        waited.append(pair.room.cursor.index == before)
        return await cut(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(pair.rooms.log, "cut", cut_late)
    while not waited:
        await pair.leave_and_join()
    await soon(lambda: paused_until_ms(pair.room) == pauses[-1].end_ms, "the room has decided, once the log is cut")
    assert (waited, pair.room.cursor.start > 1) == ([True], True)


async def test_a_room_whose_log_cannot_be_cut_goes_on(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = 0

    async def refuse(*_: object, **__: object) -> None:
        nonlocal calls
        calls += 1
        raise ResponseError("OOM command not allowed")

    monkeypatch.setattr(pair.rooms.log, "cut", refuse)
    while calls < 3:
        await pair.leave_and_join()
    assert pair.room.cursor.start == 1
    for player in pair.players:
        pair.room.disconnect(player)
    await soon(lambda: pair.room.code not in pair.rooms.registry.rooms, "the room is dropped")


async def test_a_spectator_is_charged_for_the_log_that_is_read(pair: Pair) -> None:
    spectator = RecordingSubscriber("abcd1234-2", "watch")
    await pair.rooms.entrance.watch(pair.room.code, spectator)
    assert spectator.charged == pair.room.cursor.index


async def test_a_player_is_charged_for_the_log_and_the_record_that_are_read(pair: Pair) -> None:
    await pair.play_match()
    record, read = await pair.rooms.find_record(pair.room.code, None)
    assert isinstance(record, MatchRecord)
    assert read == pair.room.cursor.length + len(record.lines)


async def test_a_room_whose_log_was_cut_is_as_old_as_before(pair: Pair) -> None:
    log, code = pair.rooms.log, pair.room.code
    created_ms = await log.created_ms([code])
    await play_matches(pair, MATCHES)
    assert (await log.read(code))[0].index > 1
    assert await log.created_ms([code]) == created_ms
