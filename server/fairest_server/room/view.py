"""The horizon rule: what of a room's log one viewer may see, and when. Nothing about a round leaves by another way.

    Nobody sees a decision before every player still racing has gone past the turn at which it was made, nor a card
    before every player still racing has turned it.

A `View` holds back the news that its viewer may not see yet, lets it go as the horizon moves, and numbers what it
shows: a pure function of the log, so the numbers are the same in every process.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from fairest_protocol.calculation.round import OpensAt
from fairest_protocol.messages import from_server as messages
from fairest_protocol.messages.codec import encode
from fairest_protocol.messages.entries import Entry
from fairest_protocol.messages.fast_encoding import decode_entry, encode_view
from fairest_protocol.messages.fields import Phase, as_seat
from fairest_protocol.messages.options import Spectators
from fairest_protocol.messages.scene import Scene
from fairest_protocol.value import Value
from fairest_server.room.events import Played
from fairest_server.room.projection import ProjectedStep, StepHistory, project
from fairest_server.room.state import RoomState
from fairest_server.room.steps import Step


class ViewCursor(NamedTuple):
    """How far a viewer has seen: a position of its view, and the log's tag of the step that showed it.

    A log that lost its tail may reach the same position again; the tag is another one then.
    """

    position: int = 0
    tag: str = ""


ORIGIN: Final = ViewCursor()


_Held = tuple[int, OpensAt, bytes]
"""Which one of those that were held back an entry is, when it opens, and its text."""


@dataclass(slots=True)
class View:
    """What one viewer has been shown: a seat (0, 1) or, with None, a spectator.

    `sees_all` is for spectators of an open room. `position` and `tag` are behind the entries shown.
    """

    viewer: int | None
    sees_all: bool = False
    position: int = 0
    tag: str = ""
    _held: tuple[list[_Held], list[_Held]] = field(default_factory=lambda: ([], []))
    _count: int = 0

    def reveal(self, *told: ProjectedStep) -> list[bytes]:
        """The entries that this viewer is shown now that all of this happened, in order."""
        shown: list[bytes] = []
        for each in told:
            count = len(shown)
            for item in each.entries:
                if item.opens_at is None:
                    self._release(each.horizon, shown)
                    shown.append(item.text)
                elif item.seat == self.viewer or self.sees_all:
                    shown.append(item.text)
                else:
                    self._count += 1
                    self._held[item.seat].append((self._count, item.opens_at, item.text))
            self._release(each.horizon, shown)
            if len(shown) > count:
                self.tag = each.step.tag
        self.position += len(shown)
        return shown

    @property
    def cursor(self) -> ViewCursor:
        """How far this viewer has seen."""
        return ViewCursor(self.position, self.tag)

    def fast_forward(self, history: StepHistory, place: int) -> None:
        """Be what seeing every step up to this place would make of a fresh view, without going through all of them.

        What is held back there stands near it: of each seat it is what that seat did last.
        """
        waiting: list[tuple[int, OpensAt, bytes]] = []
        hidden = set() if self.sees_all else {0, 1} - {self.viewer}
        horizon = history.project(place).horizon
        for earlier in reversed(range(place + 1)):
            step = history.steps[earlier]
            event, race = step.event, step.after.race
            if not hidden or horizon is None or race is None:
                # All that was before this race has been shown.
                break
            if isinstance(event, Played) and event.seat not in hidden:
                continue
            for item in reversed(history.project(earlier).entries):
                if item.opens_at is None or item.seat not in hidden:
                    continue
                if item.opens_at <= horizon:
                    hidden.discard(item.seat)
                else:
                    waiting.append((item.seat, item.opens_at, item.text))
        for number, (seat, opens_at, text) in enumerate(reversed(waiting), 1):
            self._held[seat].append((number, opens_at, text))
        self._count = len(waiting)
        self.position, self.tag = history.count(place) - len(waiting), history.steps[place].tag

    def _release(self, horizon: OpensAt | None, shown: list[bytes]) -> None:
        """Show held entries that are open now, in the order in which they came."""
        opened: list[_Held] = []
        for held in self._held:
            # What one seat does opens in the order in which it is done.
            while held and (horizon is None or held[0][1] <= horizon):
                opened.append(held.pop(0))
        if opened:
            # No two have the same number.
            shown.extend([text for _, _, text in sorted(opened)])


def views_of(state: RoomState) -> dict[int | None, View]:
    """A fresh view for every kind of viewer of a room: both seats, and the spectators."""
    is_open = state.options.spectators is Spectators.OPEN
    return {0: View(0), 1: View(1), None: View(None, sees_all=is_open)}


def view(steps: Iterable[Step], viewer: int | None) -> list[Entry]:
    """Everything that this viewer is shown of a log."""
    shown: list[Entry] = []
    seen: View | None = None
    for step in steps:
        seen = seen or views_of(step.after)[viewer]
        shown.extend(map(decode_entry, seen.reveal(project(step))))
    return shown


def scene(state: RoomState, shown: Iterable[Entry]) -> Scene:
    """What a viewer who was shown these entries has seen of the room: the content of a snapshot."""
    seen = Scene(options=state.options)
    for entry in shown:
        seen = seen.after(entry)
    return seen


class Catchup(Value):
    """What a viewer is told when it comes, as the text of a message, and its view from there on."""

    text: bytes
    view: View


def make_catchup(room: str, history: StepHistory, viewer: int | None, seen_upto: ViewCursor, now_ms: int) -> Catchup:
    """What a viewer has missed of a room behind what it has seen, or the whole scene.

    The scene is for who has seen nothing, or something that this log does not hold.
    """
    seen, place = _view_at(history, viewer, seen_upto)
    shown = seen.reveal(*map(history.project, range(place + 1, len(history.steps))))
    if place >= 0:
        return Catchup(encode_view(seen_upto.position + 1, shown, seen.tag), seen)
    snapshot = messages.Snapshot(
        room=room,
        seat=None if viewer is None else as_seat(viewer),
        position=seen.position,
        tag=seen.tag,
        now_ms=now_ms,
        scene=scene(history.steps[-1].after, map(decode_entry, shown)),
    )
    return Catchup(encode(snapshot), seen)


def _view_at(history: StepHistory, viewer: int | None, cursor: ViewCursor) -> tuple[View, int]:
    """The view of who has seen so far, and the place of the step that showed it; a fresh one, and -1, without any."""
    created = history.steps[0].after
    for place in reversed(range(len(history.steps))):
        if cursor.position and history.steps[place].tag == cursor.tag:
            view = views_of(created)[viewer]
            view.fast_forward(history, place)
            # What was appended together has one tag, and may have been shown in pieces.
            if view.position == cursor.position:
                return view, place
    return views_of(created)[viewer], -1


def placed(state: RoomState) -> tuple[int, int] | None:
    """The cards on each seat's foundations, told on a fixed tick while a race is on, else None."""
    race = state.race
    if race is None or state.phase is not Phase.RACING:
        return None
    return race.racers[0].board.placed, race.racers[1].board.placed
