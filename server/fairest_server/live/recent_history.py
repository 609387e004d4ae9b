"""The history of a room, kept for a moment after its log was read."""

from collections.abc import Sequence
from typing import Final
from weakref import ref

from fairest_server.live.spectator_fanout import Later
from fairest_server.room.projection import StepHistory
from fairest_server.room.steps import Step

HISTORY_SECONDS: Final = 3.0
"""All players of a killed server reconnect within about this time; then the memory is better used."""


class RecentHistory:
    """All steps of a room, for HISTORY_SECONDS: the players and spectators who reconnect together share one read.

    `steps` is None most of the time: a thousand histories are a million objects.
    """

    __slots__ = ("_later", "steps")

    def __init__(self, later: Later) -> None:
        self._later = later
        self.steps: StepHistory | None = None

    def keep(self, steps: list[Step]) -> None:
        """Keep the steps up to the present state of the room."""
        self.steps = StepHistory(steps)
        # By a weak reference: a history that is dropped earlier is not kept alive by its timer.
        kept = ref(self.steps)
        self._later(HISTORY_SECONDS, lambda: self._expire(kept()))

    def extend(self, steps: Sequence[Step], *, is_complete: bool) -> None:
        """Add steps to the history while there is one; forget it if both players are here, who need none."""
        if self.steps is None:
            return
        if is_complete:
            self.drop()
        else:
            self.steps.extend(steps)

    def drop(self) -> None:
        """Forget the history: the next read brings it back."""
        self.steps = None

    def _expire(self, kept: StepHistory | None) -> None:
        """Forget this history, unless the log was read again meanwhile."""
        if self.steps is kept:
            self.steps = None
