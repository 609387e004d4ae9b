"""Ports for programs that cannot take any free one by themselves."""

import os
import secrets
import socket

LOWEST, HIGHEST = 24_000, 32_000
"""Below the range from which the system assigns ports by itself, so no other program gets one of these by chance.
Above those of a Redis Cluster (tests/support/redis_cluster.py)."""

WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
WORKERS = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))

_given: set[int] = set()


def free_port() -> int:
    """Return a port that was free a moment ago, and that no other call in this run of the tests returns."""
    return free_ports(1)[0]


def free_ports(count: int) -> range:
    """Return `count` adjacent ports that were free a moment ago, and that no other call in this run returns.

    A test asks for several ports before any program listens there. The same one twice gave nginx one address for
    HTTP and HTTPS. A server with several workers takes the admin port that it is given and those above it: when only
    the first was reserved, a program of another test had the second.

    Raises RuntimeError when too few ports of this process are left.
    """
    share = (HIGHEST - LOWEST) // WORKERS
    own = range(LOWEST + WORKER * share, LOWEST + (WORKER + 1) * share)
    starts = [port for port in own[: share - count + 1] if _given.isdisjoint(range(port, port + count))]
    while starts:
        ports = range(start := starts.pop(secrets.randbelow(len(starts))), start + count)
        if all(_is_free(port) for port in ports):
            _given.update(ports)
            return ports
    raise RuntimeError(f"of the {share} ports of this process no {count} adjacent ones are left")


def _is_free(port: int) -> bool:
    with socket.socket() as held:
        try:
            held.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
