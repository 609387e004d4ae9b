"""Ratings on real servers: once for each match whatever is killed when, and the same when computed again."""

import asyncio
import hashlib
import sys
from contextlib import AsyncExitStack
from itertools import product

import pytest

from fairest_protocol.messages.options import RoomOptions
from fairest_server.store import keys
from fairest_server.store.ratings import RatingStore
from fairest_server.store.records import RecordStore
from fairest_server.store.redis.batching_client import BatchingRedis
from tests.support.killed_at import POINTS
from tests.support.long_tests import parametrize_with_long
from tests.support.operator import operate
from tests.support.processes import Fleet, serving_fleet
from tests.support.tournaments import play_a_cup
from tests.support.waiting import until
from tests.support.wire_client import WireClient, racing_players

OPTIONS = RoomOptions(countdown_seconds=0, grace_seconds=30, listed=True)
RIGHT = "1 matches computed again for 2 ratings: no difference.\n"


def player_id(client: WireClient) -> str:
    return hashlib.sha256(client.token.encode()).hexdigest()


async def race_once(url: str, other: str) -> tuple[str, str]:
    """Play a match to its end, in which seat 0 resigns; return the ids of the players."""
    async with racing_players(url, other, OPTIONS) as (first, second):
        await asyncio.gather(first.play("resign"), second.receive_until(lambda seen: seen.outcome is not None))
        return player_id(first), player_id(second)


async def rated(redis: BatchingRedis, players: tuple[str, str], rounds: int) -> None:
    """Wait until no match waits any more, and both players have so many rated rounds."""
    store = RatingStore(redis)

    async def is_rated() -> None:
        assert [tally.rounds for tally in await store.read_tallies("classic", players)] == [rounds] * 2
        assert await store.waiting() == []

    await until(is_rated, f"both players have {rounds} rated rounds")


async def test_a_match_is_rated_within_seconds_of_its_end(server_url: str, redis: BatchingRedis) -> None:
    players = await race_once(server_url, server_url)
    await rated(redis, players, 1)
    loser, winner = await RatingStore(redis).read_tallies("classic", players)
    assert loser.mean < winner.mean and (loser.left, winner.wins) == (1, 1)


@pytest.mark.long
@parametrize_with_long(("point", "moment"), list(product(POINTS, ("before", "after"))), quick=0)
async def test_a_match_is_rated_once_although_its_process_is_killed(
    redis_url: str, redis: BatchingRedis, fleet: Fleet, point: str, moment: str
) -> None:
    command = (sys.executable, "-m", "tests.support.killed_at", point, moment)
    async with serving_fleet(redis_url, command) as doomed:
        url = await doomed.start()
        async with racing_players(url, url, OPTIONS) as (first, second):
            players = player_id(first), player_id(second)
            heir = await fleet.start()
            await asyncio.gather(first.play("resign"), second.receive_until(lambda seen: seen.outcome is not None))
            await doomed.wait_for_end(url)
    await rated(redis, players, 1)
    assert await redis.xlen(keys.RATED_RESULTS) == 1
    ran = await operate(redis_url, "recompute")
    assert (ran.code, ran.written) == (0, RIGHT)
    await fleet.end(heir)


@pytest.mark.long
async def test_matches_on_three_processes_that_are_killed_again_and_again_are_rated_once_each(
    redis_url: str, redis: BatchingRedis, fleet: Fleet
) -> None:
    urls = [await fleet.start() for _ in range(3)]
    matches = 12
    raced: list[tuple[str, str]] = []
    for number in range(matches):
        raced.append(await race_once(urls[number % 3], urls[(number + 1) % 3]))
        if number % 3 == 2:
            await fleet.kill(urls[number % 3])
            urls[number % 3] = await fleet.start()
    for players in raced:
        await rated(redis, players, 1)
    assert await redis.xlen(keys.RATED_RESULTS) == matches
    ran = await operate(redis_url, "recompute")
    assert ran.written == f"{matches} matches computed again for {2 * matches} ratings: no difference.\n"


@pytest.mark.long
async def test_recompute_names_a_rating_that_was_changed_by_hand(
    server_url: str, redis: BatchingRedis, redis_url: str
) -> None:
    players = await race_once(server_url, server_url)
    await rated(redis, players, 1)
    text = (await RatingStore(redis).read_before("classic", players)).texts[1]
    mean = (await RatingStore(redis).read_tallies("classic", players))[1].mean
    await redis.hset(keys.tallies(players[1]), "classic", text.replace(str(mean).encode(), b"2900000", 1))
    ran = await operate(redis_url, "recompute")
    assert ran.code == 1
    assert ran.errors == (f"differs: classic of player {players[1]}: mean is 2900000 and should be {mean}\n")
    assert ran.written == "1 matches computed again for 2 ratings: 1 differences.\n"


@pytest.mark.long
async def test_recompute_names_a_rated_match_whose_record_was_changed(
    server_url: str, redis: BatchingRedis, redis_url: str
) -> None:
    players = await race_once(server_url, server_url)
    await rated(redis, players, 1)
    [result] = await RatingStore(redis).results_after(0)
    text = await RecordStore(redis).read(result.match_id)
    assert text is not None
    await redis.set(keys.record(result.match_id), text.replace(b'"winner":1', b'"winner":0'))
    ran = await operate(redis_url, "recompute")
    assert ran.code == 1
    assert f"match {result.match_id} was rated, and its record does not prove itself" in ran.errors


@pytest.mark.long
async def test_a_tournament_changes_no_rating(server_url: str, redis: BatchingRedis, redis_url: str) -> None:
    async with AsyncExitStack() as stack:
        await play_a_cup(server_url, stack)
    # A match that ends later is rated after all that waited before it.
    players = await race_once(server_url, server_url)
    await rated(redis, players, 1)
    held = set(await redis.keys(keys.tallies("*")))
    assert held == {keys.tallies(player).encode() for player in players}
    assert (await operate(redis_url, "recompute")).written == RIGHT


@pytest.mark.long
async def test_recompute_without_any_rating_finds_no_difference(redis: BatchingRedis, redis_url: str) -> None:
    await redis.ping()
    ran = await operate(redis_url, "recompute")
    assert (ran.code, ran.written) == (0, "0 matches computed again for 0 ratings: no difference.\n")
