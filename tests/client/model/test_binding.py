"""The end of a round that only a snapshot shows, after a cut of a moment, is judged as one that entries show.

The client sits in seat 0, and has followed the room up to the snapshot.
"""

from contextlib import nullcontext
from typing import Final

import pytest

from fairest_cli.model.cheated import Cheated
from fairest_cli.model.known_room import ConnectionStatus, Contradiction, KnownRoom
from fairest_cli.model.seal_check import EntropyCommitment, SealCheck
from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.cards import full_deck
from fairest_protocol.calculation.distance import Timing
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.calculation.race import Ending, Outcome, Score, judge
from fairest_protocol.calculation.seal import commit_secret
from fairest_protocol.messages import entries
from fairest_protocol.messages.entries import Entry
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_client import Play
from fairest_protocol.messages.from_server import Snapshot
from fairest_protocol.messages.scene import Scene
from fairest_protocol.value import replace
from fairest_server.room.view import scene, view
from tests.support import staged
from tests.support.races import KEY, Table
from tests.support.races_apart import race_apart
from tests.support.staged import StagedRoom

LEFT: Final = entries.SeatFreed(seat=1, reason="left")


def bound(room: StagedRoom) -> KnownRoom:
    """Return a client that was there all the time, and has just lost its connection."""
    model = room.model()
    assert model.binding.evidence is not None
    evidence = replace(model.binding.evidence, is_complete=True, is_own_past_known=True)
    known = replace(model, binding=replace(model.binding, evidence=evidence, alive_ms=room.table.now_ms))
    return known.with_status(ConnectionStatus.LOST)


def come_back(room: StagedRoom, *missed: Entry) -> KnownRoom:
    """Return the client after a snapshot in which these entries have happened."""
    model = bound(room)
    assert model.scene is not None
    seen = model.scene
    for entry in missed:
        seen = seen.after(entry)
    return model.after(snapshot(model, seen), room.table.now_ms)


def snapshot(model: KnownRoom, seen: Scene) -> Snapshot:
    assert model.room is not None and model.seat is not None
    position = model.position + 1
    return Snapshot(room=model.room, seat=0, position=position, tag="00000000", now_ms=0, scene=seen)


def secret_of(room: StagedRoom) -> bytes:
    assert room.table.state.round is not None
    return room.table.state.round.secret


def finished(room: StagedRoom, endings: tuple[Ending, Ending], own_placed: int | None = None) -> entries.RoundFinished:
    """Return a result with the true counts, but that of our own seat if `own_placed` says another one."""
    race = room.table.state.race
    assert race is not None
    first, second = (
        Score(racer.board.placed, racer.board.goal, racer.board.direct, racer.seen, ending)
        for racer, ending in zip(race.racers, endings, strict=True)
    )
    first = first if own_placed is None else replace(first, placed=own_placed)
    winner = judge((first, second), direct_breaks_ties=False)
    return entries.RoundFinished(
        outcome=Outcome(winner, (first, second)),
        wins=(int(winner == 0), int(winner == 1)),
        match_is_over=True,
        duration_ms=1,
        secret=secret_of(room),
    )


def test_a_round_that_was_called_off_after_both_were_ready_is_an_alarm() -> None:
    room = staged.counting_down()
    assert room.table.state.round is not None
    voided = entries.RoundVoided(round=room.table.state.round.round_id, secret=secret_of(room))
    with pytest.raises(Cheated, match="calls off a round to which both players were committed"):
        come_back(room, voided, LEFT)


def test_a_room_that_waits_and_never_opened_the_round_is_an_alarm() -> None:
    with pytest.raises(Cheated, match="never opened its commitment"):
        come_back(staged.racing(), LEFT)


def test_a_closed_room_that_never_opened_the_round_is_an_alarm() -> None:
    with pytest.raises(Cheated, match="never opened its commitment"):
        come_back(staged.racing(), entries.RoomClosed(reason=None))


def test_a_result_before_the_other_player_left_is_judged() -> None:
    room = staged.racing()
    with pytest.raises(Cheated, match="You did not"):
        come_back(room, finished(room, (Ending.RESIGNED, Ending.ROUND_OVER)), LEFT)


def test_a_resignation_of_the_other_player_is_explained() -> None:
    room = staged.racing()
    back = come_back(room, finished(room, (Ending.ROUND_OVER, Ending.RESIGNED)), LEFT)
    assert back.binding.last_end is not None
    assert "only that player's client can check this" in back.binding.last_end.explanation


def test_cards_of_ours_that_we_have_not_placed_are_an_alarm() -> None:
    room = staged.racing()
    race = room.table.state.race
    assert race is not None
    count = race.racers[0].board.placed - 2
    with pytest.raises(Cheated, match="other cards for us than we have placed"):
        come_back(room, finished(room, (Ending.ROUND_OVER, Ending.RESIGNED), count), LEFT)


def test_a_race_of_ours_that_is_not_stuck_cannot_have_ended_so() -> None:
    room = staged.racing()
    with pytest.raises(Cheated, match=r"ended as stuck\. It has not"):
        come_back(room, finished(room, (Ending.STUCK, Ending.RESIGNED)), LEFT)


def test_a_stop_that_we_never_sent_is_an_alarm() -> None:
    room = staged.racing()
    with pytest.raises(Cheated, match=r"you stopped\. You did not"):
        come_back(room, finished(room, (Ending.STOPPED, Ending.RESIGNED)), LEFT)


def test_a_seat_that_is_shown_as_ours_has_our_name() -> None:
    with pytest.raises(Contradiction, match="a seat of ours that is free"):
        come_back(staged.racing(), entries.SeatFreed(seat=0, reason="left"))


def test_a_scene_that_goes_back_to_the_time_before_both_were_ready_unbinds_nobody() -> None:
    model = bound(staged.racing())
    assert model.scene is not None and model.binding.evidence is not None
    seats = tuple(seat.model_copy(update={"entropy_hash": None, "board": None}) for seat in model.scene.seats)
    older = model.scene.model_copy(update={"seats": seats, "envelopes": ()})
    evidence = model.binding.evidence.after_snapshot(older, 0)
    assert (evidence.is_dealt, evidence.dealing_ms, evidence.started_ms) == (
        True,
        model.binding.evidence.dealing_ms,
        model.binding.evidence.started_ms,
    )


def restarted(room: StagedRoom, *missed: Entry) -> KnownRoom:
    """Return a client that was started again in the race, after a snapshot in which these entries have happened."""
    model = room.model()
    assert model.scene is not None
    seen = model.scene
    for entry in missed:
        seen = seen.after(entry)
    return model.after(snapshot(model, seen), room.table.now_ms)


def placed(room: StagedRoom) -> int:
    race = room.table.state.race
    assert race is not None
    return race.racers[0].board.placed


def test_a_client_that_was_started_again_does_not_know_what_it_had_placed() -> None:
    room = staged.racing()
    count = placed(room) - 2
    back = restarted(room, finished(room, (Ending.ROUND_OVER, Ending.RESIGNED), count), LEFT)
    assert back.binding.last_end is not None


@pytest.mark.parametrize(("more", "is_accepted"), [(-1, False), (0, True), (1, True), (2, False)])
def test_a_move_of_ours_that_was_not_answered_may_have_placed_a_card(more: int, is_accepted: bool) -> None:
    room = staged.racing()
    model = bound(room).with_sent(Play(number=99, move=MOVES["sa"]))
    assert model.scene is not None
    result = finished(room, (Ending.ROUND_OVER, Ending.RESIGNED), placed(room) + more)
    shown = snapshot(model, model.scene.after(result).after(LEFT))
    sentence = r"^The server counts other cards for us than we have placed\.$"
    with nullcontext() if is_accepted else pytest.raises(Cheated, match=sentence):
        model.after(shown, room.table.now_ms)


def test_a_result_counts_the_cards_of_the_other_player_s_board() -> None:
    room = staged.racing()
    result = finished(room, (Ending.ROUND_OVER, Ending.RESIGNED))
    first, second = result.outcome.scores
    outcome = replace(result.outcome, scores=(first, replace(second, placed=second.placed + 1)))
    with pytest.raises(Cheated, match="other cards for seat 2 than its board shows"):
        come_back(room, result.model_copy(update={"outcome": outcome}))


def test_a_result_without_credit_has_no_times() -> None:
    room = staged.racing()
    result = finished(room, (Ending.ROUND_OVER, Ending.RESIGNED))
    times = (Timing(None, 0, 0, None), Timing(None, 0, 0, None))
    outcome = replace(result.outcome, ledger=times)
    with pytest.raises(Cheated, match="credits distance where it is not to be credited"):
        come_back(room, result.model_copy(update={"outcome": outcome}))


def before_the_result(table: Table) -> KnownRoom:
    """Return the client of seat 0 which was there all the time, and is cut off just before the result."""
    end = next(place for place, step in enumerate(table.steps) if step.after.phase is Phase.FINISHED)
    shown = view(table.steps[:end], 0)
    known = commitment_of(table, 0)
    entered = Snapshot(
        room=staged.ROOM, seat=0, position=1, tag="00000000", now_ms=0, scene=scene(table.steps[end - 1].after, shown)
    )
    model = KnownRoom(seal_check=SealCheck(key=KEY.public, entropy_commitment=known)).after(entered, table.now_ms)
    assert model.binding.evidence is not None
    evidence = replace(model.binding.evidence, is_complete=True, is_own_past_known=True)
    return replace(model, binding=replace(model.binding, evidence=evidence)).with_status(ConnectionStatus.LOST)


def commitment_of(table: Table, seat: int) -> EntropyCommitment:
    opened, holder = table.state.round, table.state.seat(seat)
    assert opened is not None and holder.entropy is not None and holder.entropy_hash is not None
    commitment = commit_secret(opened.round_id, opened.secret)
    return EntropyCommitment(opened.round_id, commitment, seat, holder.entropy, holder.entropy_hash)


def test_an_honest_result_with_credit_raises_no_alarm() -> None:
    table = race_apart(3, (200, 20), lambda seat: (50, 60)[seat])
    model = before_the_result(table).with_sent(Play(number=99, move=MOVES["sa"]))
    again = snapshot(model, scene(table.state, view(table.steps, 0)))
    assert model.after(again, table.now_ms).binding.last_end is not None


def with_own_board(model: KnownRoom, board: Board) -> KnownRoom:
    """Return the client with this board in its seat."""
    assert model.scene is not None
    first, second = model.scene.seats
    seats = (first.model_copy(update={"board": board}), second)
    return replace(model, scene=model.scene.model_copy(update={"seats": seats}))


@pytest.mark.parametrize("ending", [Ending.WON, Ending.STUCK])
def test_a_race_of_ours_that_was_won_or_stuck_may_have_ended_so(ending: Ending) -> None:
    room = staged.racing()
    model = bound(room)
    board = model.board
    assert board is not None
    empty = replace(board, piles=((),) * len(board.piles), turned=None, stock=0)
    won = replace(empty, foundations=(tuple(full_deck(1)[:13]),) * 4)
    model = with_own_board(model, won if ending is Ending.WON else empty)
    assert model.scene is not None and model.board is not None
    result = finished(room, (ending, Ending.RESIGNED), model.board.placed)
    back = model.after(snapshot(model, model.scene.after(result).after(LEFT)), room.table.now_ms)
    assert back.binding.last_end is not None
