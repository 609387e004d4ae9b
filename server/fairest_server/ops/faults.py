"""Containment of unexpected exceptions: the traceback is logged, and the task that serves all rooms goes on."""

from collections.abc import Iterator
from contextlib import contextmanager

import structlog

from fairest_server.ops import metrics

_LOG = structlog.get_logger(__name__)


@contextmanager
def contained(what: str, **where: object) -> Iterator[None]:
    """Log an exception from the block with its traceback, and suppress it. CancelledError passes through."""
    try:
        yield
    except Exception as fault:
        report(what, fault, **where)


def report(what: str, fault: Exception, **where: object) -> None:
    """Log an unexpected exception with its traceback and with `where`, and count it under `what`."""
    metrics.FAULTS.labels(what).inc()
    _LOG.error(f"fault in {what}", exc_info=fault, **where)
