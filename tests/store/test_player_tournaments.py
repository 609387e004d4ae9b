"""The tournaments of a player, which its client finds again after it has lost their codes."""

import pytest
from redis.asyncio import Redis

from fairest_server.store import keys, tournament_keys
from fairest_server.store.player_tournaments import PlayerTournaments


@pytest.fixture
def entered(redis: Redis) -> PlayerTournaments:
    return PlayerTournaments(redis)


async def enter_active(entered: PlayerTournaments, redis: Redis, *codes: str) -> None:
    """Let ann enter tournaments that are not over."""
    for code in codes:
        await redis.zadd(tournament_keys.ACTIVE, {code: 1})
        await entered.remember("ann", code)


async def test_a_player_without_tournaments_has_none(entered: PlayerTournaments) -> None:
    assert list(await entered.active("ann")) == []


async def test_the_newest_tournament_comes_first_and_once(entered: PlayerTournaments, redis: Redis) -> None:
    await enter_active(entered, redis, "a-b", "c-d", "a-b")
    assert await entered.active("ann") == ["a-b", "c-d"]


async def test_a_tournament_that_is_over_is_not_among_them(entered: PlayerTournaments, redis: Redis) -> None:
    await enter_active(entered, redis, "a-b", "c-d")
    await redis.zrem(tournament_keys.ACTIVE, "c-d")
    assert await entered.active("ann") == ["a-b"]


async def test_a_tournament_that_was_left_is_not_among_them(entered: PlayerTournaments, redis: Redis) -> None:
    await enter_active(entered, redis, "a-b", "c-d")
    await entered.forget("ann", "c-d")
    assert await entered.active("ann") == ["a-b"]


async def test_the_tournaments_of_another_player_are_not_among_them(entered: PlayerTournaments, redis: Redis) -> None:
    await enter_active(entered, redis, "a-b")
    assert list(await entered.active("bob")) == []


async def test_only_the_newest_are_kept_and_for_a_time(entered: PlayerTournaments, redis: Redis) -> None:
    await enter_active(entered, redis, *(f"cup-{number:03}" for number in range(tournament_keys.ENTERED_KEPT + 1)))
    assert "cup-000" not in await entered.active("ann")
    assert 0 < await redis.ttl(tournament_keys.entered("ann")) <= keys.RECORD_SECONDS
