"""Codes of rooms: three words that are easy to say on the telephone (docs/decisions/0007-room-codes.md)."""

import secrets
from collections.abc import Callable
from typing import Any, Final, cast

from coolname import RandomGenerator
from coolname.data import config

from fairest_server.store.log import Log

PREFERRED_DRAWS: Final = 256
"""Of 64 processes, one draws a code of its own within these in 98 of 100 cases."""
_GENERATOR: Final = RandomGenerator(cast("Any", config), rand=secrets.SystemRandom())


def draw_code() -> str:
    """Draw a code from the system's random source, without phrases like "of bliss". It may be taken already."""
    code = _GENERATOR.generate_slug(3)
    while "of" in code.split("-"):
        code = _GENERATOR.generate_slug(3)
    return code


def is_any_room(_: str) -> bool:
    """Return True: this process serves every room."""
    return True


async def draw_free_code(log: Log, is_served_here: Callable[[str], bool] = is_any_room) -> str:
    """Draw a code of which there is no room, by preference one that this process serves. Raises RedisError.

    The player that opens the room is on this process already, and the other one, who asks for the room's address, comes
    to it. Of four processes, each serves every fourth code.
    """
    while True:
        for _ in range(PREFERRED_DRAWS):
            code = draw_code()
            if is_served_here(code):
                break
        if not await log.exists(code):
            return code
