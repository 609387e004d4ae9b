"""Frames of a WebSocket as bytes (RFC 6455, 5.2): the few shapes that do not go through the library."""

from typing import Final

from websockets.frames import Frame, Opcode

from fairest_server.ops.metrics import FrameKind

KINDS: Final = {
    Opcode.TEXT: FrameKind.TEXT,
    Opcode.BINARY: FrameKind.BINARY,
    Opcode.CONT: FrameKind.CONTINUATION,
    Opcode.PING: FrameKind.PING,
    Opcode.PONG: FrameKind.PONG,
    Opcode.CLOSE: FrameKind.CLOSE,
}
PONG_HEAD: Final = b"\x8a"
"""The first byte of each pong that a server sends."""


def unframe_text(data: bytes) -> bytes | None:
    """Return the payload if `data` is one short text message of a client and nothing else."""
    size = len(data) - 6
    if 0 <= size < 126 and data[0] == 0x81 and data[1] == 0x80 | size:
        # Python has no operator for two byte strings; as integers they are as long as the frame, and so short.
        mask = int.from_bytes((data[2:6] * 32)[:size], "little")
        return (int.from_bytes(data[6:], "little") ^ mask).to_bytes(size, "little")
    return None


def frame_text(data: bytes) -> bytes:
    """Return a whole message of UTF-8 text as a server's frame: final, not masked."""
    size = len(data)
    if size < 126:
        return b"\x81%c%b" % (size, data)
    if size < 65_536:
        return b"\x81\x7e%c%c%b" % (size >> 8, size & 255, data)
    return b"\x81\x7f" + size.to_bytes(8, "big") + data


def least_size(frame: Frame) -> int:
    """Return the number of bytes that a client needs at least to send this frame, its header included."""
    size = len(frame.data)
    return size + (6 if size < 126 else 8 if size < 65_536 else 14)
