"""The standard input of a process that another one has started: its end, and the deaths that a supervisor reports."""

import asyncio
import os
import sys
from collections.abc import Callable

from fairest_server.ops import metrics


def read_input(stop: Callable[[], None]) -> None:
    """Read standard input, which has something to read or has ended; its end means that the other process has ended.

    Then this calls `stop`. Each byte before the end is a death of the embedded engine, which is counted.
    """
    reported = os.read(sys.stdin.fileno(), 1024)
    metrics.ENGINE_DEATHS.inc(len(reported))
    if not reported:
        asyncio.get_running_loop().remove_reader(sys.stdin.fileno())
        stop()
