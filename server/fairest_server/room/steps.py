"""Entries of a room's log, and the steps made by folding them: each event between two states."""

from collections.abc import Sequence
from typing import Final

from fairest_protocol.calculation.sliced import Sliced, finish
from fairest_protocol.value import Value
from fairest_server.room.events import Checkpoint, Event
from fairest_server.room.evolve import evolve
from fairest_server.room.state import RoomState

STEPS_IN_SLICE: Final = 32
"""A step takes 3 us, and the deal of a round 100 us."""


class LogEntry(Value):
    """One event in a log, with its index from 1, the tag of its append, and Redis' time stamp."""

    index: int
    tag: str
    at_ms: int
    event: Event


class LogSlice(Value):
    """Consecutive entries of a log, and the tag of the entry before them: empty at the beginning of the log."""

    after_tag: str
    entries: Sequence[LogEntry]

    def continues(self, index: int, tag: str) -> bool:
        """Return whether a log that ends with the entry of this index and tag can go on with this slice.

        It can if the slice holds that entry, begins right after it, or has only older entries; the caller skips the
        entries that it knows. If it cannot, entries are missing in between, or the log has lost its tail.
        """
        if not self.entries:
            return True
        known = index - self.entries[0].index
        if known < 0:
            return known == -1 and self.after_tag == tag
        return known >= len(self.entries) or self.entries[known].tag == tag


class Step(Value):
    """One event of the log with its time stamp and tag, the state before it (None for the first), and the one after."""

    before: RoomState | None
    event: Event
    at_ms: int
    after: RoomState
    tag: str


def folding(entries: Sequence[LogEntry], before: RoomState | None = None) -> Sliced[list[Step]]:
    """Return consecutive entries as steps. `before` is the state before the first one.

    It is None for a whole log, and for one that was cut: see `from_checkpoint`.
    """
    steps: list[Step] = []
    for entry in entries:
        after = evolve(before, entry.event, entry.at_ms)
        steps.append(Step(before, entry.event, entry.at_ms, after, entry.tag))
        before = after
        if len(steps) % STEPS_IN_SLICE == 0:
            yield
    return steps


def fold(entries: Sequence[LogEntry], before: RoomState | None = None) -> list[Step]:
    """Return consecutive entries as steps, as `folding` does, at once."""
    return finish(folding(entries, before))


def from_checkpoint(entries: Sequence[LogEntry]) -> Sequence[LogEntry]:
    """Return the entries of a log from its last checkpoint on; all of them if there is none.

    A few entries before the checkpoint are kept for processes that have not read it yet, and nothing follows from them.
    """
    for place in reversed(range(len(entries))):
        if isinstance(entries[place].event, Checkpoint):
            return entries[place:]
    return entries
