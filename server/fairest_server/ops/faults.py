"""Faults of ours, contained: what serves all rooms goes on, and the traceback says where it happened."""

from collections.abc import Iterator
from contextlib import contextmanager

import structlog

from fairest_server.ops import metrics

_LOG = structlog.get_logger(__name__)


@contextmanager
def contained(what: str, **where: object) -> Iterator[None]:
    """Whatever goes wrong inside is logged, with its traceback, and ends here. Cancelling passes through."""
    try:
        yield
    except Exception as fault:
        report(what, fault, **where)


def report(what: str, fault: Exception, **where: object) -> None:
    """Log a fault with its traceback, and count it."""
    metrics.FAULTS.labels(what).inc()
    _LOG.error(f"fault in {what}", exc_info=fault, **where)
