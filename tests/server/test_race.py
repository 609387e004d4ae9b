"""Whole races over real sockets, on one server process and on two, compared with the log that they leave."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from redis.asyncio import Redis

from fairest_cli.bots.policies import choose_greedy
from fairest_protocol.calculation import rules as calculation_rules
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.calculation.record_parser import read_record
from fairest_protocol.calculation.rules import VARIANTS
from fairest_protocol.messages.entries import Moved
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_client import Create, GetRecord, Join, Leave, Play, Rematch, Watch
from fairest_protocol.messages.from_server import Left, MatchRecord, Placed, View
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.messages.scene import Scene
from fairest_server.app import running
from fairest_server.room.events import Played
from fairest_server.settings import Settings
from fairest_server.store import keys
from fairest_server.store.log import Log
from fairest_server.store.redis.clients import make_client
from tests.support.history import read_room, read_steps
from tests.support.long_tests import parametrize_with_long
from tests.support.processes import Fleet, serving_fleet
from tests.support.waiting import until
from tests.support.wire_client import QUICK, WireClient, open_client, racing_players


async def play_greedily(client: WireClient, chance: random.Random) -> Scene:
    """Play until the round is over; return the scene at the end."""
    seat = client.seat
    assert seat is not None
    while True:
        scene = client.scene
        assert scene is not None
        own = scene.seats[seat]
        if scene.phase is Phase.FINISHED:
            return scene
        if own.has_stopped or own.board is None or not any(own.board.legal_moves()):
            await client.receive()
        else:
            await client.play(choose_greedy(own.board, chance).text)


async def watch_to_the_end(spectator: WireClient) -> Scene:
    return await spectator.receive_until(lambda scene: scene.phase is Phase.FINISHED)


@pytest.fixture
async def two_urls(settings_for_tests: Settings) -> AsyncIterator[tuple[str, str]]:
    """Two servers over one Redis."""
    async with running(settings_for_tests) as first, running(settings_for_tests) as second:
        yield first, second


async def race_and_compare(urls: tuple[str, str], watch_url: str, redis_url: str, options: RoomOptions = QUICK) -> None:
    """Race to the end with a spectator; assert that the log, the three scenes and the record agree."""
    chance = random.Random(5)
    async with racing_players(*urls, options=options) as (first, second), open_client(watch_url) as spectator:
        await spectator.enter(Watch(room=first.room))
        scenes = await asyncio.gather(
            play_greedily(first, chance), play_greedily(second, chance), watch_to_the_end(spectator)
        )
        await second.send(GetRecord())
        record = read_record((await second.receive_a(MatchRecord)).lines)
        steps = await read_steps(redis_url, first.room)
        state, moves = steps[-1].after, sum(isinstance(step.event, Played) for step in steps)
    assert state.race is not None
    assert record.rounds[-1].outcome == state.race.outcome()
    boards = [racer.board for racer in state.race.racers]
    for scene in scenes:
        assert [seat.board for seat in scene.seats] == boards
        assert scene.outcome == state.race.outcome()
    assert moves == sum(racer.moves for racer in state.race.racers)


async def test_after_a_race_the_log_gives_exactly_the_boards_that_everybody_saw(
    server_url: str, redis_url: str
) -> None:
    await race_and_compare((server_url, server_url), server_url, redis_url)


@parametrize_with_long("name", [name for name in VARIANTS if name != "classic"], quick=3)
async def test_every_variant_is_raced_to_the_end(server_url: str, redis_url: str, name: str) -> None:
    options = QUICK.model_copy(update={"rules": name})
    await race_and_compare((server_url, server_url), server_url, redis_url, options)


async def test_a_new_variant_is_one_row_and_is_raced_like_the_others(
    server_url: str, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The row that docs/rules.md shows: ten lines, and no other code."""
    page = (Path(__file__).parents[2] / "docs" / "rules.md").read_text()
    source = page.split("```python\n")[1].split("```")[0]
    assert len(source.splitlines()) <= 10
    variant = eval(source, vars(calculation_rules))
    monkeypatch.setitem(VARIANTS, variant.rules.name, variant)
    assert (variant.rules.stock, variant.rules.piles, variant.rules.goal) == (52, 3, 52)
    options = QUICK.model_copy(update={"rules": variant.rules.name, "redeals": 1})
    await race_and_compare((server_url, server_url), server_url, redis_url, options)


@pytest.fixture
async def two_processes(fleet: Fleet) -> tuple[str, str]:
    """Start two server processes on one Redis."""
    return await fleet.start(), await fleet.start()


@pytest.mark.long
async def test_a_race_between_two_processes_gives_the_boards_that_everybody_saw(
    two_processes: tuple[str, str], redis_url: str
) -> None:
    await race_and_compare(two_processes, two_processes[1], redis_url)


@pytest.mark.long
async def test_a_race_between_two_servers_gives_the_boards_that_everybody_saw(
    two_urls: tuple[str, str], redis_url: str
) -> None:
    await race_and_compare(two_urls, two_urls[0], redis_url)


async def test_the_events_of_a_log_have_indices_without_gaps(server_url: str, redis_url: str) -> None:
    async with racing_players(server_url) as (first, second):
        await first.play("sa")
        await second.play("sb")
        redis = make_client(redis_url)
        entries = await Log(redis).read(first.room)
        await redis.aclose()
    assert [entry.index for entry in entries] == list(range(1, len(entries) + 1))


async def test_both_players_get_the_same_cards(server_url: str) -> None:
    async with racing_players(server_url) as (first, second):
        for _ in range(10):
            assert first.scene is not None
            assert second.scene is not None
            ours, theirs = first.scene.seats[0].board, second.scene.seats[1].board
            assert ours is not None
            assert theirs is not None
            assert ours.turned == theirs.turned
            await asyncio.gather(first.play("sa"), second.play("sd"))


async def test_a_late_spectator_sees_the_boards_up_to_the_horizon(server_url: str) -> None:
    async with racing_players(server_url) as (first, second), open_client(server_url) as spectator:
        for _ in range(5):
            await first.play("sa")
        await second.play("sb")
        snapshot = await spectator.enter(Watch(room=first.room))
        assert [seat.moves for seat in snapshot.scene.seats] == [1, 1]


async def test_a_spectator_right_behind_another_is_shown_the_moves_made_in_between(server_url: str) -> None:
    """One reading of the log serves both if they come within a moment; the moves in between must not be missing."""
    async with (
        racing_players(server_url) as (first, second),
        open_client(server_url) as early,
        open_client(server_url) as late,
    ):
        await early.enter(Watch(room=first.room))
        for move in ("sa", "sb", "sa"):
            await first.play(move)
            await second.play(move)
        scene = (await late.enter(Watch(room=first.room))).scene
        assert await early.receive_until(lambda seen: seen.seats[0].moves == 3 and seen.seats[1].moves == 3) == scene


async def test_beyond_the_horizon_only_the_count_of_placed_cards_is_sent(server_url: str) -> None:
    async with racing_players(server_url) as (first, second):
        await first.play("sa")
        assert await second.receive_a(Placed) == Placed(placed=(4, 4))


async def test_the_record_replays_to_the_result(server_url: str) -> None:
    chance = random.Random(6)
    async with racing_players(server_url) as (first, second):
        scenes = await asyncio.gather(play_greedily(first, chance), play_greedily(second, chance))
        await first.send(GetRecord())
        record = read_record((await first.receive_a(MatchRecord)).lines)
    assert record.rounds[-1].outcome == scenes[0].outcome


async def test_the_finished_match_is_stored_where_it_outlives_the_room(server_url: str, redis_url: str) -> None:
    async with racing_players(server_url) as (first, second):
        await first.play("resign")
        await second.receive_until(lambda scene: scene.phase is Phase.FINISHED)
        await second.send(GetRecord())
        match = (await second.receive_a(MatchRecord)).match
        redis = make_client(redis_url)
        await until(lambda: redis.exists(keys.record(match)), "the record of the match is stored")
        assert await redis.ttl(keys.record(match)) > 0
        await redis.aclose()


async def test_a_match_has_the_number_of_its_room_so_that_its_record_lies_beside_the_log(server_url: str) -> None:
    async with racing_players(server_url) as (first, second):
        await first.play("resign")
        await second.receive_until(lambda scene: scene.phase is Phase.FINISHED)
        await second.send(GetRecord())
        record = await second.receive_a(MatchRecord)
    assert int(record.match[-1], 16) == keys.bucket(first.room)


async def test_a_rematch_keeps_the_room_and_its_spectators(server_url: str) -> None:
    async with racing_players(server_url) as (first, second), open_client(server_url) as spectator:
        await spectator.enter(Watch(room=first.room))
        await first.play("resign")
        await first.send(Rematch())
        await second.send(Rematch())
        await asyncio.gather(first.take_part_in_deal(), second.take_part_in_deal())
        again = await spectator.receive_until(lambda scene: scene.phase is Phase.RACING and scene.outcome is None)
        assert again.round_number == 1


async def test_the_next_round_of_a_match_comes_by_itself(server_url: str) -> None:
    options = QUICK.model_copy(update={"best_of": 3})
    async with racing_players(server_url, options=options) as (first, second):
        await first.play("resign")
        await asyncio.gather(first.take_part_in_deal(), second.take_part_in_deal())
        assert first.scene is not None
        assert first.scene.round_number == 2
        assert [seat.wins for seat in first.scene.seats] == [0, 1]


async def test_a_player_who_leaves_gets_an_answer_and_may_join_again(server_url: str) -> None:
    async with open_client(server_url) as client:
        room = (await client.enter(Create(options=QUICK))).room
        await client.send(Leave())
        await client.receive_a(Left)
        assert (await client.enter(Join(room=room))).seat == 0


async def test_a_deadline_expires_without_a_request(server_url: str) -> None:
    options = RoomOptions(countdown_seconds=0, reveal_seconds=1)
    async with open_client(server_url) as first, open_client(server_url) as second:
        room = (await first.enter(Create(options=options))).room
        await second.enter(Join(room=room))
        for client in (first, second):
            await client.get_ready_without_revealing()
        over = await first.receive_until(lambda scene: scene.phase is Phase.FINISHED)
        assert over.outcome is not None
        assert [score.ending for score in over.outcome.scores] == ["not_revealed", "not_revealed"]


async def test_a_room_that_its_server_forgot_is_taken_up_by_another(two_urls: tuple[str, str], redis_url: str) -> None:
    """Both players leave; the sweep of any live process ends their race when the grace period is over."""
    options = RoomOptions(countdown_seconds=0, grace_seconds=1)
    async with racing_players(two_urls[0], options=options) as (first, _):
        room = first.room

    async def is_waiting() -> None:
        assert (await read_room(redis_url, room)).phase is Phase.WAITING

    await until(is_waiting, "the room is waiting again")


async def test_keys_of_a_room_live_under_one_hash_tag(server_url: str, redis_url: str) -> None:
    async with racing_players(server_url) as (first, _):
        redis: Redis = make_client(redis_url)
        tag = f"{{{keys.bucket(first.room)}}}"
        found = [key.decode() async for key in redis.scan_iter() if first.room.encode() in key]
        await redis.aclose()
    assert found
    assert all(tag in key for key in found)


@pytest.mark.long
async def test_two_moves_that_are_sent_while_the_server_is_busy_are_one_append(redis_url: str) -> None:
    async with serving_fleet(redis_url) as fleet:
        url = await fleet.start()
        async with racing_players(url) as (first, second):
            await send_two_moves_to_a_frozen_server(
                first, second, freeze=lambda: fleet.freeze(url), thaw=lambda: fleet.thaw(url)
            )
            await first.receive_a(View)
            one, other = (await read_steps(redis_url, first.room))[-2:]
    assert one.tag == other.tag


@pytest.mark.long
async def test_two_moves_that_are_sent_while_the_server_is_busy_are_one_frame_for_each_player(redis_url: str) -> None:
    async with serving_fleet(redis_url) as fleet:
        url = await fleet.start()
        async with racing_players(url) as players:
            await send_two_moves_to_a_frozen_server(
                *players, freeze=lambda: fleet.freeze(url), thaw=lambda: fleet.thaw(url)
            )
            views = [await player.receive_a(View) for player in players]
    moved = [[entry.seat for entry in view.entries if isinstance(entry, Moved)] for view in views]
    assert [sorted(seats) for seats in moved] == [[0, 1], [0, 1]]


async def send_two_moves_to_a_frozen_server(
    first: WireClient, second: WireClient, freeze: Callable[[], None], thaw: Callable[[], None]
) -> None:
    """Let both players send a move while the server is frozen, so that it reads both when it is thawed."""
    freeze()
    for player in (first, second):
        await player.send(Play(number=1, move=MOVES["sa"]))
    thaw()


@pytest.mark.parametrize("place", [0, 1])
async def test_a_room_code_in_use_is_not_given_to_another_room(
    two_urls: tuple[str, str], place: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The room with this code may be open in this process or in another one."""
    async with open_client(two_urls[0]) as first, open_client(two_urls[place]) as second:
        taken = (await first.enter(Create(options=QUICK))).room
        drawn = iter([taken, "free-amber-otter"])
        monkeypatch.setattr("fairest_server.live.room_codes.draw_code", lambda: next(drawn))
        assert (await second.enter(Create(options=QUICK))).room == "free-amber-otter"
