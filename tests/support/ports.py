"""Ports for programs that cannot take any free one by themselves."""

import secrets
import socket

LOWEST, HIGHEST = 20_000, 32_000
"""Below the ports that the system gives to who asks for any, and to connections: nobody takes one by chance."""


def free_port() -> int:
    """A port that was free a moment ago."""
    while True:
        port = LOWEST + secrets.randbelow(HIGHEST - LOWEST)
        with socket.socket() as held:
            try:
                held.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port
