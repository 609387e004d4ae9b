"""The moments of a match in order, and the one that is shown: for a replay, and for a race that is watched. Pure."""

from typing import Final

from fairest_cli.model.known_room import KnownRoom
from fairest_cli.session.progress import count_of
from fairest_cli.text.replay import all_steps, describe_event
from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.race import Outcome
from fairest_protocol.calculation.record import Record
from fairest_protocol.value import Value, replace

SPEEDS: Final = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
LONGEST_WAIT_MS: Final = 3000
"""The longest time that a moment stays at normal speed: a replay does not wait for a player who thinks longer."""
SHORTEST_WAIT_MS: Final = 20
"""The shortest time that a moment stays, at any speed: a timer without a wait ends with an error of Textual."""


class Moment(Value):
    """Both boards at one time of a round, the cards that each player is known to have placed, and what just happened.

    A board is None before the deal. `counts` may be ahead of `boards` in a race that is watched.
    """

    at_ms: int
    label: str
    boards: tuple[Board | None, Board | None]
    counts: tuple[int, int]
    round_number: int = 1
    outcome: Outcome | None = None


class Timeline(Value):
    """Moments, the index of the one that is shown, and whether and how fast it plays. A live timeline still grows."""

    moments: tuple[Moment, ...] = ()
    index: int = 0
    is_playing: bool = False
    speed: float = 1.0
    is_live: bool = False

    @property
    def shown(self) -> Moment | None:
        """The moment that is shown, or None if there is none yet."""
        return self.moments[self.index] if self.moments else None

    @property
    def is_at_end(self) -> bool:
        """Whether the newest moment is shown."""
        return self.index >= len(self.moments) - 1

    def appended(self, moment: Moment) -> "Timeline":
        """Return the timeline with one more moment, which is shown if the newest one was shown before."""
        moments = (*self.moments, moment)
        return replace(self, moments=moments, index=len(moments) - 1 if self.is_at_end else self.index)

    def with_counts(self, counts: tuple[int, int]) -> "Timeline":
        """Return the timeline with newer counts in its newest moment: they come alone, every few seconds."""
        if not self.moments:
            return self
        return replace(self, moments=(*self.moments[:-1], replace(self.moments[-1], counts=counts)))

    def stepped(self, steps: int) -> "Timeline":
        """Return the timeline `steps` moments later, or earlier if negative, and paused: the player wants to look."""
        return replace(self._at(self.index + steps), is_playing=False)

    def sought(self, fraction: float) -> "Timeline":
        """Return the timeline at `fraction` of its moments, from 0 to 1."""
        return self._at(round(fraction * (len(self.moments) - 1)))

    def toggled(self) -> "Timeline":
        """Return the timeline playing if it was paused, and paused if it played. At the end, a replay starts again."""
        if not self.is_playing and self.is_at_end and not self.is_live:
            return replace(self, index=0, is_playing=True)
        return replace(self, is_playing=not self.is_playing)

    def at_speed(self, steps: int) -> "Timeline":
        """Return the timeline `steps` entries of `SPEEDS` faster, or slower if negative."""
        number = max(0, min(len(SPEEDS) - 1, SPEEDS.index(self.speed) + steps))
        return replace(self, speed=SPEEDS[number])

    def advanced(self) -> "Timeline":
        """Return the timeline at the next moment while it plays; at the last one it stops."""
        moved = self._at(self.index + 1)
        return replace(moved, is_playing=not moved.is_at_end)

    def wait_ms(self) -> int:
        """Return how long the shown moment stays while playing, in milliseconds.

        Moments may have the same time, as a bot's do that finishes at once, or an earlier one in the next round.
        """
        if self.is_at_end:
            return SHORTEST_WAIT_MS
        gap_ms = self.moments[self.index + 1].at_ms - self.moments[self.index].at_ms
        return max(SHORTEST_WAIT_MS, round(min(gap_ms, LONGEST_WAIT_MS) / self.speed))

    def _at(self, index: int) -> "Timeline":
        return replace(self, index=max(0, min(index, len(self.moments) - 1)))


def timeline_of(record: Record) -> Timeline:
    """Return all moments of a match. Raises `BadRecord`."""
    moments = []
    for step in all_steps(record):
        first, second = (racer.board for racer in step.race.racers)
        at_ms = (step.event.at_ms or 0) if step.event else 0
        outcome = step.race.outcome() if step.race.is_over else None
        counts = first.placed, second.placed
        label = describe_event(record, step)
        moments.append(Moment(at_ms, label, (first, second), counts, step.round_number + 1, outcome))
    return Timeline(tuple(moments))


def moment_of(model: KnownRoom, label: str, at_ms: int) -> Moment | None:
    """Return both boards as far as the server shows them now, or None outside of a room."""
    scene = model.scene
    if scene is None:
        return None
    first, second = scene.seats
    counts = count_of(model, 0), count_of(model, 1)
    return Moment(at_ms, label, (first.board, second.board), counts, scene.round_number, scene.outcome)
