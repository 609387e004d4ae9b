"""The drain of this process: it takes no new clients, and ends when the races of its players have ended."""

import asyncio
from collections.abc import Callable

import structlog

from fairest_server.ops.events import Event

_LOG = structlog.get_logger(__name__)


def _ignore() -> None:
    """Do nothing, for a process that nothing waits for."""


class Drain:
    """Whether this process drains, and until when. It never serves again once it does."""

    def __init__(self, on_start: Callable[[], None] = _ignore, on_end: Callable[[], None] = _ignore) -> None:
        """`on_start` is called when the drain starts; `on_end` ends the process."""
        self.requested = asyncio.Event()
        """Set when the operator asks for the drain."""
        self._deadline = float("inf")
        self._on_start = on_start
        self._on_end = on_end

    @property
    def is_draining(self) -> bool:
        """Whether the process drains."""
        return self.requested.is_set()

    @property
    def is_overdue(self) -> bool:
        """Whether the operator does not want to wait for the remaining races."""
        return asyncio.get_running_loop().time() >= self._deadline

    def request(self, within_seconds: int | None) -> None:
        """Start the drain; end after `within_seconds` even if races go on. A later request may shorten that time."""
        if within_seconds is not None:
            self._deadline = min(self._deadline, asyncio.get_running_loop().time() + within_seconds)
        if not self.is_draining:
            _LOG.info(Event.DRAINING, within_seconds=within_seconds)
            self.requested.set()
            self._on_start()

    def finish(self) -> None:
        """End the process."""
        _LOG.info(Event.DRAINED)
        self._on_end()
