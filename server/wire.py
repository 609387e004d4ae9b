"""Our end of a WebSocket, with two ways past the queues of `websockets`: for a player's words, and for our frames.

A message that arrives whole, while nothing waits, may be dealt with where it arrives; everything else is the
library's, and waits for `recv`, in order. A frame is written as it is, without a look at every frame before it. What
is bypassed is ours to do: the token bucket and the bound on unsent bytes stand at both ways
(docs/decisions/0022-a-cheap-move.md).
"""

from collections.abc import Callable
from typing import Any, Final

from websockets import frames
from websockets.asyncio.server import ServerConnection
from websockets.protocol import Protocol
from websockets.streams import StreamReader


class Wire(ServerConnection):
    """A connection whose messages may be taken where they arrive."""

    # What every move needs is not in the dictionary of the library's connection: that one is too large for a cache.
    __slots__ = ("is_between_messages", "protocol", "take_at_once", "transport")

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.take_at_once: Callable[[bytes], bool] | None = None
        """Called with a text message that arrives whole; False leaves it to `recv`. It is for who waits in `recv` to
        set: what goes to `recv` unsets it, so that nothing overtakes what waits there.
        """
        self.is_between_messages = False
        """Whether what the library has parsed so far ended with a message."""

    # The library leaves a connection that has gone to Python's search for circles, in which nobody is heard. These let
    # go of what nobody uses by then (docs/decisions/0034-gone-at-once.md).

    async def handshake(self, *arguments: Any, **options: Any) -> None:
        """As the library's, but for the way in which subprotocols are chosen: it holds this connection."""
        try:
            await super().handshake(*arguments, **options)
        finally:
            # Back to the method of its class, which ours stands before.
            vars(self.protocol).pop("select_subprotocol", None)
            self._forget_errors()

    def connection_lost(self, exc: Exception | None) -> None:
        """As the library's, but for its parser, which waits for more."""
        super().connection_lost(exc)
        self.protocol.parser.close()
        self._forget_errors()

    def _forget_errors(self) -> None:
        """Let go of what went wrong, and the frames of the stack in it."""
        if self.protocol.handshake_exc is not None:
            # The request keeps it as well.
            self.protocol.handshake_exc.__traceback__ = None
        self.protocol.handshake_exc = self.protocol.parser_exc = None

    def data_received(self, data: bytes) -> None:
        """As the library's, but for messages that are taken at once."""
        take, self.take_at_once = self.take_at_once, None
        if take is not None and self.is_between_messages and self.protocol.close_sent is None:
            text = unframe_text(data)
            if text is not None and take(text):
                self.take_at_once = take
                return
        super().data_received(data)
        self.is_between_messages = _is_between_messages(self.protocol)

    def write_text(self, data: bytes) -> None:
        """Send one text frame without waiting; nothing happens on a connection that is closing."""
        if self.protocol.close_sent is None and not self.transport.is_closing():
            self.transport.write(frame_text(data))


_AT_EOF: Final = StreamReader.at_eof.__code__


def _is_between_messages(protocol: Protocol) -> bool:
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
