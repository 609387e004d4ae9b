"""Our end of a WebSocket, with two ways past the queues of `websockets`: for a player's words, and for our frames.

A message that can be dealt with at once is dealt with where it arrives; everything else waits for `recv`, in order. A
frame is written as it is, without a look at every frame before it. What is bypassed is ours to do: the token bucket and
the bound on unsent bytes stand at both ways (docs/decisions/0022-a-cheap-move.md).
"""

from collections.abc import Callable
from typing import Any

from websockets.asyncio.server import ServerConnection
from websockets.frames import Frame, Opcode
from websockets.protocol import State


class Wire(ServerConnection):
    """A connection whose messages may be taken where they arrive."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.take_at_once: Callable[[bytes], bool] | None = None
        """Called with every whole text message; False leaves it to `recv`, and so must all that come behind it."""

    def process_event(self, event: Any) -> None:
        """As the library's, but for messages that are taken at once. Overrides what is no documented interface."""
        take = self.take_at_once
        if take is not None and isinstance(event, Frame):
            if event.opcode is Opcode.TEXT and event.fin:
                if take(bytes(event.data)):
                    return
            elif event.opcode is not Opcode.PING and event.opcode is not Opcode.PONG:
                # Part of a message. Who sends in parts is heard by `recv` from here on, which puts them together.
                self.take_at_once = None
        super().process_event(event)

    @property
    def unsent_bytes(self) -> int:
        """What lies in the socket's buffer since the other end does not read."""
        return self.transport.get_write_buffer_size()

    def write_text(self, data: bytes) -> None:
        """Send one text frame without waiting; nothing happens on a connection that is closing."""
        if self.protocol.state is State.OPEN and not self.transport.is_closing():
            self.transport.write(frame_text(data))


def frame_text(data: bytes) -> bytes:
    """A whole message of UTF-8 text as a server's frame: final, not masked (RFC 6455, 5.2)."""
    size = len(data)
    if size < 126:
        return b"\x81%c%b" % (size, data)
    if size < 65_536:
        return b"\x81\x7e" + size.to_bytes(2, "big") + data
    return b"\x81\x7f" + size.to_bytes(8, "big") + data
