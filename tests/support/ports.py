"""Ports for programs that cannot take any free one by themselves."""

import os
import secrets
import socket

LOWEST, HIGHEST = 20_000, 32_000
"""Below the range from which the system assigns ports by itself, so no other program gets one of these by chance."""

WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
WORKERS = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))

_given: set[int] = set()


def free_port() -> int:
    """Return a port that was free a moment ago, and that no other call in this run of the tests returns.

    A test asks for several ports before any program listens there. The same one twice gave nginx one address for
    HTTP and HTTPS.

    Raises RuntimeError when all ports of this process were returned.
    """
    ports = range(LOWEST + WORKER, HIGHEST, WORKERS)
    while len(_given) < len(ports):
        port = secrets.choice(ports)
        if port in _given:
            continue
        _given.add(port)
        with socket.socket() as held:
            try:
                held.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port
    raise RuntimeError(f"all {len(ports)} ports of this process were returned once")
