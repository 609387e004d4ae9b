"""Codes of rooms: three words, easy to say on the telephone (docs/decisions/0007-room-codes.md)."""

import secrets
from typing import Any, Final, cast

from coolname import RandomGenerator
from coolname.data import config

_GENERATOR: Final = RandomGenerator(cast("Any", config), rand=secrets.SystemRandom())


def draw_code() -> str:
    """A code from the system's random source, without phrases like "of bliss". Somebody may have it already."""
    code = _GENERATOR.generate_slug(3)
    while "of" in code.split("-"):
        code = _GENERATOR.generate_slug(3)
    return code
