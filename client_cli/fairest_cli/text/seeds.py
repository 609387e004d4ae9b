"""The seed of a deal that is played or looked at offline: read from what was typed, or new."""

import hashlib
import re
import secrets


def read_seed(text: str) -> bytes:
    """Return the seed for a typed text: the bytes of 64 hexadecimal digits, or the SHA-256 of any other text."""
    if re.fullmatch(r"[0-9a-fA-F]{64}", text):
        return bytes.fromhex(text)
    return hashlib.sha256(text.encode()).digest()


def new_seed() -> str:
    """Return a random seed that is short enough to type again, as `read_seed` takes it."""
    return secrets.token_hex(4)
