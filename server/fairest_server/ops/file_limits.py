"""Open files: every connection is one, and a system allows a process no more than 1,024 until it asks for more."""

import resource
from typing import Final

OTHERS: Final = 100
"""What a server has open beside its clients: Redis, logs, listening sockets, and some to spare."""


def raise_open_file_limit(count: int) -> int:
    """Ask the system for as many open files as so many connections need; returns how many connections it allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = count + OTHERS
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        soft = wanted
    return count if soft == resource.RLIM_INFINITY else min(count, soft - OTHERS)
