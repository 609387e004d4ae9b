"""A crowd that queues, leaves, drops and comes back, while processes are killed: each who stays gets a race."""

import pytest

from fairest_server.store import keys
from fairest_server.store.redis.batching_client import BatchingRedis
from tests.support.processes import Fleet
from tests.support.queue_crowd import run_crowd, seats_elsewhere
from tests.support.waiting import until


@pytest.mark.long
@pytest.mark.timeout(400)
@pytest.mark.parametrize("seed", [1, 2])
async def test_everybody_who_stays_has_one_opponent_although_processes_are_killed(
    fleet: Fleet, redis: BatchingRedis, seed: int
) -> None:
    crowd = await run_crowd(fleet, players=60, processes=3, kills=2, seed=seed)
    rooms = [room for room, _ in crowd.seated.values()]
    assert len(rooms) == 60
    assert all(rooms.count(room) == 2 for room in rooms), "each room has two players"
    assert all(f"crowd-{number}" in names for number, (_, names) in crowd.seated.items())
    assert all(len(names) == 2 for _, names in crowd.seated.values()), "nobody races himself"

    async def is_empty() -> bool:
        return await redis.hlen(keys.TICKETS) == 0

    async def has_no_second_seat() -> bool:
        return not await seats_elsewhere(redis, crowd)

    await until(is_empty, "the queue is empty")
    await until(has_no_second_seat, "nobody is connected in a second seat")
