"""Matches that are over become records, however many end at the same moment."""

import asyncio
from typing import Any

from redis.asyncio import Redis

from protocol.calculation.record import Record
from server.publisher import AT_ONCE, Publisher
from server.store import keys
from server.store.archive import Archive
from server.store.entries import format_event
from server.store.log import Log
from tests.races import KEY, raced

ROOMS = [f"room-{number}" for number in range(5 * AT_ONCE)]


async def test_of_all_races_that_end_at_the_same_moment_a_few_are_in_memory(redis: Redis) -> None:
    steps = raced(1).steps
    pipeline = redis.pipeline(transaction=False)
    for room in ROOMS:
        for number, step in enumerate(steps, start=1):
            fields: dict[Any, Any] = {"g": step.tag, "t": step.at_ms, "e": format_event(step.event)}
            pipeline.xadd(keys.log(room), fields, id=f"{number}-0")
    await pipeline.execute()
    read, stored, most = 0, 0, 0

    def sign(record: Record) -> Record:
        nonlocal read, most
        read += 1
        most = max(most, read - stored)
        return KEY.sign(record)

    publisher = Publisher(Log(redis), Archive(redis), sign, asyncio.Event())

    async def publish(room: str) -> None:
        nonlocal stored
        await publisher.publish(room)
        stored += 1

    async with asyncio.timeout(20):
        await asyncio.gather(*map(publish, ROOMS))
    assert stored == len(ROOMS)
    assert 1 < most <= AT_ONCE
