"""The first message to a viewer that enters a room or comes back: the entries that it missed, or the whole scene."""

from collections.abc import Callable
from typing import Final

from fairest_protocol.calculation.seal import commit_secret
from fairest_protocol.calculation.sliced import Sliced, finish
from fairest_protocol.messages import from_server as messages
from fairest_protocol.messages.codec import encode
from fairest_protocol.messages.fast_encoding import decode_entry, encode_view
from fairest_protocol.messages.fields import as_seat
from fairest_protocol.messages.scene import Scene, SeatScene
from fairest_protocol.value import Value
from fairest_server.room.events import Checkpoint, RoundOpened
from fairest_server.room.projection import StepHistory
from fairest_server.room.state import RoomState, open_round
from fairest_server.room.steps import Step
from fairest_server.room.view import View, ViewCursor, views_of

STEPS_IN_SLICE: Final = 8
"""A step takes 20 us: it is projected, and its entries are read back and folded into the scene."""
MAX_MISSED_BYTES: Final = 2 * 2**20
"""A viewer that has missed more entries is shown the scene instead. Those of nine rounds of the longest variant are
fewer: more are missed only in a room where players come and go thousands of times.
"""


class Catchup(Value):
    """The first message to a viewer, as text, and the view that goes on from it."""

    text: bytes
    view: View


def catching_up(
    room: str, history: StepHistory, viewer: int | None, seen_upto: ViewCursor, now_ms: Callable[[], int]
) -> Sliced[Catchup]:
    """Return the entries that a viewer has missed since `seen_upto`, as a `view`, or the whole scene as a `snapshot`.

    A viewer gets a snapshot if it has seen nothing, if this log does not hold what it has seen, or if it has missed too
    much. `room` is the room's code and `now_ms` tells the time, both for the snapshot. Steps that the history is
    extended by meanwhile are part of it.
    """
    yield from history.counting()
    found = _view_at(history, viewer, seen_upto)
    if found is not None:
        view, index = found
        shown: list[bytes] = []
        size = 0
        while index + 1 < len(history.steps) and size <= MAX_MISSED_BYTES:
            index += 1
            revealed = view.reveal(history.project(index))
            shown += revealed
            size += sum(map(len, revealed))
            if index % STEPS_IN_SLICE == 0:
                yield
        if size <= MAX_MISSED_BYTES:
            return Catchup(encode_view(view.position, shown, view.tag), view)
    view, scene = yield from showing_scene(history, viewer)
    snapshot = messages.Snapshot(
        room=room,
        seat=None if viewer is None else as_seat(viewer),
        position=view.position,
        tag=view.tag,
        now_ms=now_ms(),
        scene=scene,
    )
    return Catchup(encode(snapshot), view)


def make_catchup(room: str, history: StepHistory, viewer: int | None, seen_upto: ViewCursor, now_ms: int) -> Catchup:
    """Return the first message to a viewer, as `catching_up` does, at once."""
    return finish(catching_up(room, history, viewer, seen_upto, lambda: now_ms))


def showing_scene(history: StepHistory, viewer: int | None) -> Sliced[tuple[View, Scene]]:
    """Return the view of a viewer at the end of a history, and everything that it was shown, as a scene.

    The scene is folded from the newest step at which it is known, which is the beginning of the round or a checkpoint.
    """
    index = history.newest_start()
    view, scene = views_of(history.steps[index].after)[viewer], _scene_after(history.steps[index])
    view.fast_forward(history, index)
    while index + 1 < len(history.steps):
        index += 1
        for text in view.reveal(history.project(index)):
            scene = scene.after(decode_entry(text))
        if index % STEPS_IN_SLICE == 0:
            yield
    return view, scene


def _scene_after(step: Step) -> Scene:
    """Return the scene of every viewer after one of the `START_EVENTS`."""
    match step.event:
        case Checkpoint(scene=scene):
            return scene
        case RoundOpened():
            return _scene_of_open_round(step.after)
        case _:
            return Scene(options=step.after.options)


def _scene_of_open_round(state: RoomState) -> Scene:
    """Return what everybody knows of a round that was opened just now."""
    opened = open_round(state)
    first, second = (
        SeatScene(
            name=seat.name,
            is_connected=seat.connection_id is not None,
            until_ms=state.clocks.away_until_ms[number],
            wins=seat.wins,
            matches_won=seat.matches_won,
        )
        for number, seat in ((0, state.seat(0)), (1, state.seat(1)))
    )
    return Scene(
        options=state.options,
        phase=state.phase,
        seats=(first, second),
        round=opened.round_id,
        match=opened.match_id,
        round_number=opened.number,
        commitment=commit_secret(opened.round_id, opened.secret),
        signature=opened.signature,
        until_ms=state.clocks.phase_until_ms,
    )


def _view_at(history: StepHistory, viewer: int | None, cursor: ViewCursor) -> tuple[View, int] | None:
    """Return the view at this cursor and the index of the step that showed it; None if there is no such step."""
    for index in reversed(range(len(history.steps))):
        step = history.steps[index]
        shown_by_step = step.tag == cursor.tag
        shown_before = isinstance(step.event, Checkpoint) and step.event.tag == cursor.tag
        if cursor.position and (shown_by_step or shown_before):
            view = views_of(step.after)[viewer]
            view.fast_forward(history, index)
            # Steps that were appended together share a tag, and may have been shown at different positions.
            if view.position == cursor.position:
                return view, index
    return None
