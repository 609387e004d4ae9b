"""The end of a round that only a snapshot shows, after a cut of a moment, is judged as one that entries show.

The client sits in seat 0, and has followed the room up to the snapshot.
"""

from typing import Final

import pytest

from fairest_cli.model.cheated import Cheated
from fairest_cli.model.known_room import ConnectionStatus, Contradiction, KnownRoom
from fairest_protocol.calculation.race import Ending, Outcome, Score, judge
from fairest_protocol.messages import entries
from fairest_protocol.messages.entries import Entry
from fairest_protocol.messages.from_server import Snapshot
from fairest_protocol.messages.scene import Scene
from fairest_protocol.value import replace
from tests.support import staged
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
    scene = model.scene
    for entry in missed:
        scene = scene.after(entry)
    return model.after(snapshot(model, scene), room.table.now_ms)


def snapshot(model: KnownRoom, scene: Scene) -> Snapshot:
    assert model.room is not None and model.seat is not None
    position = model.position + 1
    return Snapshot(room=model.room, seat=0, position=position, tag="00000000", now_ms=0, scene=scene)


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
