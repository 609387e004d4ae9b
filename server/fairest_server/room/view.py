"""The horizon rule: which entries of a room one viewer may see, and when. Nothing about a round leaves another way.

    Nobody sees a decision before every player still racing has gone past the turn at which it was made, nor a card
    before every player still racing has turned it.

A `View` holds back the entries that its viewer may not see yet, releases them as the horizon moves, and numbers the
entries it shows. It is a pure function of the log, so the numbers are the same in every process.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from fairest_protocol.calculation.race import Ending, OpensAt
from fairest_protocol.messages.entries import Entry
from fairest_protocol.messages.fast_encoding import decode_entry
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.options import Spectators
from fairest_protocol.messages.scene import Scene
from fairest_server.room.events import Checkpoint, Played
from fairest_server.room.projection import ProjectedStep, StepHistory, project
from fairest_server.room.state import RoomState, dealt_race
from fairest_server.room.steps import Step


class ViewCursor(NamedTuple):
    """How far a viewer has seen: a position in its view, and the log's tag of the step that showed it.

    A log that has lost its tail may reach the same position again, but then with another tag.
    """

    position: int = 0
    tag: str = ""


ORIGIN: Final = ViewCursor()
"""The cursor of a viewer that has seen nothing."""

_Held = tuple[int, OpensAt, bytes]
"""An entry held back: its number among all entries held back so far, when it opens, and its text. Sorts by number."""


@dataclass(slots=True)
class View:
    """How far one viewer has seen: a seat (0 or 1), or with None a spectator.

    `sees_all`: a spectator of an open room, from whom nothing is held back. `position` is the number of entries shown,
    `tag` that of the step that showed the last of them. `_held` has a queue for each seat whose entries are held back.
    """

    viewer: int | None
    sees_all: bool = False
    position: int = 0
    tag: str = ""
    _held: tuple[list[_Held], list[_Held]] = field(default_factory=lambda: ([], []))
    _held_count: int = 0

    def reveal(self, *steps: ProjectedStep) -> list[bytes]:
        """Advance over these steps; return the texts of the entries that the viewer is shown with them, in order."""
        shown: list[bytes] = []
        for each in steps:
            count = len(shown)
            for item in each.entries:
                if item.opens_at is None:
                    self._release(each.horizon, shown)
                    shown.append(item.text)
                elif item.seat == self.viewer or self.sees_all:
                    shown.append(item.text)
                else:
                    self._held_count += 1
                    self._held[item.seat].append((self._held_count, item.opens_at, item.text))
            if self._held[0] or self._held[1]:
                self._release(each.horizon, shown)
            if len(shown) > count:
                self.tag = each.step.tag
        self.position += len(shown)
        return shown

    @property
    def cursor(self) -> ViewCursor:
        """The position and the tag of the last entry shown."""
        return ViewCursor(self.position, self.tag)

    def fast_forward(self, history: StepHistory, index: int) -> None:
        """Bring a fresh view to where it stands after the step with this index, without replaying all steps before it.

        Only the newest entries of each hidden seat can still be held back. So scan backwards, for each seat up to its
        first entry that is open.
        """
        waiting: list[tuple[int, OpensAt, bytes]] = []
        hidden = set() if self.sees_all else {0, 1} - {self.viewer}
        horizon = history.project(index).horizon
        for earlier in reversed(range(index + 1)):
            step = history.steps[earlier]
            event, race = step.event, step.after.race
            if not hidden or horizon is None or race is None:
                # The entries before this race are open to everybody.
                break
            if not isinstance(event, Played) or event.seat not in hidden:
                continue
            for item in reversed(history.project(earlier).entries):
                if item.opens_at is None:
                    continue
                if item.opens_at <= horizon:
                    hidden.discard(event.seat)
                else:
                    waiting.append((event.seat, item.opens_at, item.text))
        for number, (seat, opens_at, text) in enumerate(reversed(waiting), 1):
            self._held[seat].append((number, opens_at, text))
        self._held_count = len(waiting)
        step = history.steps[index]
        self.position = history.count(index) - len(waiting)
        self.tag = step.event.tag if isinstance(step.event, Checkpoint) else step.tag

    def _release(self, horizon: OpensAt | None, shown: list[bytes]) -> None:
        """Append the held entries that are open now to `shown`, in the order in which they were held back."""
        opened: list[_Held] = []
        for held in self._held:
            # The entries of one seat open in the order in which they were made.
            while held and (horizon is None or held[0][1] <= horizon):
                opened.append(held.pop(0))
        if opened:
            # Numbers are unique, so the sort never compares times or texts.
            shown.extend([text for _, _, text in sorted(opened)])


def views_of(state: RoomState) -> dict[int | None, View]:
    """Return a fresh view for each kind of viewer of a room: both seats, and with None the spectators."""
    is_open = state.options.spectators is Spectators.OPEN
    return {0: View(0), 1: View(1), None: View(None, sees_all=is_open)}


def view(steps: Iterable[Step], viewer: int | None) -> list[Entry]:
    """Return all entries that this viewer is shown of a log."""
    shown: list[Entry] = []
    seen: View | None = None
    for step in steps:
        seen = seen or views_of(step.after)[viewer]
        shown.extend(map(decode_entry, seen.reveal(project(step))))
    return shown


def scene(state: RoomState, shown: Iterable[Entry]) -> Scene:
    """Return the scene of a viewer that was shown these entries: the content of a snapshot."""
    seen = Scene(options=state.options)
    for entry in shown:
        seen = seen.after(entry)
    return seen


def placed(state: RoomState) -> tuple[int, int] | None:
    """Return the number of cards on each seat's foundations while a race is on, else None.

    In a room with credit the race may go on for some seconds after a seat has placed every card. That is not shown
    before the result, so the last card is not counted.
    """
    if state.phase is not Phase.RACING:
        return None
    first, second = (racer.board.placed - (racer.ending is Ending.WON) for racer in dealt_race(state).racers)
    return first, second
