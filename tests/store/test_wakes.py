"""Wake-ups between processes, over real pub/sub."""

import asyncio

from redis.asyncio import Redis

from server.room.events import RoomClosed
from server.store.client import connect
from server.store.log import Answer, Append, Log, Tail
from server.store.wakes import Wakes
from tests.faulty_link import faulty_link
from tests.processes import redis_process
from tests.talker import PATIENCE_SECONDS, until

ROOM = "one-small-room"


class Writer:
    """Another process, which appends to the room."""

    def __init__(self, redis: Redis) -> None:
        self.log = Log(redis)
        self.index, self.tag = 0, ""

    async def append(self) -> None:
        answered = asyncio.Event()

        def done(answer: Answer, _: int) -> None:
            assert answer is Answer.APPENDED
            answered.set()

        tag = f"{self.index:08x}"
        self.log.append(Append(ROOM, self.index, self.tag, tag, [RoomClosed()], done, is_shared=True))
        await answered.wait()
        self.index, self.tag = self.index + 1, tag


async def test_a_subscription_that_went_deaf_is_replaced() -> None:
    heard: list[tuple[str, Tail]] = []
    with redis_process() as process:
        async with faulty_link(process.socket) as link:
            redis, listening = connect(process.url), connect(link.url, timeout_seconds=None)
            writer, wakes = Writer(redis), Wakes(listening, lambda room, tail: heard.append((room, tail)))
            wakes.follow(ROOM)
            listener = asyncio.create_task(wakes.run())

            async def is_heard(since: int) -> bool:
                await writer.append()
                return any(tail.entries[0].index > since for _, tail in heard)

            async with writer.log.sending(), asyncio.timeout(PATIENCE_SECONDS):
                await until(lambda: is_heard(0))
                link.half_open()
                died_at = writer.index
                await until(lambda: is_heard(died_at))
            listener.cancel()
            await asyncio.gather(listener, return_exceptions=True)
            await redis.aclose()
            await listening.aclose()
    assert {room for room, _ in heard} == {ROOM}


async def test_a_subscription_that_is_cut_while_rooms_come_and_go_is_replaced() -> None:
    heard: list[str] = []
    with redis_process() as process:
        redis, listening = connect(process.url), connect(process.url, timeout_seconds=None)
        writer, wakes = Writer(redis), Wakes(listening, lambda room, _: heard.append(room))
        listener = asyncio.create_task(wakes.run())
        for number in range(300):
            wakes.follow(f"room-{number}")
            await redis.client_kill_filter(_type="pubsub")
            wakes.unfollow(f"room-{number - 1}")
        wakes.follow(ROOM)

        async def is_heard() -> bool:
            assert not listener.done()
            await writer.append()
            return ROOM in heard

        async with writer.log.sending():
            await until(is_heard)
        listener.cancel()
        await asyncio.gather(listener, return_exceptions=True)
        await redis.aclose()
        await listening.aclose()
