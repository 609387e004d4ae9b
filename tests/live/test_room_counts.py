"""The gauges of players, spectators and races, and the time of a move, as a scrape of a real server finds them."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from fairest_protocol.messages.from_client import Create, Watch
from tests.support.observed import ObservedServer, observed_server
from tests.support.waiting import until
from tests.support.wire_client import QUICK, open_client, racing_players

GAUGES = ("fairest_players", "fairest_spectators", "fairest_races")


@pytest.fixture
async def server(redis_url: str, tmp_path: Path) -> AsyncIterator[ObservedServer]:
    async with observed_server(tmp_path / "log", "--redis-url", redis_url, "--admin-port", "0") as started:
        yield started


async def gauges(server: ObservedServer) -> tuple[float, ...]:
    """Return the numbers of players, of spectators and of races."""
    found = await server.scrape()
    return tuple(found[name] for name in GAUGES)


@pytest.mark.long
async def test_a_race_with_a_spectator_is_two_players_one_spectator_and_one_race(server: ObservedServer) -> None:
    async with racing_players(server.url) as (first, _), open_client(server.url) as spectator:
        await spectator.enter(Watch(room=first.room))
        assert await gauges(server) == (2, 1, 1)


@pytest.mark.long
async def test_a_room_without_a_race_counts_its_players_alone(server: ObservedServer) -> None:
    async with open_client(server.url) as host:
        await host.enter(Create(options=QUICK))
        assert await gauges(server) == (1, 0, 0)


@pytest.mark.long
async def test_nobody_counts_after_leaving(server: ObservedServer) -> None:
    async with open_client(server.url) as host:
        await host.enter(Create(options=QUICK))

    async def is_empty() -> bool:
        return await gauges(server) == (0, 0, 0)

    await until(is_empty, "no player is counted")


@pytest.mark.long
async def test_of_moves_in_quick_succession_not_all_are_timed(server: ObservedServer) -> None:
    async with racing_players(server.url) as (first, _):
        for _ in range(20):
            await first.play("sa")
        scraped = await server.scrape()
    assert 1 <= scraped["fairest_move_seconds_count"] < 20
    assert scraped["fairest_move_seconds_sum"] > 0
