"""The way in of one connection: bytes wait for a turn, are parsed and charged slice by slice, and become messages."""

import asyncio
import time
from typing import Final

from fairest_server.edge.frame_budget import FrameBudget
from fairest_server.edge.frame_stream import FrameStream
from fairest_server.edge.keepalive import Keepalive
from fairest_server.edge.message_queue import MessageQueue
from fairest_server.edge.outbox import Outbox
from fairest_server.edge.turns import Turns
from fairest_server.ops import metrics
from fairest_server.ops.faults import report
from fairest_server.ops.metrics import FrameKind, Part

SLICE_BYTES: Final = 256
"""Bytes that are parsed in one go: at most 42 frames, which take 0.15 ms."""
MAX_QUEUED: Final = 16
"""While so many messages wait for `recv`, nothing more is parsed, and the socket is not read."""
CUT_OFF_MESSAGES: Final = 2
"""The end of a session that is told why takes as long as this many messages."""
DISCARD_SECONDS: Final = 0.1
"""The time between two reads of a client that sends on after we have ended the connection."""


class Disconnected(Exception):
    """The connection has ended, and every message of it was received."""


class Flooded(Exception):
    """The client has exceeded its budget for too long, mostly by frames of `kind`; nothing more is read."""

    def __init__(self, kind: FrameKind) -> None:
        super().__init__(kind)
        self.kind = kind


class Incoming:
    """The messages of one client. The socket is not read while the budget is exceeded or too many messages wait.

    Parsing a slice, handing one message to the session, and reading on after a pause each take a turn: the pauses of
    two hundred clients may end in the same turn of the event loop.
    """

    __slots__ = (
        "_budget",
        "_is_closing",
        "_is_held",
        "_is_lost",
        "_is_reading",
        "_keepalive",
        "_outbox",
        "_pause",
        "_queue",
        "_stream",
        "_transport",
        "_turns",
        "_waiting",
        "is_clear",
        "is_flooded",
    )

    def __init__(
        self, outbox: Outbox, stream: FrameStream, budget: FrameBudget, keepalive: Keepalive, turns: Turns
    ) -> None:
        self._outbox = outbox
        self._transport = outbox.transport
        self._stream = stream
        self._budget = budget
        self._keepalive = keepalive
        self._turns = turns
        self._waiting = bytearray()
        """Bytes that are not parsed yet."""
        self._queue = MessageQueue()
        self._pause: asyncio.TimerHandle | None = None
        """Ends the time in which the socket is not read, since the budget was exceeded."""
        self._is_held = True
        self._is_closing = False
        self._is_lost = False
        self._is_reading = True
        self.is_clear = False
        """Whether all bytes so far were whole messages and were received: the next message may be handled at once."""
        self.is_flooded = False
        """Whether the client has exceeded its budget for too long."""

    def begin(self) -> None:
        """Parse frames from now on: the opening handshake is over."""
        self._is_held = False
        self._go_on()

    def arrive(self, data: bytes) -> None:
        """Take bytes from the socket."""
        if self._outbox.has_ended:
            self._pause_reading(DISCARD_SECONDS)
            return
        self.is_clear = False
        self._waiting += data
        if len(self._waiting) > SLICE_BYTES:
            self._set_reading(is_reading=False)
        self._go_on()

    def take_turn(self) -> int:
        """Hand one message to the session, or parse one slice, or read on.

        Return how many messages that costs as much as; the time in which a slice is parsed is measured, and costs none.
        """
        if self._queue.may_hand_over or self._is_lost:
            self._queue.wake()
            return 1
        if self._waiting and not self._is_blocked:
            self.parse_slice()
            return CUT_OFF_MESSAGES if self.is_flooded else 0
        was_reading = self._is_reading
        self._go_on()
        # The event loop reads next, as much as the system has buffered.
        return int(self._is_reading and not was_reading)

    def parse_slice(self) -> None:
        """Parse and charge one slice of the bytes that wait, if nothing blocks that."""
        if self._is_blocked or not self._waiting:
            return
        data = bytes(self._waiting[:SLICE_BYTES])
        del self._waiting[:SLICE_BYTES]
        try:
            arrivals = self._stream.receive(data)
            for payload in arrivals.pongs:
                self._keepalive.pong(payload)
            if not self._is_closing:
                self._queue.messages += arrivals.messages
            self._outbox.flush()
            now = time.monotonic()
            wait_seconds = self._budget.charge(arrivals.kinds, len(data), now)
            if self._budget.is_flood(now):
                self.is_flooded = True
                self._queue.messages.clear()
                self._queue.wake()
            elif wait_seconds:
                metrics.PAUSED.labels(self._budget.main_kind).inc()
                self._pause_reading(wait_seconds)
        except Exception as fault:
            report(Part.CONNECTION, fault)
            self._transport.abort()
            return
        self._go_on()

    def hold(self, seconds: float) -> None:
        """Hand no message to the session for `seconds` from now."""
        if not self._is_lost:
            self._queue.hold(seconds, self._go_on)

    async def recv(self) -> str | bytes:
        """Return the next message: text, or the bytes of a binary one. Safe to cancel.

        Raises Flooded, and Disconnected at the end, after all messages that had arrived.
        """
        queue = self._queue
        while True:
            if self.is_flooded:
                raise Flooded(self._budget.main_kind)
            if not queue.messages and self._is_lost:
                raise Disconnected
            woken = queue.expect()
            if queue.may_hand_over:
                self._turns.add(self)
            try:
                await woken
            finally:
                queue.forget()
            if queue.messages and not self.is_flooded:
                message = queue.messages.pop(0)
                self._go_on()
                return message

    def close(self) -> None:
        """Receive no more messages: from now on frames are parsed only for the client's own close frame."""
        self._is_closing = True
        self.is_clear = False
        self._queue.messages.clear()
        self._go_on()

    def lose(self) -> None:
        """Wake the receiver of a connection that has ended, in its turn: many clients may end at the same time.

        Messages that had arrived may still be received.
        """
        self._is_lost = True
        self.is_clear = False
        self._waiting.clear()
        if self._pause is not None:
            self._pause.cancel()
        self._queue.release()
        self._turns.add(self)

    @property
    def is_behind(self) -> bool:
        """Whether the client may have sent more than was parsed, because we leave it waiting."""
        return bool(self._waiting) or self._is_blocked

    @property
    def _is_blocked(self) -> bool:
        return (
            self._is_held
            or self._is_lost
            or self.is_flooded
            or self._pause is not None
            or self._outbox.has_ended
            or len(self._queue.messages) >= MAX_QUEUED
        )

    def _go_on(self) -> None:
        """Ask for a turn, or read the socket, as far as nothing blocks that."""
        if self._outbox.has_ended:
            self._waiting.clear()
            self._set_reading(is_reading=self._pause is None)
        elif self._is_blocked:
            if not self._is_held:
                self._set_reading(is_reading=False)
        elif not self._waiting:
            self.is_clear = not self._is_closing and not self._queue.messages and self._stream.is_at_message_boundary
            self._set_reading(is_reading=True)
        else:
            self._turns.add(self)
        if self._queue.may_hand_over:
            self._turns.add(self)

    def _set_reading(self, *, is_reading: bool) -> None:
        if is_reading is not self._is_reading and not self._transport.is_closing():
            self._is_reading = is_reading
            (self._transport.resume_reading if is_reading else self._transport.pause_reading)()

    def _pause_reading(self, seconds: float) -> None:
        if self._pause is None:
            self._pause = asyncio.get_running_loop().call_later(seconds, self._end_pause)
        self._set_reading(is_reading=False)

    def _end_pause(self) -> None:
        self._pause = None
        if not self._is_lost:
            self._turns.add(self)
