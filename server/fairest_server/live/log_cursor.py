"""The position of a live room in its log, and later entries that have arrived already. It reads and appends nothing."""

from collections.abc import Sequence

from fairest_server.room.events import Checkpoint
from fairest_server.room.steps import LogEntry, LogSlice, Step


class LogCursor:
    """The last entry of a room's log that this process has taken: `index` from 1, and its `tag`.

    A log that lost its tail may grow past the same index again. The tag, which is random for each append, tells the two
    apart: an entry follows only if the one before it has the expected tag.
    """

    __slots__ = ("_read_from", "buffered", "cut_tried_at", "index", "is_uncertain", "just_read", "start", "tag")

    def __init__(self) -> None:
        self.index = 0
        self.tag = ""
        self.start = 1
        """The index from which the log is read: that of its last checkpoint, or of its first entry."""
        self.cut_tried_at = 0
        """The index at which this process has last tried to cut the log."""
        self.is_uncertain = False
        """Whether Redis was silent, or left an append or a read unanswered: the log is read before a decision."""
        self.just_read = False
        """Whether the log was read for what is decided at the next poll, so that a refusal may rest on it."""
        self._read_from = (0, "")
        self.buffered: list[LogSlice] = []
        """Slices that arrived while an append is in flight.

        Each may hold our own entries, which came back before the answer, or another process' before or after them:
        which of these it is shows when the answer is there.
        """

    @property
    def end(self) -> tuple[int, str]:
        """Index and tag of the last entry taken; 0 and empty before the first."""
        return self.index, self.tag

    @property
    def length(self) -> int:
        """The number of entries that a reader of the log has to read."""
        return self.index - self.start + 1

    def note_checkpoint(self, steps: Sequence[Step]) -> None:
        """Read the log from a checkpoint on, if these steps, which follow the last entry taken, hold one."""
        for index, step in enumerate(steps, self.index + 1):
            if isinstance(step.event, Checkpoint):
                self.start = index

    def start_reading(self) -> int:
        """Remember from where the log is read; return the index after which to read.

        The last entry taken is read again, since its tag shows whether the log still holds it.
        """
        self._read_from = self.end
        return max(0, self.index - 1)

    def holds_last_entry(self, entries: Sequence[LogEntry]) -> bool:
        """Return whether a read since `start_reading` found, under its tag, the entry that was the last one then.

        If not, the log has lost its tail, or is that of another room, and this process' copy is worthless.
        """
        index, tag = self._read_from
        if not index:
            return True
        # A conflict comes with all events of the append that holds it.
        return any(entry.index == index and entry.tag == tag for entry in entries)

    def new_entries(self, log_slice: LogSlice) -> list[LogEntry] | None:
        """Return the entries of a slice after the last one taken; None if the slice leaves a gap or does not fit."""
        if not log_slice.continues(self.index, self.tag):
            return None
        return [entry for entry in log_slice.entries if entry.index > self.index]

    def buffer(self, log_slice: LogSlice) -> None:
        """Keep a slice until the append in flight is answered."""
        self.buffered.append(log_slice)

    def take_buffered(self) -> list[LogSlice]:
        """Remove and return the slices that were kept, in the order of their arrival."""
        buffered, self.buffered = self.buffered, []
        return buffered
