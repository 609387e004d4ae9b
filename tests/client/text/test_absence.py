"""Sentences about a player who is away: how long the seat still waits, and what the absence has cost."""

from fairest_cli.model.known_room import ConnectionStatus, KnownRoom
from fairest_cli.text.absence import describe_lost, describe_missing, describe_return, describe_way_back
from fairest_cli.text.narration import describe_options
from fairest_protocol.calculation.race import Ending
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.value import replace
from tests.support import staged
from tests.support.staged import StagedRoom

LONG = RoomOptions(grace_seconds=300)


def lost(room: StagedRoom) -> KnownRoom:
    """Return our model of a room to which the connection has just dropped."""
    return room.model().with_status(ConnectionStatus.LOST)


def back(room: StagedRoom, after_ms: int) -> tuple[KnownRoom, KnownRoom]:
    """Return our model before and after the return from an absence of that length."""
    before, model = lost(room), room.model()
    alive_ms = (before.binding.down_since_ms or 0) + after_ms
    return before, replace(model, binding=replace(model.binding, alive_ms=alive_ms))


def test_a_player_who_is_cut_off_sees_how_long_the_seat_waits() -> None:
    room = staged.racing()
    sentence = describe_lost(lost(room), room.table.now_ms + 17_000)
    assert "Your seat waits 0:43 more" in sentence


def test_after_the_grace_period_nothing_is_promised() -> None:
    room = staged.racing()
    sentence = describe_lost(lost(room), room.table.now_ms + 75_000)
    assert sentence == "Connection lost for 1:15; your seat waited 60 s. Reconnecting ..."


def test_a_spectator_is_promised_no_seat() -> None:
    room = staged.racing()
    assert "seat" not in describe_lost(room.model(None).with_status(ConnectionStatus.LOST), room.table.now_ms)


def test_the_player_who_waits_sees_how_long() -> None:
    room = staged.racing()
    room.table.disconnect(1)
    assert describe_missing(room.model(), room.table.now_ms + 20_000) == "bob is away; the seat waits 0:40 more."


def test_nobody_is_missing_from_a_room_in_which_both_are_there() -> None:
    room = staged.racing()
    assert describe_missing(room.model(), room.table.now_ms) == ""


def test_a_player_is_told_the_length_of_the_absence() -> None:
    assert describe_return(*back(staged.racing(), 41_000)) == "Connected again. You were away for 0:41 of 60 s."


def test_a_longer_grace_period_is_named() -> None:
    assert describe_return(*back(staged.racing(options=LONG), 41_000)).endswith("0:41 of 5:00.")


def test_a_player_whose_race_was_stopped_for_being_away_is_told_so() -> None:
    room = staged.racing()
    before = lost(room)
    room.table.disconnect(0)
    room.table.let_time_pass()
    model = room.model()
    assert model.own is not None and model.own.has_stopped
    alive_ms = (before.binding.down_since_ms or 0) + 61_000
    sentence = describe_return(before, replace(model, binding=replace(model.binding, alive_ms=alive_ms)))
    assert "Your seat's race was stopped after 60 s away; the cards that you had placed count." in sentence


def test_a_player_who_comes_back_after_the_round_is_told_why_it_ended() -> None:
    room = staged.racing()
    before = lost(room)
    room.table.disconnect(0)
    room.table.let_time_pass()
    room.table.play(1, "stop")
    model = room.model()
    assert model.scene is not None and model.scene.outcome is not None
    assert model.scene.outcome.scores[0].ending is Ending.AWAY
    assert "was stopped after 60 s away" in describe_return(before, model)


def test_a_player_who_was_not_away_is_told_nothing() -> None:
    model = staged.racing().model()
    assert describe_return(model, model) == ""


def test_the_way_back_names_the_grace_period() -> None:
    assert "Your seat waits 300 seconds." in next(describe_way_back(staged.racing(options=LONG).model(), ""))


def test_a_grace_period_that_is_not_the_usual_one_stands_among_the_options() -> None:
    assert "a seat waits 5:00 for its player" in describe_options(LONG)
    assert not any("waits" in option for option in describe_options(RoomOptions()))
