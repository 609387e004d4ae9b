"""The end of a process that waits in vain, and of the processes that must not outlive it."""

import os
from asyncio.subprocess import Process

import structlog

from fairest_server.ops.events import Event

_CHILDREN: set[Process] = set()
_LOG = structlog.get_logger(__name__)


def add_child(process: Process) -> None:
    """Kill `process` when this one gives up waiting, unless it has ended by then."""
    _CHILDREN.difference_update({each for each in _CHILDREN if each.returncode is not None})
    _CHILDREN.add(process)


def give_up_waiting() -> None:
    """End this process and its children, since Redis or the network hangs. An engine loses nothing acknowledged."""
    _LOG.warning(Event.STOPPED_LATE)
    for process in _CHILDREN:
        if process.returncode is None:
            process.kill()
    os._exit(1)
