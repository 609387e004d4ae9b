"""Entries of a room's log, and the steps that they are once they are folded: each event between two states."""

from collections.abc import Sequence

from fairest_protocol.value import Value
from fairest_server.room.events import Event
from fairest_server.room.evolve import evolve
from fairest_server.room.state import RoomState


class LogEntry(Value):
    """One event as it stands in a log: its index from 1, its append's tag, Redis' time stamp."""

    index: int
    tag: str
    at_ms: int
    event: Event


class LogSlice(Value):
    """Entries that stand together in a log, and the tag of the entry before them: empty at the beginning."""

    after_tag: str
    entries: Sequence[LogEntry]

    def continues(self, index: int, tag: str) -> bool:
        """Whether these entries, as far as they are newer than the one with this index and tag, stand behind it."""
        if not self.entries:
            return True
        known = index - self.entries[0].index
        if known < 0:
            return known == -1 and self.after_tag == tag
        return known >= len(self.entries) or self.entries[known].tag == tag


class Step(Value):
    """One event of the log: the state before it, the event, the log's time stamp and tag, and the state after it."""

    before: RoomState | None
    event: Event
    at_ms: int
    after: RoomState
    tag: str


def fold(entries: Sequence[LogEntry], before: RoomState | None = None) -> list[Step]:
    """Entries that follow each other as steps, from this state on; a whole log from its first entry on."""
    steps: list[Step] = []
    for entry in entries:
        after = evolve(before, entry.event, entry.at_ms)
        steps.append(Step(before, entry.event, entry.at_ms, after, entry.tag))
        before = after
    return steps
