"""The round trip of one connection: by pings of our own, and by the kernel's measure.

A client that answers pings late seems farther away than it is. It cannot delay the kernel's measure (TCP_INFO), which
ends when its system has acknowledged a segment; so the shorter of the two counts. Behind a proxy our kernel measures
the way to the proxy only. The way from there to the client is what the proxy's kernel has measured, if the proxy states
it in `ROUND_TRIP_HEADER`; otherwise pings alone are left.
"""

import re
import socket
import struct
import time
from asyncio.trsock import TransportSocket
from collections.abc import Callable, Sequence
from typing import Final

ROUND_TRIP_HEADER: Final = "X-Client-RTT"
"""The header in which a proxy states the round trip to the client that its kernel has measured, in microseconds."""
BURST: Final = 4
"""Pings sent one behind the other's answer when measuring begins: the shortest of several is hardly delayed."""
_MIN_RTT_OFFSET: Final = 148
"""The offset of `tcpi_min_rtt` in Linux' `struct tcp_info` (linux/tcp.h, since 4.6): 32 bits, microseconds."""
_NOT_MEASURED: Final = 2**32 - 1
_TCP_INFO: Final[int | None] = getattr(socket, "TCP_INFO", None)


class RoundTrip:
    """The pings that measure, one at a time, and the shortest round trip so far."""

    __slots__ = (
        "_burst",
        "_by_pings_us",
        "_clock",
        "_number",
        "_send",
        "_sent_at",
        "_socket",
        "_unanswered",
        "beyond_us",
        "on_answer",
    )

    def __init__(
        self,
        send: Callable[[bytes], None],
        connected: TransportSocket,
        clock: Callable[[], float] = time.monotonic,
        *,
        is_direct: bool,
    ) -> None:
        """`send` sends a ping with this payload; a proxy is at the other end of a socket that is not direct."""
        self._send = send
        self._socket = connected
        self.beyond_us = 0 if is_direct else None
        """The way from the other end of the socket to the client and back, in microseconds; None if it is unknown."""
        self._clock = clock
        self._by_pings_us: int | None = None
        self._burst = 0
        self._number = 0
        self._sent_at = 0.0
        self._unanswered: bytes | None = None
        self.on_answer: Callable[[], None] | None = None
        """Called after each answer while the connection is measured. It may refer to the connection, which clears it at
        its end.
        """

    @property
    def shortest_us(self) -> int | None:
        """The round trip that counts, in microseconds; None before any measurement."""
        return min((each for each in (self._by_pings_us, self._by_kernels_us) if each is not None), default=None)

    @property
    def _by_kernels_us(self) -> int | None:
        """The round trip that no client can lengthen by answering late; None if it is unknown."""
        to_other_end_us = None if self.beyond_us is None else kernel_round_trip_us(self._socket)
        return None if self.beyond_us is None or to_other_end_us is None else self.beyond_us + to_other_end_us

    def begin(self, on_answer: Callable[[], None]) -> None:
        """Measure from now on: BURST pings, and then one with each heartbeat."""
        self.on_answer, self._burst = on_answer, BURST
        self.ping()

    def ping(self) -> None:
        """Send a ping that measures, unless one is unanswered or nobody measures.

        Payloads have five bytes, those of keepalive four, so that each is answered for itself.
        """
        if self.on_answer is None or self._unanswered is not None:
            return
        self._number = (self._number + 1) % 2**40
        self._sent_at, self._unanswered = self._clock(), self._number.to_bytes(5, "big")
        self._send(self._unanswered)

    def pong(self, payload: bytes) -> None:
        """Take a pong of the client, asked for or not."""
        if payload != self._unanswered:
            return
        self._unanswered = None
        took_us = max(0, int((self._clock() - self._sent_at) * 1_000_000))
        self._by_pings_us = took_us if self._by_pings_us is None else min(self._by_pings_us, took_us)
        if self.on_answer is not None:
            self.on_answer()
        self._burst = max(0, self._burst - 1)
        if self._burst:
            self.ping()


def stated_round_trip_us(values: Sequence[str]) -> int | None:
    """Return what the headers `ROUND_TRIP_HEADER` of a request state; None if that is not one number above 0.

    A client whose proxy does not set the header may send one. It gains nothing, since the shortest measure counts.
    """
    if len(values) != 1 or not re.fullmatch("[0-9]{1,9}", values[0], re.ASCII):
        return None
    return int(values[0]) or None


def kernel_round_trip_us(connected: TransportSocket | socket.socket) -> int | None:
    """Return the shortest round trip that the kernel has seen on a TCP socket in the last minutes, in microseconds.

    None where the system does not tell: only Linux does. Reading it takes a microsecond.
    """
    if _TCP_INFO is None:
        return None
    try:
        info = connected.getsockopt(socket.IPPROTO_TCP, _TCP_INFO, _MIN_RTT_OFFSET + 4)
    except OSError:
        return None
    if len(info) < _MIN_RTT_OFFSET + 4:
        return None
    (rtt_us,) = struct.unpack_from("=I", info, _MIN_RTT_OFFSET)
    return None if rtt_us == _NOT_MEASURED else int(rtt_us)
