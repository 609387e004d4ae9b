"""The queue for opponents: 500 players who queue, leave, drop and come back over three processes, two of them killed.

All of them run in this one process, on the machine of the servers. The wait is from a player's last `queue` to the
opponent in the other seat.
"""

import asyncio
import statistics
import sys
from collections import Counter

from benchmarks.figure import Figure, written_down
from fairest_server.store import keys
from fairest_server.store.redis.clients import make_client
from tests.support.processes import redis_process, serving_fleet
from tests.support.queue_crowd import run_crowd, seats_elsewhere
from tests.support.waiting import until

PLAYERS = 500
PROCESSES = 3
KILLS = 2
SEED = 32


def measure_race_queue() -> list[Figure]:
    """Waits in the queue, and whether everybody who stayed has exactly one opponent."""
    return asyncio.run(_measure())


async def _measure() -> list[Figure]:
    with redis_process() as redis:
        async with serving_fleet(redis.url) as fleet:
            crowd = await run_crowd(fleet, players=PLAYERS, processes=PROCESSES, kills=KILLS, seed=SEED)

            async def is_empty() -> bool:
                return redis.call("HLEN", keys.TICKETS) == 0

            await until(is_empty, "the queue is empty")
            client = make_client(redis.url)

            async def has_no_second_seat() -> bool:
                return not await seats_elsewhere(client, crowd)

            await until(has_no_second_seat, "nobody is connected in a second seat")
            await client.aclose()
    print(f"  {dict(crowd.happened)}", file=sys.stderr)
    rooms = Counter(room for room, _ in crowd.seated.values())
    names = [names for _, names in crowd.seated.values()]
    unmatched = PLAYERS - len(crowd.seated)
    wrong = sum(count != 2 for count in rooms.values()) + sum(len(pair) != 2 for pair in names)
    waits = sorted(crowd.waited_seconds)
    return [
        written_down("queue_wait_median_s", statistics.median(waits), "s"),
        written_down("queue_wait_p95_s", waits[len(waits) * 95 // 100], "s"),
        Figure("queue_unmatched", unmatched, "players", "0", unmatched == 0),
        Figure("queue_wrong_rooms", wrong, "rooms", "0", wrong == 0),
    ]
