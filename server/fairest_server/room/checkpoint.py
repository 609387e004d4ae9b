"""Checkpoints: a log is cut where nothing that happened before matters any more, but for what the checkpoint holds."""

from fairest_protocol.calculation.sliced import Sliced, finish
from fairest_server.room.catchup import showing_scene
from fairest_server.room.events import CalledOffRound, Checkpoint
from fairest_server.room.match_record import MatchFold
from fairest_server.room.projection import StepHistory
from fairest_server.room.saved_state import without_race
from fairest_server.room.steps import Step


def making_checkpoint(steps: list[Step], now_ms: int) -> Sliced[Checkpoint | None]:
    """Return the checkpoint that may follow these steps of a log; None if its past still matters."""
    state = steps[-1].after if steps else None
    if state is None or not state.can_be_cut(now_ms):
        return None
    history, matches = StepHistory(steps), MatchFold()
    # Every viewer has the same scene now, since nothing is held back from any of them.
    view, scene = yield from showing_scene(history, None)
    yield from matches.adding(steps)
    called_off = [
        CalledOffRound(
            round=each.round_id, secret=each.secret, signature=each.signature, entropy_hashes=each.entropy_hashes
        )
        for each in matches.called_off
    ]
    return Checkpoint(
        state=without_race(state),
        position=view.position,
        tag=view.tag,
        scene=scene,
        called_off=tuple(called_off),
        recorded_match=matches.newest_over,
        created_ms=_created_ms(steps[0]),
    )


def _created_ms(first: Step) -> int:
    return first.event.created_ms if isinstance(first.event, Checkpoint) else first.at_ms


def make_checkpoint(steps: list[Step], now_ms: int) -> Checkpoint | None:
    """Return the checkpoint that may follow these steps of a log, as `making_checkpoint` does, at once."""
    return finish(making_checkpoint(steps, now_ms))
