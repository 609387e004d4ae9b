"""What a visit keeps of a round that has ended, whatever the room has gone on to."""

from fairest_cli.model.known_room import KnownRoom
from fairest_cli.model.seal_check import describe_proof
from fairest_cli.session.room_session import model_at_round_end
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_server import View
from fairest_protocol.messages.options import RoomOptions
from fairest_server.room.view import view
from tests.support import staged


def ended() -> tuple[KnownRoom, KnownRoom, View]:
    """Who comes back in a pause between rounds that is over: before, after, and what was missed, in one view."""
    stage = staged.racing((20, 20), RoomOptions(best_of=3))
    before = stage.model()
    stage.table.play(0, "stop")
    stage.table.play(1, "stop")
    while stage.table.state.phase is not Phase.READY:
        stage.table.let_time_pass()
    missed = View(
        position=before.position + 1, tag="00000000", entries=tuple(view(stage.table.steps, 0)[before.position :])
    )
    return before, before.after(missed, 0), missed


def test_the_result_is_known_though_the_next_round_is_open_in_the_same_view() -> None:
    before, after, missed = ended()
    assert after.phase is Phase.READY
    finished = model_at_round_end(before, after, missed, 0)
    assert finished is not None and finished.scene is not None
    assert finished.scene.outcome is not None


def test_so_is_what_the_seal_has_proved() -> None:
    finished = model_at_round_end(*ended(), 0)
    assert finished is not None
    assert describe_proof(finished.seal_check) == (
        "Sealed deal: 48 of 48 envelopes right, and the commitment was kept.",
    )


def test_a_view_without_an_end_has_none() -> None:
    before, after, missed = ended()
    assert model_at_round_end(before, after, missed.model_copy(update={"entries": missed.entries[:1]}), 0) is None
