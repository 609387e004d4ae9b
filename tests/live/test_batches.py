"""Two processes have a room open, and both decide about it at the same moment."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import pytest
from redis.asyncio import Redis

from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.messages.from_client import Play
from fairest_server.app import running
from fairest_server.live.registry import RoomRegistry
from fairest_server.membership.sweeper import Sweeper
from fairest_server.room.events import Event, Played
from fairest_server.room.steps import LogSlice
from fairest_server.settings import Settings
from fairest_server.store import keys
from fairest_server.store.append_queue import AppendQueue
from fairest_server.store.log import Log
from fairest_server.store.log_entries import format_event
from fairest_server.store.redis.clients import make_client
from tests.support.waiting import until
from tests.support.wire_client import WireClient, racing_players

FIRST, SECOND = Played(seat=0, move=MOVES["sa"]), Played(seat=1, move=MOVES["sa"])


class Observed:
    """The wake-ups and reads of two processes that have a room open."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._patch = monkeypatch
        self._heard: list[Event] = []
        self.rooms_read: list[str] = []
        self.is_held = asyncio.Event()
        self.may_go = asyncio.Event()
        self.compare_ends = Sweeper.compare_ends
        hear, read = RoomRegistry._on_wakeup, Log.read

        def heard(host: RoomRegistry, code: str, tail: LogSlice) -> None:
            self._heard += [logged.event for logged in tail.entries]
            hear(host, code, tail)

        async def reading(log: Log, room: str, after: int = 0) -> Any:
            self.rooms_read.append(room)
            return await read(log, room, after)

        monkeypatch.setattr(RoomRegistry, "_on_wakeup", heard)
        monkeypatch.setattr(Log, "read", reading)

    def begin(self) -> None:
        """From now on the ends of logs are not compared, which would help a room that missed something."""

        async def compare(_: Sweeper) -> None:
            pass

        self._patch.setattr(Sweeper, "compare_ends", compare)
        self.rooms_read.clear()

    def hold_first_move(self, *, on_its_way_back: bool) -> None:
        """Let the batch with the first player's move wait on its way to Redis, or its replies on their way back."""
        step = "_on_replies" if on_its_way_back else "_try_send"
        go_on: Callable[..., bool | None] = getattr(AppendQueue, step)

        def hold(queue: AppendQueue, *replies: Any) -> bool | None:
            if self.is_held.is_set() or not any(format_event(FIRST) in append.words[1] for _, append in queue._batch):
                return go_on(queue, *replies)
            self.is_held.set()
            self._held = asyncio.create_task(go_on_later(queue, *replies))
            return True

        async def go_on_later(queue: AppendQueue, *replies: Any) -> None:
            await self.may_go.wait()
            assert go_on(queue, *replies) is not False, "the connection is still there"

        self._patch.setattr(AppendQueue, step, hold)

    async def both_have_heard(self, event: Event) -> None:
        """Wait until this came over the wake-ups of both processes."""

        async def have_heard() -> bool:
            return self._heard.count(event) == 2

        await until(have_heard, "both processes have heard of the append")


@pytest.fixture
def observed(monkeypatch: pytest.MonkeyPatch) -> Observed:
    return Observed(monkeypatch)


@pytest.fixture
async def players(
    settings_for_tests: Settings, redis_url: str, observed: Observed
) -> AsyncIterator[tuple[WireClient, WireClient]]:
    """Each at a process of its own, when both processes hear of what the other one appends."""
    async with (
        running(settings_for_tests) as url,
        running(settings_for_tests) as other_url,
        racing_players(url, other_url) as (first, second),
    ):
        redis: Redis = make_client(redis_url)

        async def both_listen() -> bool:
            [(_, listeners)] = await redis.pubsub_numsub(keys.log(first.room))
            return bool(listeners == 2)

        await until(both_listen, "both processes listen")
        await redis.aclose()
        observed.begin()
        yield first, second


async def move_at_once(observed: Observed, first: WireClient, second: WireClient, *, on_its_way_back: bool) -> None:
    """The first one moves, and while its append is held the second one does."""
    observed.hold_first_move(on_its_way_back=on_its_way_back)
    await first.send(Play(number=1, move=MOVES["sa"]))
    await observed.is_held.wait()
    await second.play("sa")
    await observed.both_have_heard(SECOND)
    observed.may_go.set()


async def test_a_move_that_follows_ours_before_we_hear_of_ours_is_shown_all_the_same(
    observed: Observed, players: tuple[WireClient, WireClient]
) -> None:
    """It used to be overheard, and shown when the ends of the logs were compared, within a second."""
    await move_at_once(observed, *players, on_its_way_back=True)
    await players[0].receive_until(lambda scene: scene.seats[1].moves == 1)


async def test_a_move_that_comes_second_is_made_without_reading_the_log(
    observed: Observed, players: tuple[WireClient, WireClient]
) -> None:
    await move_at_once(observed, *players, on_its_way_back=False)
    await players[0].receive_until(lambda scene: scene.seats[0].moves == 1)
    assert observed.rooms_read == []


async def test_moves_made_at_once_are_shown_to_both(observed: Observed, players: tuple[WireClient, WireClient]) -> None:
    await move_at_once(observed, *players, on_its_way_back=False)
    for player in players:
        await player.receive_until(lambda scene: [seat.moves for seat in scene.seats] == [1, 1])


@pytest.mark.long
async def test_a_room_that_goes_on_while_the_ends_are_compared_is_not_read(
    observed: Observed, players: tuple[WireClient, WireClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = 0
    last_positions = Log.last_positions

    async def ask_and_wait(log: Log, rooms: Sequence[str]) -> Any:
        nonlocal asked
        ends = await last_positions(log, rooms)
        asked += 1
        await observed.may_go.wait()
        return ends

    async def both_have_asked() -> bool:
        return asked >= 2

    async def both_have_asked_again() -> bool:
        return asked >= 4

    monkeypatch.setattr(Log, "last_positions", ask_and_wait)
    monkeypatch.setattr(Sweeper, "compare_ends", observed.compare_ends)
    await until(both_have_asked, "both processes have asked")
    await players[0].play("sa")
    await observed.both_have_heard(FIRST)
    observed.may_go.set()
    await until(both_have_asked_again, "both processes have asked again")
    assert observed.rooms_read == []
