"""Steps of tournaments in the log and in the metrics: each once, however many processes take them."""

import asyncio
from collections.abc import Iterator

import pytest
from prometheus_client import REGISTRY
from structlog.testing import capture_logs
from structlog.typing import EventDict

from fairest_protocol.messages.tournaments import CreateTournament, Tournament
from fairest_protocol.value import replace
from fairest_server.ratings.match_result import DAY_MS
from fairest_server.store.players import Player
from fairest_server.store.redis.batching_client import BatchingRedis
from fairest_server.store.redis.clock import read_clock
from fairest_server.store.tournaments import Changed, TournamentStore
from fairest_server.tournament import requests
from fairest_server.tournament.milestones import Milestone
from tests.live.tournament_process import FOUR, Process, a_process, begin_races
from tests.tournament.cup import CODE, Cup, names


@pytest.fixture
def lines() -> Iterator[list[EventDict]]:
    """The lines of the log during a test."""
    with capture_logs() as captured:
        yield captured


def counted(step: Milestone) -> float:
    return REGISTRY.get_sample_value("fairest_tournaments_total", {"step": step}) or 0


async def create(process: Process) -> None:
    """Create a tournament of two players."""
    shown = await process.tournaments.create(CreateTournament(), "classic", CODE, Player("aa", "aa"))
    assert isinstance(shown, Tournament)
    await process.change(lambda found, _: requests.join(found, "bb", "bb"))


async def forget_a_tournament(redis: BatchingRedis) -> None:
    """Store a tournament that nobody has started for two days."""
    forgotten, now_ms = Cup(names("ab")).at, await read_clock(redis)
    forgotten = replace(forgotten, since_ms=now_ms - 2 * DAY_MS)
    assert await TournamentStore(redis).change(None, forgotten, now_ms + 60_000, ()) is Changed.MADE


async def look_at_once(redis: BatchingRedis) -> None:
    """Let three processes look at the same time for what is due: all read the tournament before one has written it."""
    processes = [await a_process(redis) for _ in range(3)]
    await asyncio.gather(*(each.tournaments.advance() for each in processes))


@pytest.mark.parametrize("step", list(Milestone))
def test_every_step_is_exposed_before_it_counts(step: Milestone) -> None:
    assert REGISTRY.get_sample_value("fairest_tournaments_total", {"step": step}) is not None


async def test_a_tournament_that_is_created_twice_is_logged_once(redis: BatchingRedis, lines: list[EventDict]) -> None:
    for _ in range(2):
        await create(await a_process(redis))
    assert lines == [
        {
            "event": "tournament_created",
            "log_level": "info",
            "tournament": CODE,
            "format": "swiss",
            "rules": "classic",
        }
    ]


async def test_a_start_is_logged_with_the_number_of_players(redis: BatchingRedis, lines: list[EventDict]) -> None:
    process = await a_process(redis)
    await create(process)
    await process.change(lambda found, now_ms: requests.start(found, "aa", now_ms))
    assert [(line["event"], line["players"]) for line in lines[1:]] == [("tournament_started", 2)]


async def test_a_round_is_logged_when_the_last_player_has_shown_its_entropy(
    redis: BatchingRedis, lines: list[EventDict]
) -> None:
    process = await a_process(redis)
    await create(process)
    await process.change(lambda found, now_ms: requests.start(found, "aa", now_ms))
    await process.get_ready_and_show(["aa", "bb"])
    assert [(line["event"], line["round"], line["racers"]) for line in lines[2:]] == [("tournament_round_begun", 1, 2)]


async def test_the_end_is_logged_with_the_number_of_rounds(redis: BatchingRedis, lines: list[EventDict]) -> None:
    await begin_races(redis)
    process = await a_process(redis)
    for player in FOUR:
        await process.play(player, 1, "stop")
    assert [(line["event"], line["how"], line["rounds"]) for line in lines] == [("tournament_ended", "over", 1)]


async def test_a_step_that_three_processes_take_at_once_is_logged_once(
    redis: BatchingRedis, lines: list[EventDict]
) -> None:
    await forget_a_tournament(redis)
    await look_at_once(redis)
    assert [(line["event"], line["how"]) for line in lines] == [("tournament_ended", "cancelled")]


async def test_a_step_that_three_processes_take_at_once_is_counted_once(redis: BatchingRedis) -> None:
    await forget_a_tournament(redis)
    before = counted(Milestone.CANCELLED)
    await look_at_once(redis)
    assert counted(Milestone.CANCELLED) == before + 1


async def test_a_move_is_not_logged(redis: BatchingRedis, lines: list[EventDict]) -> None:
    await begin_races(redis)
    await (await a_process(redis)).play("aa", 1, "sa")
    assert lines == []
