"""The address of a room: the path `/r/CODE` of a WebSocket or a page, and the process that serves it by preference."""

import re
from collections.abc import Iterable
from hashlib import blake2b
from typing import Final

MAX_LINE_BYTES: Final = 128
"""The first line of a request to a room's address is not longer: a code has at most 60 characters."""
_REQUEST_LINE: Final = re.compile(rb"GET /r/([a-z]+(?:-[a-z]+){1,5})(?:\?[^ ]*)? HTTP/1\.1\r\n")
_TARGET: Final = re.compile(r"/r/([^/?]+)(?:\?.*)?")


def room_of_request(head: bytes) -> str | None:
    """Return the room whose address a request asks for, given its first bytes.

    None means that the first line is not whole yet, or names no room. The code is not looked up: there need not be
    such a room.
    """
    found = _REQUEST_LINE.match(head)
    return found[1].decode() if found is not None else None


def room_of_target(target: str) -> str:
    """Return the room whose address the target of a request is, empty for any other target."""
    found = _TARGET.fullmatch(target)
    return found[1] if found is not None else ""


def preferred_process(room: str, processes: Iterable[str]) -> str:
    """Return the one of `processes` that serves a room by preference (rendezvous hashing).

    Everybody who knows the same processes gets the same answer. When a process ends, only its rooms move. Raises
    ValueError without any process.
    """
    return max(processes, key=lambda process: blake2b(f"{process} {room}".encode(), digest_size=8).digest())
