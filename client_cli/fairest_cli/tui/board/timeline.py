"""The moments of a match in order, and a place among them: a replay, or a race that is being watched. Pure."""

from collections.abc import Sequence
from typing import Final

from fairest_cli.model.known_room import KnownRoom
from fairest_cli.session.progress import count_of
from fairest_cli.text.replay import all_steps, describe_event
from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.record import Record
from fairest_protocol.calculation.round import Outcome
from fairest_protocol.value import Value, replace

SPEEDS: Final = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
LONGEST_WAIT_MS: Final = 3000
"""Nobody wants to watch somebody think for longer, at any speed."""


class Moment(Value):
    """Both boards at one time of a round, the cards placed as far as that is known, and what had just happened."""

    at_ms: int
    label: str
    boards: tuple[Board | None, Board | None]
    counts: tuple[int, int]
    round_number: int = 1
    outcome: Outcome | None = None


class Timeline(Value):
    """Moments, the one that is shown, and whether and how fast it goes on. A live reel grows while it is watched."""

    moments: tuple[Moment, ...] = ()
    place: int = 0
    is_playing: bool = False
    speed: float = 1.0
    is_live: bool = False

    @property
    def shown(self) -> Moment | None:
        """The moment on the screen."""
        return self.moments[self.place] if self.moments else None

    @property
    def is_at_end(self) -> bool:
        """Whether nothing comes behind what is shown."""
        return self.place >= len(self.moments) - 1

    def grown(self, moment: Moment) -> "Timeline":
        """With one more moment; who watched the newest one goes on watching the newest."""
        moments = (*self.moments, moment)
        return replace(self, moments=moments, place=len(moments) - 1 if self.is_at_end else self.place)

    def corrected(self, counts: tuple[int, int]) -> "Timeline":
        """The newest moment with newer counts: a tick has told them, and nothing else has happened."""
        if not self.moments:
            return self
        return replace(self, moments=(*self.moments[:-1], replace(self.moments[-1], counts=counts)))

    def stepped(self, steps: int) -> "Timeline":
        """So many moments on, or back; who steps wants to look, so it stops playing."""
        return replace(self._at(self.place + steps), is_playing=False)

    def sought(self, fraction: float) -> "Timeline":
        """At this part of the whole, from 0 to 1."""
        return self._at(round(fraction * (len(self.moments) - 1)))

    def toggled(self) -> "Timeline":
        """Play, or pause; playing at the end starts again from the beginning, if nothing more is to come."""
        if not self.is_playing and self.is_at_end and not self.is_live:
            return replace(self, place=0, is_playing=True)
        return replace(self, is_playing=not self.is_playing)

    def at_speed(self, faster: int) -> "Timeline":
        """So many steps faster, or slower."""
        number = max(0, min(len(SPEEDS) - 1, SPEEDS.index(self.speed) + faster))
        return replace(self, speed=SPEEDS[number])

    def played(self) -> "Timeline":
        """The next moment, its time having come; at the end it stops."""
        moved = self._at(self.place + 1)
        return replace(moved, is_playing=not moved.is_at_end)

    def wait_ms(self) -> int:
        """How long the shown moment stays while playing."""
        if self.is_at_end:
            return 0
        gap_ms = self.moments[self.place + 1].at_ms - self.moments[self.place].at_ms
        return round(max(0, min(gap_ms, LONGEST_WAIT_MS)) / self.speed)

    def _at(self, place: int) -> "Timeline":
        return replace(self, place=max(0, min(place, len(self.moments) - 1)))


def timeline_of(record: Record) -> Timeline:
    """Everything that happened in a match. Raises `BadRecord`."""
    moments = []
    for step in all_steps(record):
        first, second = (racer.board for racer in step.race.racers)
        at_ms = 0 if step.event is None else step.event.at_ms
        outcome = step.race.outcome() if step.race.is_over else None
        counts = first.placed, second.placed
        label = describe_event(record, step)
        moments.append(Moment(at_ms, label, (first, second), counts, step.round_number + 1, outcome))
    return Timeline(tuple(moments))


def moment_of(model: KnownRoom, label: Sequence[str], at_ms: int) -> Moment | None:
    """What a spectator is shown now: both boards as far as both players have come."""
    scene = model.scene
    if scene is None:
        return None
    first, second = scene.seats
    counts = count_of(model, 0), count_of(model, 1)
    return Moment(at_ms, " ".join(label), (first.board, second.board), counts, scene.round_number, scene.outcome)
