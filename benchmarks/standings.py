"""Leaderboard, player page, matchmaking and the rating of a match on a Redis with a million stored results."""

import asyncio
import random
import statistics
import sys
import time
from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final, cast

from benchmarks.figure import Figure, written_down
from benchmarks.under_load import UNLIMITED
from fairest_protocol.messages.ratings import PAGE_PLAYERS
from fairest_protocol.value import replace
from fairest_server.edge.race_queue import MAX_TICKETS
from fairest_server.live.pairing import choose_pairs
from fairest_server.ratings.match_result import DAY_MS, MatchResult, RoundResult, SeatResult
from fairest_server.ratings.tally import rate_match
from fairest_server.store import keys
from fairest_server.store.rating_views import RatingViews
from fairest_server.store.ratings import Kept, RatingStore
from fairest_server.store.redis.batching_client import BatchingRedis
from fairest_server.store.redis.clients import make_client
from fairest_server.store.tickets import Change, Ticket, Tickets
from tests.support.processes import redis_process, serving_fleet
from tests.support.raw_http import ask

PLAYERS: Final = 100_000
RESULTS: Final = 1_000_000
FILLED_AT_ONCE: Final = 2_000
REQUESTS: Final = 2_000
MATCHES: Final = 2_000
GOAL_MS: Final = 20.0
FILL: Final = (Path(__file__).parent / "fill_ratings.lua").read_text()
PLAIN: Final = SeatResult(won_ms=None, direct=30, is_near_miss=False, has_left=False)


def measure_standings() -> list[Figure]:
    """The 99th percentile of the time for each page, one request after the other, beside a page without Redis."""
    return asyncio.run(_measure())


async def _measure() -> list[Figure]:
    with redis_process("--save", "") as engine:
        async with make_client(engine.url) as redis, serving_fleet(engine.url) as fleet:
            day = await _fill(redis)
            url = await fleet.start(*UNLIMITED)
            chance = random.Random(1)

            def player() -> str:
                return f"player_{chance.randrange(PLAYERS):06}"

            paths: dict[str, Callable[[], str]] = {
                "control": lambda: "/livez",
                "leaderboard": lambda: f"/leaderboard?page={chance.randrange(PLAYERS // PAGE_PLAYERS)}",
                "player_page": lambda: f"/players/{player()}",
                "head_to_head": lambda: f"/players/{player()}?against={player()}",
            }
            figures = []
            for name, draw in paths.items():
                times = [await _time_request(url, draw()) for _ in range(REQUESTS)]
                figures += _figures(name, times, has_goal=name != "control")
            # A server removes the tickets of processes that are not alive, as those of this program are.
            await fleet.end(url)
            figures += await _measure_matchmaking(redis)
            return [*figures, *await _measure_rating(redis, day), *await _measure_memory(redis)]


async def _fill(redis: BatchingRedis) -> int:
    """Fill Redis with players and results; return the present day."""
    seconds, _ = await redis.time()
    day = int(seconds) * 1000 // DAY_MS
    for kind, first, count in (("players", 0, PLAYERS), ("results", 1, RESULTS)):
        for start in range(first, first + count, FILLED_AT_ONCE):
            last = min(start + FILLED_AT_ONCE, first + count) - 1
            await cast("Any", redis.eval(FILL, 0, str(start), str(last), str(PLAYERS), kind, str(day)))
            print(f"\r  {last} of {count} {kind}", end="", file=sys.stderr, flush=True)
        print(file=sys.stderr)
    assert await redis.xlen(keys.RATED_RESULTS) == RESULTS
    return day


async def _time_request(url: str, path: str) -> float:
    """Return the milliseconds from opening a connection to the whole answer."""
    since = time.perf_counter()
    answer = await ask(url, path)
    milliseconds = (time.perf_counter() - since) * 1000
    assert answer.status == HTTPStatus.OK, (path, answer)
    return milliseconds


async def _measure_matchmaking(redis: BatchingRedis) -> list[Figure]:
    """The time from a player's wish to race to its pair, in a queue that is as full as may be.

    All that a process asks of Redis and decides is in it: the rating, the last opponent, the ticket, the look at all
    tickets, the pairs of all players that wait, and the change of two tickets. The pause of at most a quarter of a
    second before a look is not, nor the way of the messages.
    """
    tickets, views, chance = Tickets(redis), RatingViews(redis, lambda _: False), random.Random(3)
    ids = [f"{number:064x}" for number in chance.sample(range(PLAYERS), MAX_TICKETS + REQUESTS)]

    async def ticket_of(player: str, since_ms: int) -> Ticket:
        rating, last = await views.points(player, "classic"), await tickets.last_opponent(player)
        return Ticket(player[-16:], player, "0" * 16, "classic", since_ms, rating, last)

    for player in ids[: MAX_TICKETS - 2]:
        await tickets.change([Change(player, None, await ticket_of(player, 1))])
    times = []
    for player in ids[MAX_TICKETS:]:
        since = time.perf_counter()
        # It has waited longest, so it chooses first.
        own = await ticket_of(player, 0)
        assert len(await tickets.read()) == MAX_TICKETS - 2
        await tickets.change([Change(player, None, own)])
        pairs = choose_pairs((await tickets.read()).values(), 1)
        [other] = [guest for host, guest in pairs if host == own]
        paired = [replace(own, partner=other.player_id, is_host=True), replace(other, partner=player)]
        changes = [Change(each.player_id, each.unpaired(), each) for each in paired]
        assert await tickets.change(changes)
        times.append((time.perf_counter() - since) * 1000)
        await tickets.change([Change(player, paired[0], None), Change(other.player_id, paired[1], other)])
    return _figures("matchmaking", times, has_goal=True)


async def _measure_rating(redis: BatchingRedis, day: int) -> list[Figure]:
    """The time from reading the tallies to the answer of the script, and the script's time in Redis."""
    store, chance, times = RatingStore(redis), random.Random(2), []
    await redis.config_resetstat()
    for number in range(MATCHES):
        one, two = chance.sample(range(PLAYERS), 2)
        players = (f"{one:064x}", f"{two:064x}")
        result = MatchResult("classic", day, (RoundResult(number % 2, (PLAIN, PLAIN)),))
        since = time.perf_counter()
        before = await store.read_before("classic", players)
        after = rate_match(before.tallies, result, is_swapped=players[1] < players[0])
        names = (f"player_{one:06}", f"player_{two:06}")
        assert await store.keep(f"new-{number}", players, names, result, before, after) is Kept.RATED
        times.append((time.perf_counter() - since) * 1000)
    stats = await redis.info("commandstats")
    script_us = float(stats["cmdstat_evalsha"]["usec_per_call"])
    return [*_figures("rate_match", times, has_goal=True), written_down("rate_match_script_us", script_us, "us")]


async def _measure_memory(redis: BatchingRedis) -> list[Figure]:
    """The bytes that ratings take: of an entry in the list of results, and of all keys together."""
    listed = await redis.memory_usage(keys.RATED_RESULTS, samples=0)
    memory = await redis.info("memory")
    return [
        written_down("result_bytes", (listed or 0) / RESULTS, "B"),
        written_down("all_ratings_mib", memory["used_memory"] / 2**20, "MiB"),
    ]


def _figures(name: str, times: list[float], *, has_goal: bool) -> list[Figure]:
    p99 = statistics.quantiles(times, n=100)[98]
    goal = f"<= {GOAL_MS:g}" if has_goal else "(control)"
    return [
        Figure(f"{name}_p99_ms", p99, "ms", goal, holds=not has_goal or p99 <= GOAL_MS),
        written_down(f"{name}_p50_ms", statistics.median(times), "ms"),
    ]
