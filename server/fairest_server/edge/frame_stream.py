"""One connection as two streams of bytes, without a socket and without time: the public sans-I/O layer of `websockets`.

The library answers pings and close frames, and finds what breaks the protocol. Put together from its frames are the
messages; counted are frames of every kind.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final

from websockets.exceptions import NegotiationError
from websockets.frames import CloseCode, Opcode
from websockets.http11 import Request, Response
from websockets.protocol import SEND_EOF, State
from websockets.server import ServerProtocol
from websockets.typing import Subprotocol

from fairest_protocol.messages.fields import SUBPROTOCOL
from fairest_server.edge.fragments import Fragments
from fairest_server.edge.frames import KINDS, PONG_HEAD, least_size
from fairest_server.ops.metrics import CutOff, FrameKind

_FAILURES: Final[dict[int, CutOff]] = {
    CloseCode.PROTOCOL_ERROR: CutOff.BAD_FRAME,
    CloseCode.INVALID_DATA: CutOff.BAD_FRAME,
    CloseCode.MESSAGE_TOO_BIG: CutOff.TOO_BIG,
}
"""The reason for which a connection is cut off by its parser, by the close code that the client is sent."""


@dataclass(slots=True)
class Arrivals:
    """The frames that some bytes completed."""

    kinds: list[FrameKind] = field(default_factory=list)
    messages: list[str | bytes] = field(default_factory=list)
    pongs: list[bytes] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Rejection:
    """The end of a connection as soon as its opening handshake is complete: a message, and a close code."""

    request: Request
    message: bytes
    code: int
    reason: str


class FrameStream:
    """The server's end of one connection. Whenever a method was called, `take_output` has bytes to write.

    It refers to itself, by the library's parser. `end` dissolves that, and must be the last call.
    """

    __slots__ = ("_fragments", "_is_failed", "_is_in_message", "_protocol", "_unparsed_bytes")

    def __init__(self, max_message_bytes: int) -> None:
        self._protocol = ServerProtocol(select_subprotocol=_choose_subprotocol, max_size=max_message_bytes)
        self._fragments = Fragments()
        self._is_in_message = False
        self._is_failed = False
        """Whether the client has broken the protocol."""
        self._unparsed_bytes = 0
        """Upper bound of the bytes that the library has been given of a frame that is not complete."""

    @property
    def is_open(self) -> bool:
        """Whether the opening handshake is over, and no close frame was sent or received."""
        return self._protocol.state is State.OPEN

    @property
    def is_at_message_boundary(self) -> bool:
        """Whether all bytes so far are whole messages.

        A client that gives the length of a short frame in eight bytes, which the RFC forbids, never seems to be.
        """
        return not self._unparsed_bytes and not self._is_in_message and self.is_open

    def receive_request(self, head: bytes) -> Request | None:
        """Return the request in the head of an opening handshake; None if there is none, which was answered."""
        self._protocol.receive_data(head)
        request = next(iter(self._protocol.events_received()), None)
        assert request is None or isinstance(request, Request), "the head holds nothing else"
        return request

    def accept(self, request: Request) -> bool:
        """Answer the opening handshake; return whether the connection is open now."""
        self.respond(self._negotiate(request))
        return self.is_open

    def reject(self, rejection: Rejection) -> bool:
        """Complete the opening handshake, send one message, and close without waiting for the client.

        Return False, and send nothing, if the request is not a valid opening handshake.
        """
        response = self._negotiate(rejection.request)
        if response.status_code != HTTPStatus.SWITCHING_PROTOCOLS:
            return False
        self.respond(response)
        self._protocol.send_text(rejection.message)
        self._protocol.fail(rejection.code, rejection.reason)
        return True

    def respond(self, response: Response) -> None:
        """Answer a request over plain HTTP, which ends the connection."""
        response.headers["Server"] = "fairest"
        self._protocol.send_response(response)

    def receive(self, data: bytes) -> Arrivals:
        """Return the frames and messages that these bytes of the client complete."""
        arrivals = Arrivals()
        was_open = self.is_open
        self._protocol.receive_data(data)
        self._unparsed_bytes += len(data)
        for frame in self._protocol.events_received():
            assert not isinstance(frame, (Request, Response)), "the handshake is over"
            self._unparsed_bytes -= least_size(frame)
            arrivals.kinds.append(KINDS[frame.opcode])
            if frame.opcode is Opcode.PONG:
                arrivals.pongs.append(bytes(frame.data))
            elif frame.opcode in {Opcode.TEXT, Opcode.BINARY, Opcode.CONT} and not self._is_failed:
                self._is_in_message = not frame.fin
                try:
                    message = self._fragments.add(frame)
                except UnicodeDecodeError as reason:
                    self._is_failed = True
                    self._protocol.fail(CloseCode.INVALID_DATA, f"{reason.reason} at position {reason.start}")
                else:
                    if message is not None:
                        arrivals.messages.append(message)
        if was_open and not self.is_open and FrameKind.CLOSE not in arrivals.kinds:
            self._is_failed = True
        return arrivals

    def send_ping(self, payload: bytes) -> None:
        """Send a ping on an open connection."""
        self._protocol.send_ping(payload)

    def send_close(self, code: int, reason: str) -> None:
        """Begin the closing handshake of an open connection."""
        self._protocol.send_close(code, reason)

    def fail(self, code: int, reason: str) -> None:
        """Close a connection without waiting for the client: nothing that still arrives is parsed."""
        self._protocol.fail(code, reason)

    def _negotiate(self, request: Request) -> Response:
        """Return the library's answer to an opening handshake: 101, or why it is not a valid one."""
        response = self._protocol.accept(request)
        error = self._protocol.handshake_exc
        if error is not None:
            # The request keeps it, and its stack frames refer to the request.
            error.__traceback__ = error.__cause__ = error.__context__ = None
        return response

    def take_output(self) -> Sequence[bytes]:
        """Return the frames to write, in order; an empty one, `SEND_EOF`, ends the stream.

        Of several pings only the newest is answered, as the RFC allows (5.5.3).
        """
        frames = self._protocol.data_to_send()
        if len(frames) > 1:
            pongs = [place for place, frame in enumerate(frames) if frame.startswith(PONG_HEAD)]
            frames = [frame for place, frame in enumerate(frames) if place not in pongs[:-1]]
        return frames

    def end(self) -> tuple[int | None, CutOff | None]:
        """End the stream with its connection; return the close code, and why the parser cut the client off, if it did.

        The close code is None for a connection that was never open.
        """
        has_been_open = self._protocol.state is not State.CONNECTING
        self._protocol.receive_eof()
        code, failure = None, None
        if has_been_open and self._protocol.state is State.CLOSED:
            code, sent = self._protocol.close_code, self._protocol.close_exc.sent
            if self._is_failed and sent is not None:
                failure = _FAILURES.get(sent.code)
        # Its parser, a generator, refers to the protocol, as the errors do that it keeps.
        vars(self._protocol).clear()
        return code, failure


def _choose_subprotocol(_protocol: ServerProtocol, offered: Sequence[Subprotocol]) -> Subprotocol | None:
    """Return `fairest.v1` if the client offers it, None if the client offers nothing.

    Raises NegotiationError for a client that offers only others: it means another server.
    """
    if not offered:
        return None
    if SUBPROTOCOL not in offered:
        raise NegotiationError(f"this server speaks {SUBPROTOCOL}")
    return Subprotocol(SUBPROTOCOL)


__all__ = ["SEND_EOF", "Arrivals", "FrameStream", "Rejection"]
