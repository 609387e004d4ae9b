"""Tasks for rooms: one that fails leaves the others alone, and none starts while a process shuts down."""

import asyncio
import inspect

from fairest_server.live.room_tasks import RoomTasks


async def test_work_that_is_started_is_done_before_the_end() -> None:
    done: list[str] = []

    async def work(code: str) -> None:
        await asyncio.sleep(0)
        done.append(code)

    tasks = RoomTasks()
    async with tasks.running():
        tasks.start(work("a-b"), "a-b")
        tasks.start(work("c-d"), "c-d")
    assert done == ["a-b", "c-d"]


async def test_work_that_fails_leaves_that_of_other_rooms_alone() -> None:
    done: list[str] = []

    async def fail() -> None:
        raise ValueError("a fault")

    async def work() -> None:
        await asyncio.sleep(0)
        done.append("c-d")

    tasks = RoomTasks()
    async with tasks.running():
        tasks.start(fail(), "a-b")
        tasks.start(work(), "c-d")
    assert done == ["c-d"]


async def test_work_for_a_process_that_shuts_down_is_closed() -> None:
    async def work() -> None:
        await asyncio.sleep(0)

    tasks, refused = RoomTasks(), work()
    async with tasks.running():
        pass
    tasks.start(refused, "a-b")
    assert inspect.getcoroutinestate(refused) == inspect.CORO_CLOSED
