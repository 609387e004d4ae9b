"""Our end of a WebSocket, with two ways past the queues of `websockets`: for a player's words, and for our frames.

A message that arrives whole, while nothing waits, may be dealt with where it arrives; everything else is the
library's, and waits for `recv`, in order. A frame is written as it is, without a look at every frame before it. What
is bypassed is ours to do: the token bucket and the bound on unsent bytes stand at both ways
(docs/decisions/0021-what-a-move-costs.md).
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Final

from websockets import frames
from websockets.asyncio.server import ServerConnection
from websockets.exceptions import NegotiationError
from websockets.protocol import Protocol
from websockets.streams import StreamReader
from websockets.typing import Subprotocol

from fairest_protocol.messages.fields import SUBPROTOCOL


class FastWebSocket(ServerConnection):
    """A connection whose messages may be taken where they arrive."""

    # What every move needs is not in the dictionary of the library's connection: that one is too large for a cache.
    __slots__ = ("is_between_messages", "protocol", "take_at_once", "transport")

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        # Given to `serve`, the function would be made to hold this connection.
        vars(self.protocol)["select_subprotocol"] = _choose_subprotocol
        # If TLS fails, the connection is never made.
        self.protocol.parser.close()
        self.fast_path: Callable[[bytes], bool] | None = None
        """Called with a text message that arrives whole; False leaves it to `recv`. It is for who waits in `recv` to
        set: what goes to `recv` unsets it, so that nothing overtakes what waits there.
        """
        self.is_at_message_boundary = False
        """Whether what the library has parsed so far ended with a message."""

    # The library leaves a connection that has gone to Python's search for circles, in which nobody is heard. Here
    # nothing holds it any more (docs/decisions/0034-no-reference-cycles.md).

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """As the library's, with a parser, which holds the connection until it is lost."""
        self.protocol.parser = self.protocol.parse()
        next(self.protocol.parser)
        super().connection_made(transport)

    def set_connection_exc(self, exc: BaseException | None) -> None:
        """As the library's, but for the frames in the error that ends this connection."""
        _strip(exc)
        super().set_connection_exc(exc)

    def connection_lost(self, exc: Exception | None) -> None:
        """As the library's, but for the parser, which waits for more, and the errors of both."""
        super().connection_lost(exc)
        self.protocol.parser.close()
        _strip(self.protocol.parser_exc)
        _strip(self.protocol.handshake_exc)

    def data_received(self, data: bytes) -> None:
        """As the library's, but for messages that are taken at once."""
        take, self.fast_path = self.fast_path, None
        if take is not None and self.is_at_message_boundary and self.protocol.close_sent is None:
            text = unframe_text(data)
            if text is not None and take(text):
                self.fast_path = take
                return
        super().data_received(data)
        self.is_at_message_boundary = _is_at_message_boundary(self.protocol)

    def write_text(self, data: bytes) -> None:
        """Send one text frame without waiting; nothing happens on a connection that is closing."""
        if self.protocol.close_sent is None and not self.transport.is_closing():
            self.transport.write(frame_text(data))


def _choose_subprotocol(offered: Sequence[Subprotocol]) -> Subprotocol | None:
    """Speak `fairest.v1` with who offers it or offers nothing; who offers only others cannot mean us."""
    if not offered:
        return None
    if SUBPROTOCOL not in offered:
        raise NegotiationError(f"this server speaks {SUBPROTOCOL}")
    return Subprotocol(SUBPROTOCOL)


def _strip(reason: BaseException | None) -> None:
    """Let go of the frames of the stack through which an error came, and of the errors behind it."""
    if reason is not None:
        reason.__traceback__ = reason.__cause__ = reason.__context__ = None


_AT_EOF: Final = StreamReader.at_eof.__code__


def _is_at_message_boundary(protocol: Protocol) -> bool:
    """Whether the library's parser, a generator within a generator, waits for the first byte of a message."""
    inner = getattr(protocol.parser, "gi_yieldfrom", None)
    is_between_frames = getattr(getattr(inner, "gi_yieldfrom", None), "gi_code", None) is _AT_EOF
    return is_between_frames and protocol.current_size is None


def unframe_text(data: bytes) -> bytes | None:
    """The payload if this is one short text message of a client and nothing else (RFC 6455, 5.2), else None."""
    size = len(data) - 6
    if 0 <= size < 126 and data[0] == 0x81 and data[1] == 0x80 | size:
        return frames.apply_mask(data[6:], data[2:6])  # type: ignore[attr-defined]  # in C where there is a wheel
    return None


def frame_text(data: bytes) -> bytes:
    """A whole message of UTF-8 text as a server's frame: final, not masked (RFC 6455, 5.2)."""
    size = len(data)
    if size < 126:
        return b"\x81%c%b" % (size, data)
    if size < 65_536:
        return b"\x81\x7e" + size.to_bytes(2, "big") + data
    return b"\x81\x7f" + size.to_bytes(8, "big") + data
