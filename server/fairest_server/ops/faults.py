"""Containment of unexpected exceptions: the traceback is logged, and the task that serves all rooms goes on."""

from collections.abc import Iterator
from contextlib import contextmanager

import structlog

from fairest_server.ops import metrics
from fairest_server.ops.events import Event
from fairest_server.ops.metrics import Part

_LOG = structlog.get_logger(__name__)


@contextmanager
def contained(part: Part, **where: object) -> Iterator[None]:
    """Log an exception from the block with its traceback, and suppress it. CancelledError passes through."""
    try:
        yield
    except Exception as fault:
        report(part, fault, **where)


def report(part: Part, fault: Exception, **where: object) -> None:
    """Log an unexpected exception with its traceback and with `where`, and count it under `part`."""
    metrics.FAULTS.labels(part).inc()
    _LOG.error(Event.FAULT, part=part, exc_info=fault, **where)
