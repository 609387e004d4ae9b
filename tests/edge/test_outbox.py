"""The frames of one connection: those of the library, while the transport is full and afterwards, and messages."""

import asyncio

import pytest
from websockets.frames import Opcode

from fairest_server.edge.frame_stream import FrameStream
from fairest_server.edge.outbox import Outbox
from tests.support.raw_websocket import UPGRADE, frame

MAX_UNSENT_BYTES = 4096
Written = list[bytes]


class Pipe(asyncio.Transport):
    """A transport that keeps what is written."""

    def __init__(self) -> None:
        super().__init__()
        self.written: Written = []
        self.unsent_bytes = 0
        self.is_aborted = False

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Nothing is ever unsent."""

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written.append(bytes(data))

    def get_write_buffer_size(self) -> int:
        return self.unsent_bytes

    def abort(self) -> None:
        self.is_aborted = True

    def is_closing(self) -> bool:
        return self.is_aborted


@pytest.fixture
def pipe() -> Pipe:
    return Pipe()


@pytest.fixture
def opened(pipe: Pipe) -> tuple[Outbox, FrameStream, Written]:
    """An open connection, and what is written to it from now on."""
    stream = FrameStream(4096)
    outbox = Outbox(pipe, stream, MAX_UNSENT_BYTES)
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


def test_a_message_is_one_whole_frame(opened: tuple[Outbox, FrameStream, Written]) -> None:
    outbox, _, written = opened
    outbox.send(b"{}")
    assert written == [b"\x81\x02{}"]


@pytest.mark.parametrize(("unsent_bytes", "is_cut_off"), [(MAX_UNSENT_BYTES, False), (MAX_UNSENT_BYTES + 1, True)])
def test_a_client_that_leaves_more_unread_than_it_may_is_cut_off(
    pipe: Pipe, opened: tuple[Outbox, FrameStream, Written], unsent_bytes: int, is_cut_off: bool
) -> None:
    outbox, _, written = opened
    pipe.unsent_bytes = unsent_bytes
    outbox.send(b"{}")
    assert (pipe.is_aborted, outbox.has_stalled, not written) == (is_cut_off,) * 3


def test_nothing_is_sent_on_a_connection_that_was_cut_off(
    pipe: Pipe, opened: tuple[Outbox, FrameStream, Written]
) -> None:
    outbox, _, written = opened
    pipe.abort()
    outbox.send(b"{}")
    assert written == []
