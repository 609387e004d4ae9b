"""The frames of one connection that the library sends, while the transport is full and afterwards."""

import asyncio

import pytest
from websockets.frames import Opcode

from fairest_server.edge.frame_stream import FrameStream
from fairest_server.edge.outbox import Outbox
from tests.support.raw_websocket import UPGRADE, frame

Written = list[bytes]


class Pipe(asyncio.Transport):
    """A transport that keeps what is written."""

    def __init__(self) -> None:
        super().__init__()
        self.written: Written = []

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Nothing is ever unsent."""

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written.append(bytes(data))

    def is_closing(self) -> bool:
        return False


@pytest.fixture
def opened() -> tuple[Outbox, FrameStream, Written]:
    """An open connection, and what is written to it from now on."""
    pipe, stream = Pipe(), FrameStream(4096)
    outbox = Outbox(pipe, stream, 4096)
    request = stream.receive_request(UPGRADE)
    assert request is not None
    stream.accept(request)
    outbox.flush()
    pipe.written.clear()
    return outbox, stream, pipe.written


def ping(outbox: Outbox, stream: FrameStream, payload: bytes) -> None:
    stream.receive(frame(Opcode.PING, payload))
    outbox.flush()


def test_a_ping_is_answered_at_once(opened: tuple[Outbox, FrameStream, Written]) -> None:
    outbox, stream, written = opened
    ping(outbox, stream, b"1")
    assert written == [b"\x8a\x011"]


def test_while_much_is_unsent_no_pong_is_written(opened: tuple[Outbox, FrameStream, Written]) -> None:
    outbox, stream, written = opened
    outbox.set_full(is_full=True)
    for number in range(100):
        ping(outbox, stream, b"%d" % number)
    assert written == []


def test_of_the_pongs_that_waited_only_the_newest_is_written(opened: tuple[Outbox, FrameStream, Written]) -> None:
    outbox, stream, written = opened
    outbox.set_full(is_full=True)
    for number in range(100):
        ping(outbox, stream, b"%d" % number)
    outbox.set_full(is_full=False)
    assert written == [b"\x8a\x0299"]


def test_a_pong_that_waited_is_written_once(opened: tuple[Outbox, FrameStream, Written]) -> None:
    outbox, stream, written = opened
    outbox.set_full(is_full=True)
    ping(outbox, stream, b"1")
    for is_full in (False, True, False):
        outbox.set_full(is_full=is_full)
    assert written == [b"\x8a\x011"]
