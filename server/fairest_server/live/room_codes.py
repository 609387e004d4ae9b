"""Codes of rooms: three words that are easy to say on the telephone (docs/decisions/0007-room-codes.md)."""

import secrets
from typing import Any, Final, cast

from coolname import RandomGenerator
from coolname.data import config

from fairest_server.store.log import Log

_GENERATOR: Final = RandomGenerator(cast("Any", config), rand=secrets.SystemRandom())


def draw_code() -> str:
    """Draw a code from the system's random source, without phrases like "of bliss". It may be taken already."""
    code = _GENERATOR.generate_slug(3)
    while "of" in code.split("-"):
        code = _GENERATOR.generate_slug(3)
    return code


async def draw_free_code(log: Log) -> str:
    """Draw a code of which there is no room. Raises RedisError."""
    while True:
        code = draw_code()
        if not await log.exists(code):
            return code
