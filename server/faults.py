"""Faults of ours, contained: what serves all rooms goes on, and the traceback says where it happened."""

from types import TracebackType

import structlog

from server import metrics

_LOG = structlog.get_logger(__name__)


class contained:  # noqa: N801 - it is used as a function, and stands round every answer of the log
    """Whatever goes wrong inside is logged, with its traceback, and ends here. Cancelling passes through."""

    def __init__(self, what: str, **where: object) -> None:
        self._what = what
        self._where = where

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, _: TracebackType | None) -> bool:
        if not isinstance(fault, Exception):
            return False
        metrics.FAULTS.labels(self._what).inc()
        _LOG.exception(f"fault in {self._what}", **self._where)
        return True
