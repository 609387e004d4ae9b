"""The way in of one connection: what two hundred clients can make due at once takes turns, one piece at a time."""

import asyncio
import time
from contextlib import suppress

import pytest
from websockets.frames import Opcode

from fairest_server.edge.frame_budget import FrameBudget
from fairest_server.edge.frame_stream import FrameStream
from fairest_server.edge.incoming import Disconnected, Incoming
from fairest_server.edge.keepalive import Keepalive
from fairest_server.edge.outbox import Outbox
from fairest_server.edge.turns import TURN_MESSAGES, Turns
from fairest_server.settings import Settings
from tests.support.raw_websocket import UPGRADE, frame

LONG_SECONDS = 60.0


class Pipe(asyncio.Transport):
    """A transport whose bytes go nowhere. It is never full, and never closes by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.is_read = True

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Nothing is ever unsent."""

    def write(self, data: object) -> None:
        """Forget the bytes."""

    def is_closing(self) -> bool:
        return False

    def pause_reading(self) -> None:
        self.is_read = False

    def resume_reading(self) -> None:
        self.is_read = True


def opened(turns: Turns) -> tuple[Incoming, Pipe]:
    """An open connection that shares `turns`, and its transport."""
    settings, stream, pipe = Settings(), FrameStream(4096), Pipe()
    incoming = Incoming(
        Outbox(pipe, stream, settings.max_unsent_bytes),
        stream,
        FrameBudget(settings, time.monotonic()),
        Keepalive(),
        turns,
    )
    request = stream.receive_request(UPGRADE)
    assert request is not None
    stream.accept(request)
    stream.take_output()
    incoming.begin()
    return incoming, pipe


async def receive_all(incoming: Incoming, received: list[str | bytes]) -> None:
    with suppress(Disconnected):
        while True:
            received.append(await incoming.recv())


def texts(count: int) -> bytes:
    return b"".join(frame(Opcode.TEXT, b"%d" % number) for number in range(count))


async def test_messages_of_many_connections_are_handed_over_a_few_in_a_turn_of_the_loop() -> None:
    turns, received = Turns(), list[str | bytes]()
    connections = [opened(turns)[0] for _ in range(20)]
    receiving = [asyncio.create_task(receive_all(each, received)) for each in connections]
    for each in connections:
        each.arrive(texts(10))
    most = before = 0
    while len(received) < 200:
        await asyncio.sleep(0)
        most, before = max(most, len(received) - before), len(received)
    assert most <= TURN_MESSAGES
    for task in receiving:
        task.cancel()


async def test_messages_are_received_in_order() -> None:
    incoming, _ = opened(Turns())
    incoming.arrive(texts(50))
    assert [await incoming.recv() for _ in range(50)] == [str(number) for number in range(50)]


async def test_no_message_is_handed_over_while_the_connection_is_held() -> None:
    incoming, _ = opened(Turns())
    incoming.hold(LONG_SECONDS)
    incoming.arrive(texts(1))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await incoming.recv()
    incoming.lose()


async def test_a_message_is_handed_over_when_the_hold_is_over() -> None:
    incoming, _ = opened(Turns())
    incoming.hold(0.01)
    incoming.arrive(texts(1))
    assert await incoming.recv() == "0"


async def test_messages_that_arrived_are_received_after_the_end_of_the_connection_even_if_it_was_held() -> None:
    incoming, _ = opened(Turns())
    incoming.arrive(texts(3))
    assert await incoming.recv() == "0"
    incoming.hold(LONG_SECONDS)
    incoming.lose()
    received: list[str | bytes] = []
    await receive_all(incoming, received)
    assert received == ["1", "2"]


async def test_a_receiver_that_was_cancelled_loses_no_message() -> None:
    incoming, _ = opened(Turns())
    receiving = asyncio.create_task(incoming.recv())
    await asyncio.sleep(0)
    incoming.arrive(texts(1))
    await asyncio.sleep(0)
    receiving.cancel()
    await asyncio.gather(receiving, return_exceptions=True)
    assert receiving.cancelled() and await incoming.recv() == "0"


async def test_a_connection_that_ends_wakes_its_receiver() -> None:
    incoming, _ = opened(Turns())
    receiving = asyncio.create_task(incoming.recv())
    await asyncio.sleep(0)
    incoming.lose()
    with pytest.raises(Disconnected):
        await receiving


async def test_the_receivers_of_many_connections_that_end_together_are_woken_a_few_in_a_turn_of_the_loop() -> None:
    turns = Turns()
    connections = [opened(turns)[0] for _ in range(20)]
    receiving = [asyncio.create_task(each.recv()) for each in connections]
    await asyncio.sleep(0)
    for each in connections:
        each.lose()
    most = before = 0
    while (done := sum(task.done() for task in receiving)) < 20:
        most, before = max(most, done - before), done
        await asyncio.sleep(0)
    assert most <= TURN_MESSAGES
    await asyncio.gather(*receiving, return_exceptions=True)
