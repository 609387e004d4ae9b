"""How often the process looks at the tickets; what it does with them is tested in `test_race_queue.py`."""

import asyncio
import time

from redis.asyncio import Redis

from fairest_server.edge.pair_maker import REST_SECONDS, PairMaker
from fairest_server.live.redis_clock import RedisClock
from fairest_server.live.slices import Slices
from fairest_server.store.processes import Processes
from fairest_server.store.tickets import Ticket, Tickets


class CountedTickets(Tickets):
    """Tickets that count how often all of them are read, and set an event after some reads."""

    def __init__(self, redis: Redis, expected: int) -> None:
        super().__init__(redis)
        self.reads = 0
        self.enough = asyncio.Event()
        self._expected = expected

    async def read(self) -> dict[str, Ticket]:
        self.reads += 1
        if self.reads == self._expected:
            self.enough.set()
        return await super().read()


async def test_players_who_queue_without_end_do_not_make_the_process_look_without_end(redis: Redis) -> None:
    tickets, stopping = CountedTickets(redis, expected=5), asyncio.Event()
    pair_maker = PairMaker(tickets, Processes(redis, redis, "here"), RedisClock(), Slices(), {}, lambda _: None)

    async def queue_without_end() -> None:
        while True:
            pair_maker.wanted.set()
            await asyncio.sleep(0)

    begun = time.monotonic()
    async with asyncio.TaskGroup() as tasks:
        queueing = tasks.create_task(queue_without_end())
        tasks.create_task(pair_maker.run(stopping))
        await tickets.enough.wait()
        assert time.monotonic() - begun >= 4 * REST_SECONDS * 0.9
        stopping.set()
        queueing.cancel()
