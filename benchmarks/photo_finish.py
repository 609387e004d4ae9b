"""Two players on two processes, each one move before the end, finish at the same time: there must be one winner.

A spectator watches on a third process. The log, the views of all three and their results are compared each time.
"""

import asyncio
import statistics
import sys

from benchmarks.figure import Figure
from fairest_server.store.redis.clients import make_client
from tests.support.photo_finish import Finish, find_won_race, race_to_the_line, room_code
from tests.support.processes import redis_process, serving_fleet

RACES = 1_000


def measure_photo_finish() -> list[Figure]:
    """The races in which all viewers saw the same winner, the share of each seat, the time between the two frames."""
    finishes = asyncio.run(_measure())
    agreed = sum(not finish.problems and finish.winner is not None for finish in finishes)
    first = sum(finish.winner == 0 for finish in finishes) / len(finishes)
    same = sum(finish.apart_ms < 1 for finish in finishes)
    apart = statistics.median(finish.apart_ms for finish in finishes)
    return [
        Figure("photo_finish_agreed", agreed, "races", f"{RACES}", holds=agreed == RACES),
        Figure("photo_finish_within_1_ms", same, "races", "(written down)", holds=True),
        Figure("photo_finish_apart_ms", apart, "ms", "(median)", holds=True),
        Figure("photo_finish_first_seat_won", 100 * first, "%", "(written down)", holds=True),
    ]


async def _measure() -> list[Finish]:
    seed, moves = find_won_race()
    finishes: list[Finish] = []
    with redis_process() as process:
        async with serving_fleet(process.url) as fleet, make_client(process.url) as redis:
            urls = await fleet.start(), await fleet.start(), await fleet.start()
            for number in range(RACES):
                finishes.append(await race_to_the_line(urls, redis, room_code(number), seed, moves))
                if finishes[-1].problems:
                    print(f"  {finishes[-1].problems}", file=sys.stderr)
                if number % 200 == 199:
                    print(f"  {number + 1} races ...", file=sys.stderr)
    return finishes
