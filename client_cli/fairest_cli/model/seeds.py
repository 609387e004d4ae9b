"""The seed of a deal that is played or looked at offline: read from what was typed, or new."""

import hashlib
import re
import secrets
from datetime import date

from fairest_protocol.calculation.rules import Rules


def read_seed(text: str) -> bytes:
    """Return the seed for a typed text: the bytes of 64 hexadecimal digits, or the SHA-256 of any other text."""
    if re.fullmatch(r"[0-9a-fA-F]{64}", text):
        return bytes.fromhex(text)
    return hashlib.sha256(text.encode()).digest()


def new_seed() -> str:
    """Return a random seed that is short enough to type again, as `read_seed` takes it."""
    return secrets.token_hex(4)


def daily_seed(rules: Rules, day: date) -> str:
    """Return the seed of the training deal of this day, in UTC: the same text for everybody, for each variant another.

    It is no sealed deal: anybody can look at it before, and at the deals of all days to come.
    """
    return f"daily {day.isoformat()} {rules.name}"
