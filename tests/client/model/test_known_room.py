"""The model of a room is a pure fold over the messages of the server."""

import pytest

from fairest_cli.model.known_room import Contradiction, KnownRoom
from fairest_cli.model.round_check import Cheated
from fairest_cli.model.seal_check import EntropyCommitment, SealCheck
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.calculation.seal import commit_secret
from fairest_protocol.messages.fields import Seat
from fairest_protocol.messages.from_client import Play
from fairest_protocol.messages.from_server import Accepted, FromServer, Refused, Snapshot, View, Welcome
from fairest_protocol.messages.refusals import Refusal
from fairest_server.room.view import scene, view
from tests.support.races import KEY, Table


def snapshot_of(table: Table, viewer: int | None) -> Snapshot:
    shown = view(table.steps, viewer)
    seat: Seat | None = None if viewer is None else 1 if viewer else 0
    seen = scene(table.state, shown)
    return Snapshot(tag="00000000", room="quiet-amber-otter", seat=seat, position=len(shown), now_ms=0, scene=seen)


@pytest.fixture
def table() -> Table:
    made = Table(1)
    made.start()
    return made


def entropy_commitment_of(table: Table, seat: int) -> EntropyCommitment:
    """The entropy commitment of the player in this seat, for the round under way."""
    opened, holder = table.state.round, table.state.seat(seat)
    assert opened is not None and holder.entropy is not None and holder.entropy_hash is not None
    commitment = commit_secret(opened.round_id, opened.secret)
    return EntropyCommitment(opened.round_id, commitment, seat, holder.entropy, holder.entropy_hash)


@pytest.fixture
def model(table: Table) -> KnownRoom:
    seal = SealCheck(key=KEY.public, entropy_commitment=entropy_commitment_of(table, 0))
    return KnownRoom(seal_check=seal).after(snapshot_of(table, 0), now_ms=0)


@pytest.fixture
def present(table: Table) -> KnownRoom:
    """The model of the same player, connected since before the deal."""
    made = Table(1)
    made.seat_both()
    seal = SealCheck(key=KEY.public, entropy_commitment=entropy_commitment_of(table, 0))
    early = KnownRoom(seal_check=seal).after(snapshot_of(made, 0), now_ms=0)
    return early.after(what_follows(table, early), now_ms=0)


def test_nobody_moves_in_our_name(table: Table, present: KnownRoom) -> None:
    table.play(0, "sa")
    with pytest.raises(Cheated, match="made the move sa in our name"):
        present.after(what_follows(table, present), now_ms=0)


def test_another_move_than_ours_is_noticed(table: Table, present: KnownRoom) -> None:
    table.play(0, "sa")
    with pytest.raises(Cheated, match="made the move sa in our name"):
        present.with_sent(Play(number=1, move=MOVES["sb"])).after(what_follows(table, present), now_ms=0)


def test_our_own_moves_are_ours(table: Table, present: KnownRoom) -> None:
    table.play(0, "sa")
    sent = present.with_sent(Play(number=1, move=MOVES["sa"]))
    assert sent.after(what_follows(table, sent), now_ms=0).sent == ()


def test_the_rules_of_a_room_stay_what_they_are(table: Table, model: KnownRoom) -> None:
    again = snapshot_of(table, 0)
    options = again.scene.options.model_copy(update={"limit_seconds": 10})
    changed = again.model_copy(update={"scene": again.scene.model_copy(update={"options": options})})
    with pytest.raises(Cheated, match="changed the rules of the room"):
        model.after(changed, now_ms=0)


def test_another_key_in_mid_session_is_an_alarm(model: KnownRoom) -> None:
    with pytest.raises(Cheated, match="another key"):
        model.after(Welcome(name="ann", token=None, key=bytes(32), now_ms=0), now_ms=0)


def what_follows(table: Table, model: KnownRoom) -> View:
    shown = view(table.steps, model.seat)
    return View(tag="00000000", position=model.position + 1, entries=tuple(shown[model.position :]))


def test_entries_lead_where_a_snapshot_would(table: Table, model: KnownRoom) -> None:
    table.play(0, "sa")
    table.play(1, "sb")
    heard = model.after(what_follows(table, model), now_ms=0)
    assert heard.scene == snapshot_of(table, 0).scene


def test_entries_heard_before_are_not_taken_twice(table: Table, model: KnownRoom) -> None:
    table.play(0, "sa")
    message = what_follows(table, model)
    once = model.after(message, now_ms=0)
    assert once.after(message, now_ms=0) == once


def test_a_gap_in_the_view_is_a_contradiction(model: KnownRoom) -> None:
    with pytest.raises(Contradiction, match="entry"):
        model.after(View(tag="00000000", position=model.position + 2, entries=()), now_ms=0)


def test_a_move_against_the_rules_is_a_contradiction(table: Table, model: KnownRoom) -> None:
    table.play(0, "sa")
    message = what_follows(table, model)
    twice = View(
        tag="00000000", position=message.position, entries=(*message.entries, message.entries[0], message.entries[0])
    )
    other = message.entries[0].model_copy(update={"move": MOVES["d1"]})
    with pytest.raises(Contradiction, match="against the rules"):
        model.after(View(tag="00000000", position=twice.position, entries=(other,)), now_ms=0)


def test_moves_are_numbered_one_after_the_other(model: KnownRoom) -> None:
    first = model.next_play(MOVES["sa"])
    second = model.with_sent(first).next_play(MOVES["sb"])
    assert (first.number, second.number) == (1, 2)


@pytest.mark.parametrize(
    "answer",
    [Accepted(number=1), Refused(to="play", code=Refusal.RANK_NOT_NEEDED, sentence="No.", number=1)],
)
def test_an_answered_move_is_sent_no_more(model: KnownRoom, answer: FromServer) -> None:
    assert model.with_sent(Play(number=1, move=MOVES["sa"])).after(answer, now_ms=0).sent == ()


def test_a_move_that_could_not_be_stored_stays_ours_to_send(model: KnownRoom) -> None:
    sent = model.with_sent(Play(number=1, move=MOVES["sa"]))
    refused = Refused(to="play", code=Refusal.TRY_AGAIN, sentence="Later.", number=1)
    assert sent.after(refused, now_ms=0).sent == sent.sent


def test_an_acknowledged_move_is_sent_no_more(table: Table, model: KnownRoom) -> None:
    sent = model.with_sent(Play(number=1, move=MOVES["sa"]))
    table.play(0, "sa")
    assert sent.after(what_follows(table, model), now_ms=0).sent == ()


def test_a_client_only_moves_when_its_last_move_is_answered(model: KnownRoom) -> None:
    assert model.may_move
    assert not model.with_sent(Play(number=1, move=MOVES["sa"])).may_move


def test_a_spectator_has_no_seat_to_move_with(table: Table) -> None:
    watching = KnownRoom(seal_check=SealCheck(key=KEY.public))
    assert not watching.after(snapshot_of(table, None), now_ms=0).may_move
