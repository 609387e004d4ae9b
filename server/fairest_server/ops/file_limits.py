"""The limit of open files: each connection is one file, and a process may have 1,024 unless it asks for more."""

from typing import Final

try:
    import resource
except ImportError:  # Windows, where connections are not files
    resource = None  # type: ignore[assignment]

OTHERS: Final = 100
"""Files that a server has open besides its connections: Redis, logs, listening sockets, and some to spare."""


def raise_open_file_limit(count: int) -> int:
    """Raise the limit of open files to what `count` connections need; return how many connections the system allows."""
    if resource is None:
        return count
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = count + OTHERS
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        soft = wanted
    return count if soft == resource.RLIM_INFINITY else min(count, soft - OTHERS)
