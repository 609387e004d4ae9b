"""The cost of a race for Redis: commands for a move, and bytes of a round in its room's log."""

import asyncio

import redis as plain_redis

from benchmarks.figure import Figure, written_down
from benchmarks.under_load import UNLIMITED, Processes, loading
from tests.support.processes import redis_process, serving_fleet

ROOMS = 100
MOVES = 40
"""Of 48, so that only moves are counted: with the last one, races end and records are stored."""


def measure_redis_cost() -> list[Figure]:
    """Measure a hundred races of classic to their end."""
    scripts, calls, log_bytes = asyncio.run(_measure())
    return [
        Figure("redis_commands_per_move", scripts, "scripts", "1", holds=scripts <= 1.05),
        written_down("redis_calls_per_move", calls, "commands"),
        Figure("redis_bytes_per_round", log_bytes, "bytes", "<= 12288", holds=log_bytes <= 12 * 1024),
    ]


async def _measure() -> tuple[float, float, float]:
    with redis_process() as redis:
        async with serving_fleet(redis.url) as fleet:
            url = await fleet.start(*UNLIMITED)
            served = Processes((fleet.processes[url].pid,), redis.pid, int(url.rsplit(":", 1)[1]))
            async with loading("race", served, ROOMS) as load:
                with plain_redis.Redis.from_url(redis.url, protocol=2) as client:
                    before = _calls(client)
                    cost = await load.move(MOVES)
                    scripts, calls = (
                        (after - old) / cost.messages for after, old in zip(_calls(client), before, strict=True)
                    )
                    await load.move()
                    logs = list(client.scan_iter("fairest:*:log:*"))
                    log_bytes = sum(client.memory_usage(log, samples=0) or 0 for log in logs) / len(logs)
    return scripts, calls, log_bytes


def _calls(client: plain_redis.Redis) -> tuple[int, int]:
    """Return the number of scripts so far, and that of all commands, including those that scripts called."""
    calls = {name.removeprefix("cmdstat_"): int(each["calls"]) for name, each in client.info("commandstats").items()}
    return calls["evalsha"], sum(calls.values())
