"""The server's end of a WebSocket: `websockets`, with a fast path for incoming messages and one for outgoing frames.

A text message that arrives whole, while no other is queued, may be handled where it arrives; everything else goes
through the library, and waits for `recv`, in order. A frame is written to the transport directly, without the library's
bookkeeping. Two duties of the library are ours on both paths: limiting the rate of messages, for which the session has
a token bucket, and bounding the bytes that are not sent yet, which the outbox does
(docs/decisions/0021-what-a-move-costs.md).

This module is the driver for `websockets`: no other module of the server uses names that the library does not
document. tests/drivers/test_websockets_driver.py asserts each of them on the installed version, and pyproject.toml
admits only versions that were tried. The names, what they are for, and what happens without them:

- `ServerProtocol.select_subprotocol`, called through the instance. Ours is put into `vars(protocol)`, since one that is
  given to `serve` is wrapped in a closure that holds the connection: a reference cycle. If the library calls another
  name, a client that offers only foreign subprotocols is served, and a client that offers ours is not told so.
- `Protocol.parser` and `Protocol.parse()`. The parser is a suspended generator that holds its protocol, which holds it:
  a cycle, unless it starts with the connection and is closed at its end. Without them: AttributeError on connect.
- `Connection.set_connection_exc`, overridden to cut the stack off an error. Under another name (`set_recv_exc` before
  17.4) ours is never called, silently: connections that end with an error stay in memory.
- `Protocol.parser_exc` and `Protocol.handshake_exc`, cut likewise. Without them: AttributeError when a connection ends.
- `StreamReader.at_eof` is a generator function, and `parse()` waits in it, by `yield from`, before each frame: that
  shows as `gi_yieldfrom` and `gi_code`. If it waits elsewhere, all messages are queued: slower, and still correct.
- `Protocol.current_size`, None between messages. Without it: AttributeError when data arrives. It keeps the fast path
  from taking a fragment of a message for a message.
- `Protocol.close_sent`, None until a close frame was sent, after which RFC 6455 allows no other frame. Without it:
  AttributeError when data arrives.
- `Connection.protocol` and `Connection.transport`, set by the library, in slots of ours here.
- `frames.apply_mask`, not exported; in C where there is a wheel. Without it: AttributeError on the first move.
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

FastPath = Callable[[bytes], bool]
"""Handles a text message at once and returns True, or returns False to leave it to `recv`."""


class FastWebSocket(ServerConnection):
    """A connection whose messages may be handled where they arrive, and whose frames are written directly."""

    # The attributes that every move needs are in slots, because the dictionary of the library's connection is too
    # large for a cache.
    __slots__ = ("fast_path", "is_at_message_boundary", "protocol", "transport")

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        vars(self.protocol)["select_subprotocol"] = _choose_subprotocol
        # Closed here because a connection whose TLS handshake fails is never made, nor lost.
        self.protocol.parser.close()
        self.fast_path: FastPath | None = None
        """Called with each text message that arrives whole. Set by the session just before it awaits `recv`; cleared
        whenever data goes to `recv`, so a fast-path message never overtakes a queued one.
        """
        self.is_at_message_boundary = False
        """Whether all that the library has parsed so far are whole messages."""

    # The library leaves a closed connection in reference cycles, which only the garbage collector finds, at the cost
    # of a pause for everybody. Here nothing refers to a closed connection (docs/decisions/0034-no-reference-cycles.md).

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start the parser, which refers to this connection until `connection_lost` closes it."""
        self.protocol.parser = self.protocol.parse()
        next(self.protocol.parser)
        super().connection_made(transport)

    def set_connection_exc(self, exc: BaseException | None) -> None:
        """Keep the error that ends this connection, without the stack frames that refer to the connection."""
        _strip(exc)
        super().set_connection_exc(exc)

    def connection_lost(self, exc: Exception | None) -> None:
        """Close the parser, and cut the stack frames off the errors that the library keeps."""
        super().connection_lost(exc)
        self.protocol.parser.close()
        _strip(self.protocol.parser_exc)
        _strip(self.protocol.handshake_exc)

    def data_received(self, data: bytes) -> None:
        """Offer a whole text message to `fast_path`; give everything else to the library."""
        # Cleared first: if the library gets this data, later messages must not overtake it.
        take, self.fast_path = self.fast_path, None
        if take is not None and self.is_at_message_boundary and self.protocol.close_sent is None:
            text = unframe_text(data)
            if text is not None and take(text):
                self.fast_path = take
                return
        super().data_received(data)
        self.is_at_message_boundary = _is_at_message_boundary(self.protocol)

    def write_text(self, data: bytes) -> None:
        """Send one text frame without waiting; does nothing on a connection that is closing."""
        if self.protocol.close_sent is None and not self.transport.is_closing():
            self.transport.write(frame_text(data))


def _choose_subprotocol(offered: Sequence[Subprotocol]) -> Subprotocol | None:
    """Return `fairest.v1` if the client offers it, None if the client offers nothing.

    Raises NegotiationError for a client that offers only others: it means another server.
    """
    if not offered:
        return None
    if SUBPROTOCOL not in offered:
        raise NegotiationError(f"this server speaks {SUBPROTOCOL}")
    return Subprotocol(SUBPROTOCOL)


def _strip(error: BaseException | None) -> None:
    """Drop the stack frames that an error passed through, and the errors that caused it."""
    if error is not None:
        error.__traceback__ = error.__cause__ = error.__context__ = None


_AT_EOF: Final = StreamReader.at_eof.__code__


def _is_at_message_boundary(protocol: Protocol) -> bool:
    """Return whether the library's parser, a generator in a generator, waits for the first byte of a message."""
    inner = getattr(protocol.parser, "gi_yieldfrom", None)
    is_between_frames = getattr(getattr(inner, "gi_yieldfrom", None), "gi_code", None) is _AT_EOF
    return is_between_frames and protocol.current_size is None


def unframe_text(data: bytes) -> bytes | None:
    """Return the payload if `data` is one short text message of a client and nothing else (RFC 6455, 5.2)."""
    size = len(data) - 6
    if 0 <= size < 126 and data[0] == 0x81 and data[1] == 0x80 | size:
        return frames.apply_mask(data[6:], data[2:6])  # type: ignore[attr-defined]  # not exported
    return None


def frame_text(data: bytes) -> bytes:
    """Return a whole message of UTF-8 text as a server's frame: final, not masked (RFC 6455, 5.2)."""
    size = len(data)
    if size < 126:
        return b"\x81%c%b" % (size, data)
    if size < 65_536:
        return b"\x81\x7e" + size.to_bytes(2, "big") + data
    return b"\x81\x7f" + size.to_bytes(8, "big") + data
