"""The model of a room is a pure fold over the messages of the server."""

from collections.abc import Callable

import pytest

from fairest_cli.model.binding import Binding
from fairest_cli.model.cheated import Cheated
from fairest_cli.model.known_room import ConnectionStatus, Contradiction, KnownRoom
from fairest_cli.model.seal_check import EntropyCommitment, SealCheck
from fairest_cli.session.progress import count_of
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.calculation.race import Outcome
from fairest_protocol.calculation.seal import commit_secret
from fairest_protocol.messages.entries import RoomClosed, RoundFinished, RoundOpened
from fairest_protocol.messages.fields import Phase, Seat
from fairest_protocol.messages.from_client import Leave, Play
from fairest_protocol.messages.from_server import (
    Accepted,
    Error,
    FromServer,
    Left,
    LobbyPage,
    MatchRecord,
    Placed,
    Queued,
    Refused,
    Snapshot,
    View,
    Watching,
    Welcome,
)
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.messages.refusals import SEND_AGAIN, Breach, Refusal
from fairest_protocol.messages.scene import Scene
from fairest_protocol.value import replace
from fairest_server.room.view import scene, view
from tests.support.races import KEY, Table, start_next_round


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


def another_round(viewer: int | None = 0) -> Snapshot:
    """The room in another round, without a word about the one before."""
    other = Table(2)
    other.seat_both()
    return snapshot_of(other, viewer)


def no_round(viewer: int | None = 0) -> Snapshot:
    """The room without any round."""
    return snapshot_of(Table(2), viewer)


@pytest.mark.parametrize("make_snapshot", [another_round, no_round])
@pytest.mark.parametrize("absent_seconds", [0, 54])
def test_a_round_to_which_both_were_committed_is_not_dropped_while_a_seat_waits(
    present: KnownRoom, make_snapshot: Callable[[], Snapshot], absent_seconds: int
) -> None:
    away = present.with_status(ConnectionStatus.LOST)
    with pytest.raises(Cheated, match="dropped a round to which both players were committed"):
        away.after(make_snapshot(), now_ms=absent_seconds * 1000)


@pytest.mark.parametrize("make_snapshot", [another_round, no_round])
def test_a_room_may_have_gone_on_without_a_player_who_was_away_for_longer_than_the_seat_waits(
    present: KnownRoom, make_snapshot: Callable[[], Snapshot]
) -> None:
    back = present.with_status(ConnectionStatus.LOST).after(make_snapshot(), now_ms=61_000)
    assert back.binding.last_end is not None
    assert back.binding.last_end.explanation.startswith("You were cut off for 61 seconds, and the room has gone on")


def test_a_spectator_may_come_to_a_room_that_has_lost_a_round(table: Table) -> None:
    watching = KnownRoom(seal_check=SealCheck(key=KEY.public)).after(snapshot_of(table, None), now_ms=0)
    assert watching.after(another_round(None), now_ms=0).scene == another_round(None).scene


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
        model.after(Welcome(name="ann", token=None, key=bytes(32), now_ms=0, version="0.2.0"), now_ms=0)


def what_follows(table: Table, model: KnownRoom) -> View:
    shown = view(table.steps, model.seat)
    return View(tag="00000000", position=len(shown), entries=tuple(shown[model.position :]))


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
        model.after(View(tag="00000000", position=model.position + 1, entries=()), now_ms=0)


def test_a_move_against_the_rules_is_a_contradiction(table: Table, model: KnownRoom) -> None:
    table.play(0, "sa")
    message = what_follows(table, model)
    other = message.entries[0].model_copy(update={"move": MOVES["d1"]})
    with pytest.raises(Contradiction, match="against the rules"):
        model.after(View(tag="00000000", position=message.first, entries=(other,)), now_ms=0)


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


@pytest.mark.parametrize("code", sorted(SEND_AGAIN))
def test_a_move_that_could_not_be_stored_stays_ours_to_send(model: KnownRoom, code: Refusal) -> None:
    sent = model.with_sent(Play(number=1, move=MOVES["sa"]))
    refused = Refused(to="play", code=code, sentence="Later.", number=1)
    assert sent.after(refused, now_ms=0).sent == sent.sent


def test_an_acknowledged_move_is_sent_no_more(table: Table, model: KnownRoom) -> None:
    sent = model.with_sent(Play(number=1, move=MOVES["sa"]))
    table.play(0, "sa")
    assert sent.after(what_follows(table, model), now_ms=0).sent == ()


def test_a_client_only_moves_when_its_last_move_is_answered(model: KnownRoom) -> None:
    assert model.may_send_next_move
    assert not model.with_sent(Play(number=1, move=MOVES["sa"])).may_send_next_move


def test_a_spectator_has_no_seat_to_move_with(table: Table) -> None:
    watching = KnownRoom(seal_check=SealCheck(key=KEY.public))
    assert not watching.after(snapshot_of(table, None), now_ms=0).may_send_next_move


def test_a_new_model_knows_nothing_of_the_server() -> None:
    new = KnownRoom()
    assert (new.name, new.position, new.clock_ahead_ms) == ("", 0, 0)


@pytest.mark.parametrize(
    ("server_url", "command"),
    [
        ("ws://127.0.0.1:8765", "fairest join quiet-amber-otter"),
        ("ws://there", "fairest join quiet-amber-otter --server ws://there"),
    ],
)
def test_the_invitation_is_the_command_that_joins_our_room(server_url: str, command: str) -> None:
    assert KnownRoom(server_url=server_url, room="quiet-amber-otter").invitation == command


def test_the_model_takes_the_state_of_the_connection(model: KnownRoom) -> None:
    assert model.with_status(ConnectionStatus.LOST).status is ConnectionStatus.LOST


def test_the_model_takes_our_entropy_commitment(table: Table) -> None:
    known = entropy_commitment_of(table, 0)
    assert KnownRoom().with_entropy_commitment(known).seal_check.entropy_commitment == known


def test_a_welcome_brings_our_name_and_the_distance_of_the_clocks() -> None:
    met = KnownRoom().after(Welcome(name="ann", token=None, key=KEY.public, now_ms=300, version="0.2.0"), now_ms=1000)
    assert (met.name, met.seal_check.key, met.clock_ahead_ms) == ("ann", KEY.public, 700)


def test_a_snapshot_brings_the_distance_of_the_clocks(table: Table, model: KnownRoom) -> None:
    again = snapshot_of(table, 0).model_copy(update={"now_ms": 300})
    assert model.after(again, now_ms=1000).clock_ahead_ms == 700


def test_a_tick_brings_the_counts_of_both_seats(model: KnownRoom) -> None:
    assert model.after(Placed(placed=(7, 5)), now_ms=0).placed == (7, 5)


def test_the_spectators_are_those_that_the_server_counted_last(model: KnownRoom) -> None:
    assert model.after(Watching(watching=12), now_ms=0).watching == 12


def test_no_spectators_are_known_while_the_connection_is_lost(model: KnownRoom) -> None:
    watched = model.after(Watching(watching=12), now_ms=0)
    assert watched.with_status(ConnectionStatus.LOST).watching == 0


def test_a_snapshot_brings_no_spectators(table: Table, model: KnownRoom) -> None:
    watched = model.after(Watching(watching=12), now_ms=0)
    assert watched.after(snapshot_of(table, 0), now_ms=0).watching == 0


@pytest.fixture
def after_a_round() -> tuple[Table, KnownRoom]:
    """A match of up to three rounds whose first round is over, and its spectator, who was sent the last counts."""
    table = Table(1, RoomOptions(best_of=3))
    table.start()
    watching = KnownRoom(seal_check=SealCheck(key=KEY.public)).after(snapshot_of(table, None), now_ms=0)
    watching = watching.after(Placed(placed=(31, 18)), now_ms=0)
    table.play(0, "stop")
    table.play(1, "stop")
    return table, watching.after(what_follows(table, watching), now_ms=0)


def test_the_counts_of_the_last_round_stay_as_long_as_its_result(after_a_round: tuple[Table, KnownRoom]) -> None:
    _, watching = after_a_round
    assert watching.placed == (31, 18)


def test_a_round_that_opens_has_no_counts_of_the_last_one(after_a_round: tuple[Table, KnownRoom]) -> None:
    table, watching = after_a_round
    table.let_time_pass()
    assert table.state.phase is Phase.READY
    assert watching.after(what_follows(table, watching), now_ms=0).placed is None


def test_a_race_starts_with_the_count_of_its_own_cards(after_a_round: tuple[Table, KnownRoom]) -> None:
    table, watching = after_a_round
    start_next_round(table)
    racing = watching.after(what_follows(table, watching), now_ms=0)
    board = racing.scene.seats[1].board if racing.scene else None
    assert board is not None
    assert count_of(racing, 1) == board.placed


def test_counts_that_came_before_the_start_are_not_those_of_the_race(after_a_round: tuple[Table, KnownRoom]) -> None:
    table, watching = after_a_round
    table.let_time_pass()
    table.deal()
    waiting = watching.after(what_follows(table, watching), now_ms=0).after(Placed(placed=(31, 18)), now_ms=0)
    table.let_time_pass()
    assert waiting.after(what_follows(table, waiting), now_ms=0).placed is None


def test_a_round_to_which_both_were_committed_is_not_ended_by_the_queue(present: KnownRoom) -> None:
    deed = r"The server put you out of the room without being asked\. "
    with pytest.raises(Cheated, match=f"^{deed}Both players were bound to the round, and it never opened"):
        present.after(Queued(rules="classic", since_ms=0, waiting=1), now_ms=0)


def test_a_client_that_waits_again_is_in_no_room() -> None:
    made = Table(1)
    made.seat_both()
    seated = KnownRoom(seal_check=SealCheck(key=KEY.public)).after(snapshot_of(made, 0), now_ms=0)
    queued = Queued(rules="classic", since_ms=0, waiting=1)
    waiting = seated.after(queued, now_ms=0)
    assert (waiting.room, waiting.scene, waiting.queued) == (None, None, queued)


def test_a_client_that_has_left_is_in_no_room(model: KnownRoom) -> None:
    left = model.with_sent(Play(number=1, move=MOVES["sa"])).with_said(Leave(), 0).after(Left(), now_ms=0)
    outside = replace(model, room=None, seat=None, scene=None, position=0, tag=None, sent=(), binding=left.binding)
    assert left == outside


@pytest.mark.parametrize(
    "message",
    [
        Refused(to="ready", code=Refusal.TRY_AGAIN, sentence="Later."),
        Error(code=Breach.TOO_FAST, sentence="Too fast."),
        MatchRecord(match="0" * 32, lines=()),
        LobbyPage(page=1, pages=1, total=0, rooms=()),
    ],
)
def test_a_message_that_is_not_about_the_room_changes_nothing(model: KnownRoom, message: FromServer) -> None:
    assert replace(model.after(message, now_ms=5), binding=model.binding) == model


def test_another_snapshot_of_the_same_room_is_accepted(table: Table, model: KnownRoom) -> None:
    assert model.after(snapshot_of(table, 0), now_ms=0) == model


def test_another_room_may_have_other_rules(table: Table, model: KnownRoom) -> None:
    options = table.state.options.model_copy(update={"limit_seconds": 10})
    scene = Scene(options=options, phase=Phase.WAITING)
    other = Snapshot(tag="00000000", room="another-room", seat=None, position=1, now_ms=0, scene=scene)
    watching = replace(model, seat=None, seal_check=SealCheck(key=KEY.public), binding=Binding())
    assert watching.after(other, now_ms=0).scene == scene


def test_a_view_before_any_snapshot_is_a_contradiction() -> None:
    with pytest.raises(Contradiction, match=r"^entry 1 of the view follows entry 0$"):
        KnownRoom().after(View(tag="00000000", position=0, entries=()), now_ms=0)


def test_an_older_part_of_the_view_changes_nothing(table: Table, model: KnownRoom) -> None:
    table.play(0, "sa")
    message = what_follows(table, model)
    later = model.after(message, now_ms=0)
    assert later.after(message.part(0, 1), now_ms=0) == later


def test_a_view_without_entries_brings_its_tag(model: KnownRoom) -> None:
    empty = View(tag="11111111", position=model.position, entries=())
    assert model.after(empty, now_ms=0) == replace(model, tag="11111111")


def test_the_moves_of_the_other_player_need_not_be_ours(table: Table, present: KnownRoom) -> None:
    table.play(0, "sa")
    table.play(1, "sb")
    sent = present.with_sent(Play(number=1, move=MOVES["sa"]))
    seats = sent.after(what_follows(table, sent), now_ms=0).scene
    assert seats is not None and seats.seats[1].moves == 1


def test_moves_that_were_not_made_yet_stay_ours_to_send(table: Table, model: KnownRoom) -> None:
    plays = [Play(number=number, move=MOVES["sa"]) for number in (1, 2)]
    table.play(0, "sa")
    sent = model.with_sent(plays[0]).with_sent(plays[1])
    assert sent.after(what_follows(table, model), now_ms=0).sent == (plays[1],)


def test_no_move_stays_ours_to_send_after_the_race(table: Table, model: KnownRoom) -> None:
    sent = model.with_sent(Play(number=1, move=MOVES["sa"]))
    table.let_time_pass()
    assert sent.after(what_follows(table, model), now_ms=table.now_ms).sent == ()


def test_the_next_move_follows_all_that_were_sent_and_all_that_were_made(table: Table, model: KnownRoom) -> None:
    for _ in range(3):
        table.play(0, "sa")
    after_three = model.after(what_follows(table, model), now_ms=0)
    fourth = after_three.next_play(MOVES["sa"])
    fifth = after_three.with_sent(fourth).next_play(MOVES["sa"])
    sixth = after_three.with_sent(fourth).with_sent(fifth).next_play(MOVES["sa"])
    assert [play.number for play in (fourth, fifth, sixth)] == [4, 5, 6]


def test_the_first_move_has_the_number_1_before_any_room_was_shown() -> None:
    assert KnownRoom().next_play(MOVES["sa"]).number == 1


def test_nobody_moves_before_the_race(table: Table) -> None:
    waiting = Table(1)
    waiting.seat_both()
    seal = SealCheck(key=KEY.public, entropy_commitment=entropy_commitment_of(table, 0))
    assert not KnownRoom(seal_check=seal).after(snapshot_of(waiting, 0), now_ms=0).may_send_next_move


def test_a_player_who_has_stopped_moves_no_more(table: Table, model: KnownRoom) -> None:
    table.play(0, "stop")
    assert not model.after(what_follows(table, model), now_ms=0).may_send_next_move


def test_a_player_has_the_board_of_its_own_seat(table: Table, model: KnownRoom) -> None:
    table.play(0, "sa")
    assert table.state.race is not None
    assert model.after(what_follows(table, model), now_ms=0).board == table.state.race.racers[0].board


def test_a_spectator_has_no_board(table: Table) -> None:
    watching = KnownRoom(seal_check=SealCheck(key=KEY.public)).after(snapshot_of(table, None), now_ms=0)
    assert (watching.own, watching.board) == (None, None)


def test_nobody_has_a_seat_before_the_room_was_shown() -> None:
    assert KnownRoom(seat=0).own is None


def changed_result(message: View, **changes: object) -> View:
    """Return a part of the view with another result."""
    changed = [each.model_copy(update=changes) if isinstance(each, RoundFinished) else each for each in message.entries]
    return View(tag=message.tag, position=message.position, entries=tuple(changed))


def watcher(table: Table) -> KnownRoom:
    return KnownRoom(seal_check=SealCheck(key=KEY.public)).after(snapshot_of(table, None), now_ms=0)


def test_the_server_counts_the_rounds_that_were_won(table: Table) -> None:
    watching = watcher(table)
    table.let_time_pass()
    with pytest.raises(Cheated, match="counts other rounds won than those that it has shown"):
        watching.after(changed_result(what_follows(table, watching), wins=(1, 0)), now_ms=0)


def result_of(table: Table) -> Outcome:
    assert table.state.round is not None and table.state.round.outcome is not None
    return table.state.round.outcome


def test_a_viewer_that_came_late_compares_the_result_with_the_boards(table: Table) -> None:
    watching = watcher(table)
    table.let_time_pass()
    first, second = result_of(table).scores
    outcome = Outcome(None, tuple(replace(score, placed=score.placed + 1) for score in (first, second)))
    with pytest.raises(Cheated, match="other cards for seat 1 than its board shows"):
        watching.after(changed_result(what_follows(table, watching), outcome=outcome), now_ms=0)


def test_a_round_that_was_never_dealt_has_no_counts_for_a_viewer_that_saw_all_of_it() -> None:
    made = Table(1)
    made.seat_both()
    watching = watcher(made)
    opened = replace(watching, seal_check=replace(watching.seal_check, shown=((), ())))
    made.get_ready(0, 1)
    made.let_time_pass()
    first, second = result_of(made).scores
    outcome = replace(result_of(made), scores=(replace(first, goal=51), replace(second, goal=51)))
    with pytest.raises(Cheated, match="no cards were dealt"):
        opened.after(changed_result(what_follows(made, opened), outcome=outcome), now_ms=0)


def test_a_match_does_not_begin_before_the_one_before_is_over(after_a_round: tuple[Table, KnownRoom]) -> None:
    table, watching = after_a_round
    table.let_time_pass()
    message = what_follows(table, watching)
    round_id, secret = bytes(range(16)), bytes(32)
    signed = KEY.open_round(round_id, secret, None, 1, table.state.options.terms())
    changes = {
        "round": round_id,
        "match": round_id,
        "round_number": 1,
        "commitment": commit_secret(round_id, secret),
        "signature": signed.signature,
    }
    lie = [each.model_copy(update=changes) if isinstance(each, RoundOpened) else each for each in message.entries]
    with pytest.raises(Cheated, match="begins another match, and the one before is not over"):
        watching.after(View(tag=message.tag, position=message.position, entries=tuple(lie)), now_ms=0)


def test_a_room_that_closes_in_a_race_has_not_opened_its_commitment_to_a_spectator(table: Table) -> None:
    watching = watcher(table)
    closed = View(tag="00000000", position=watching.position + 1, entries=(RoomClosed(),))
    with pytest.raises(Cheated, match="closes the room and never opened its commitment"):
        watching.after(closed, now_ms=0)
