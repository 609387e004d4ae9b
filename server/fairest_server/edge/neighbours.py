"""The processes that share a port, which find each other by their sockets in a folder."""

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from fairest_server.edge.room_address import preferred_process

LEFT_OUT_SECONDS: Final = 5.0
"""The time for which a process that did not take a socket is given none."""
_FRESH_NS: Final = 100_000_000
"""A folder that changed less than this before it was listed is listed again: two changes within one tick of the
system's clock have the same time stamp.
"""


class Neighbours:
    """The processes that share a port, this one among them. Each has a Unix socket in the folder, named by its id."""

    def __init__(self, folder: Path, process_id: str, monotonic: Callable[[], float] = time.monotonic) -> None:
        self.process_id: Final = process_id
        self._folder = folder
        self._monotonic = monotonic
        self._listed: frozenset[str] = frozenset()
        self._listed_ns = 0
        self._changed_ns = 0
        self._left_out: dict[str, float] = {}
        """Processes that did not take a socket, and when they may be given one again, by the monotonic clock."""

    def path_of(self, process_id: str) -> Path:
        """Return the socket of a process."""
        return self._folder / process_id

    @property
    def known(self) -> frozenset[str]:
        """The processes that had a socket when the folder was listed last."""
        return self._listed

    def serving(self, room: str) -> str:
        """Return the process that serves a room: the preferred one of those that live and answer."""
        living = self._living()
        if self._left_out:
            now = self._monotonic()
            self._left_out = {each: until for each, until in self._left_out.items() if until > now}
            living -= self._left_out.keys()
        return preferred_process(room, living | {self.process_id})

    def leave_out(self, process_id: str) -> None:
        """Give a process no sockets for LEFT_OUT_SECONDS, since it did not take one."""
        self._left_out[process_id] = self._monotonic() + LEFT_OUT_SECONDS

    def forget(self, process_id: str) -> None:
        """Remove the socket of a process that has ended, as one that was killed leaves it behind."""
        with suppress(OSError):
            self.path_of(process_id).unlink(missing_ok=True)
        self._listed -= {process_id}

    def leave(self) -> None:
        """Remove the socket of this process, and the folder with the last one."""
        self.forget(self.process_id)
        with suppress(OSError):
            # The supervisor does this too, unless it was killed.
            self._folder.rmdir()

    def _living(self) -> frozenset[str]:
        """Return the processes that have a socket; the folder is listed only when it has changed."""
        try:
            changed_ns = self._folder.stat().st_mtime_ns
            if changed_ns != self._changed_ns or self._listed_ns - changed_ns < _FRESH_NS:
                self._listed_ns, self._changed_ns = time.time_ns(), changed_ns
                self._listed = frozenset(path.name for path in self._folder.iterdir())
        except OSError:
            self._listed = frozenset()
        return self._listed
