"""Handing accepted sockets over to the process of their room, so that both players of a room meet on one process.

Any process serves any player of any room. But a room with its players on two processes costs twice the CPU, so the
process that accepts a socket looks at the request, which names the room, without taking it from the socket (MSG_PEEK),
and passes the socket on. Whatever fails on that way ends with this process serving the socket itself.

Two processes must never read from one socket. So a socket is passed together with one end of a socket pair that holds
a single byte, the claim: the process that reads the byte serves the socket. The sender keeps both until the receiver
has answered, and after CLAIM_SECONDS it tries to read the claim itself (docs/decisions/0087-rooms-have-addresses.md).
"""

import asyncio
import socket
import sys
from array import array
from collections.abc import Callable, Set
from contextlib import suppress
from pathlib import Path
from typing import Final

import structlog

from fairest_server.edge.neighbours import Neighbours
from fairest_server.edge.room_address import MAX_LINE_BYTES, room_of_request
from fairest_server.ops import metrics
from fairest_server.ops.events import Event
from fairest_server.ops.metrics import Passed

IS_SUPPORTED: Final = sys.platform == "linux"
"""Sockets of the kind SOCK_SEQPACKET, and accepting no connection before its request has arrived, are Linux' own."""
CLAIM_SECONDS: Final = 1.0
"""The time in which a process takes a socket that was passed to it; turns of its event loop take milliseconds."""
MAX_UNCLAIMED: Final = 256
"""While so many sockets are on their way to other processes, further ones are served here."""
DEFER_SECONDS: Final = 2
"""The system holds a connection back for this long, or until its first bytes arrive (TCP_DEFER_ACCEPT)."""
_BACKLOG: Final = 64
_BYTE: Final = b"."
_LOG = structlog.get_logger(__name__)

Settle = Callable[[bool], None]
"""Called once for a socket that was passed: with True if the other process serves it, otherwise with False."""


class RoomHandover:
    """The way of sockets between this process and the others on its port, within `open` and `close`."""

    def __init__(self, folder: Path, process_id: str, claim_seconds: float | None = None) -> None:
        self._neighbours = Neighbours(folder, process_id)
        self._claim_seconds = CLAIM_SECONDS if claim_seconds is None else claim_seconds
        self._listener: socket.socket | None = None
        self._incoming: set[socket.socket] = set()
        """Connections of other processes, which pass sockets to this one."""
        self._outgoing: dict[str, socket.socket] = {}
        """Connections to other processes, by their ids."""
        self._unclaimed: set[_Passed] = set()
        self._take: Callable[[socket.socket], None] = socket.socket.close

    def open(self, take: Callable[[socket.socket], None]) -> None:
        """Let other processes pass sockets to this one, each of which `take` is called with.

        Without a usable folder this process takes and passes nothing, and serves what it accepts.
        """
        path = self._neighbours.path_of(self._neighbours.process_id)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            listener.bind(str(path))
            listener.listen(_BACKLOG)
        except OSError as reason:
            listener.close()
            _LOG.warning(Event.NO_HANDOVER, reason=str(reason))
            return
        listener.setblocking(False)
        self._listener, self._take = listener, take
        asyncio.get_running_loop().add_reader(listener, self._accept_process, listener)

    def prepare(self, listener: socket.socket) -> None:
        """Let a listening socket hold connections back until they have sent something, since only that can be read."""
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_DEFER_ACCEPT, DEFER_SECONDS)

    def is_served_here(self, room: str) -> bool:
        """Return whether this process is the one that serves a room by preference."""
        return self._listener is None or self._neighbours.serving(room) == self._neighbours.process_id

    @property
    def process_count(self) -> int:
        """The number of processes on this port that were found last, this one among them."""
        return len(self._neighbours.known | {self._neighbours.process_id})

    def try_pass(self, accepted: socket.socket, settle: Settle) -> bool:
        """Pass an accepted socket to the process of the room that it asks for; return False if it is to be served here.

        If this returns True, `settle` is called within CLAIM_SECONDS, unless this process closes before.
        """
        if self._listener is None or len(self._unclaimed) >= MAX_UNCLAIMED:
            return False
        try:
            room = room_of_request(accepted.recv(MAX_LINE_BYTES, socket.MSG_PEEK))
        except OSError:
            return False
        # Each turn without a return has found a process that has ended.
        while room is not None and not self.is_served_here(room):
            process_id = self._neighbours.serving(room)
            passed = _Passed(accepted, process_id, settle)
            try:
                self._send(passed)
            except BlockingIOError:
                passed.close()
                return False
            except OSError:
                passed.close()
                self._drop(process_id)
                continue
            self._unclaimed.add(passed)
            loop = asyncio.get_running_loop()
            loop.add_reader(passed.answer, self._end, passed)
            passed.timer = loop.call_later(self._claim_seconds, self._end, passed)
            return True
        return False

    def leave(self) -> None:
        """Take no further sockets: other processes pass them elsewhere from now on. Safe to call again."""
        if self._listener is not None:
            asyncio.get_running_loop().remove_reader(self._listener)
            self._listener.close()
            self._listener = None
            self._neighbours.leave()

    def close(self) -> None:
        """End all connections to other processes; close the sockets that none of them has taken."""
        self.leave()
        loop = asyncio.get_running_loop()
        for passed in self._unclaimed:
            loop.remove_reader(passed.answer)
            passed.close()
            # If the other process has taken it, this closes only our copy.
            passed.accepted.close()
        self._unclaimed.clear()
        for connection in self._incoming:
            loop.remove_reader(connection)
            connection.close()
        self._incoming.clear()
        self._close_outgoing(set(self._outgoing))

    def _send(self, passed: "_Passed") -> None:
        """Send a socket with its claim. Raises BlockingIOError if the process is behind, OSError if it has ended."""
        connection = self._outgoing.get(passed.process_id)
        if connection is None:
            self._close_outgoing(self._outgoing.keys() - self._neighbours.known)
            connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            connection.setblocking(False)
            try:
                connection.connect(str(self._neighbours.path_of(passed.process_id)))
            except OSError:
                connection.close()
                raise
            self._outgoing[passed.process_id] = connection
        descriptors = array("i", (passed.accepted.fileno(), passed.claim.fileno()))
        connection.sendmsg([_BYTE], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, descriptors)])

    def _drop(self, process_id: str) -> None:
        """Forget a process that has ended."""
        self._neighbours.forget(process_id)
        self._close_outgoing({process_id} & self._outgoing.keys())

    def _close_outgoing(self, process_ids: Set[str]) -> None:
        for process_id in process_ids:
            self._outgoing.pop(process_id).close()

    def _end(self, passed: "_Passed") -> None:
        """Settle a socket: the other process has answered, or is late and must not take it any more."""
        asyncio.get_running_loop().remove_reader(passed.answer)
        self._unclaimed.discard(passed)
        is_taken = not _try_claim(passed.claim)
        passed.close()
        if not is_taken:
            self._neighbours.leave_out(passed.process_id)
        metrics.PASSED.labels(Passed.TAKEN if is_taken else Passed.LATE).inc()
        passed.settle(is_taken)

    def _accept_process(self, listener: socket.socket) -> None:
        with suppress(BlockingIOError, ConnectionAbortedError):
            connection, _ = listener.accept()
            connection.setblocking(False)
            self._incoming.add(connection)
            asyncio.get_running_loop().add_reader(connection, self._receive, connection)

    def _receive(self, connection: socket.socket) -> None:
        """Take one socket from another process, if it has not claimed it itself meanwhile."""
        try:
            data, descriptors, _, _ = socket.recv_fds(connection, 1, 2, socket.MSG_CMSG_CLOEXEC)
        except BlockingIOError:
            return
        except OSError:
            data, descriptors = b"", []
        sockets = [socket.socket(fileno=each) for each in descriptors]
        if len(sockets) == 2 and _try_claim(sockets[1]):
            accepted, claim = sockets
            with claim, suppress(OSError):
                # Fails if the sender has ended by now. The socket is ours all the same.
                claim.send(_BYTE)
            self._take(accepted)
            return
        for each in sockets:
            each.close()
        if not data:
            asyncio.get_running_loop().remove_reader(connection)
            self._incoming.discard(connection)
            connection.close()


class _Passed:
    """A socket on its way to another process, and the socket pair with its claim.

    The byte that stands in `claim` is the claim. `answer` is the other end, which becomes readable when the other
    process has taken it.
    """

    def __init__(self, accepted: socket.socket, process_id: str, settle: Settle) -> None:
        self.accepted = accepted
        self.process_id = process_id
        self.settle = settle
        self.answer, self.claim = socket.socketpair()
        self.claim.setblocking(False)
        self.answer.setblocking(False)
        self.answer.send(_BYTE)
        self.timer: asyncio.TimerHandle | None = None

    def close(self) -> None:
        """Close our ends of the pair."""
        if self.timer is not None:
            self.timer.cancel()
        self.answer.close()
        self.claim.close()


def _try_claim(claim: socket.socket) -> bool:
    """Return whether this process has read the claim; False means that the other process has."""
    try:
        return bool(claim.recv(1, socket.MSG_DONTWAIT))
    except OSError:
        return False
