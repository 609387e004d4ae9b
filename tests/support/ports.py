"""Ports for programs that cannot take any free one by themselves."""

import secrets
import socket

LOWEST, HIGHEST = 20_000, 32_000
"""Below the range from which the system assigns ports by itself, so no other program gets one of these by chance."""


def free_port() -> int:
    """Return a port that was free a moment ago."""
    while True:
        port = LOWEST + secrets.randbelow(HIGHEST - LOWEST)
        with socket.socket() as held:
            try:
                held.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port
