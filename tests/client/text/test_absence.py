"""Sentences about a player who is away: how long the seat still waits, and what the absence has cost."""

from fairest_cli.model.known_room import ConnectionStatus, KnownRoom
from fairest_cli.records.earlier_run import EarlierRun
from fairest_cli.session.connection import Update
from fairest_cli.text.absence import (
    describe_lost,
    describe_missing,
    describe_other_seats,
    describe_return,
    describe_way_back,
)
from fairest_cli.text.room_options import describe_options
from fairest_protocol.calculation.race import Ending
from fairest_protocol.messages import entries
from fairest_protocol.messages.from_server import View
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.value import replace
from tests.support import staged
from tests.support.staged import StagedRoom

LONG = RoomOptions(grace_seconds=300)


def lost(room: StagedRoom) -> KnownRoom:
    """Return our model of a room to which the connection has just dropped."""
    return room.model().with_status(ConnectionStatus.LOST)


def back(room: StagedRoom, after_ms: int) -> tuple[KnownRoom, Update]:
    """Return our model before the return from an absence of that length, and the update with which we are back."""
    before = lost(room)
    return before, returned(room, (before.binding.down_since_ms or 0) + after_ms)


def returned(room: StagedRoom, at_ms: int, earlier: EarlierRun | None = None) -> Update:
    """Return the update that shows us the room at that time of our clock."""
    model = room.model()
    return Update(replace(model, binding=replace(model.binding, alive_ms=at_ms)), earlier=earlier)


def earlier(room: StagedRoom, *, is_race_over: bool = False) -> EarlierRun:
    """Return an earlier run of our client, which ended now in the present round of the room."""
    opened = room.table.state.round
    assert opened is not None
    return EarlierRun(room.table.now_ms, opened.round_id.hex(), is_race_over)


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


def test_a_player_who_was_missed_late_is_told_that_the_race_goes_on() -> None:
    assert describe_return(*back(staged.racing(), 75_000)) == (
        "Connected again. You were away for 1:15, and missed for less than 60 s: your race goes on."
    )


def test_a_longer_grace_period_is_named() -> None:
    assert describe_return(*back(staged.racing(options=LONG), 41_000)).endswith("0:41 of 5:00.")


def test_a_player_whose_race_was_stopped_for_being_away_is_told_so() -> None:
    room = staged.racing()
    before = lost(room)
    room.table.disconnect(0)
    room.table.let_time_pass()
    update = returned(room, (before.binding.down_since_ms or 0) + 61_000)
    assert update.model.own is not None and update.model.own.has_stopped
    sentence = describe_return(before, update)
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
    assert "was stopped after 60 s away" in describe_return(before, Update(model))


def test_a_player_who_was_not_away_is_told_nothing() -> None:
    model = staged.racing().model()
    assert describe_return(model, Update(model)) == ""


def test_the_time_for_which_the_server_has_missed_us_counts_if_ours_is_shorter() -> None:
    room = staged.racing()
    before = lost(room)
    update = returned(room, (before.binding.down_since_ms or 0) + 1_000)
    until_ms = update.model.binding.alive_ms - update.model.clock_ahead_ms - 45_000 + 60_000
    missed = View(position=1, tag="00000000", entries=(entries.Detached(seat=0, until_ms=until_ms),))
    assert "away for 0:45 of 60 s" in describe_return(before, replace(update, message=missed))


def test_a_client_that_was_started_again_says_how_long_it_was_away() -> None:
    room = staged.racing()
    update = returned(room, room.table.now_ms + 41_000, earlier(room))
    assert describe_return(KnownRoom(), update) == "You are back. You were away for at most 0:41 of 60 s."


def test_a_client_that_was_started_again_says_that_its_race_was_stopped() -> None:
    room = staged.racing()
    run = earlier(room)
    room.table.disconnect(0)
    room.table.let_time_pass()
    sentence = describe_return(KnownRoom(), returned(room, run.last_ms + 61_000, run))
    assert "away for at most 1:01 of 60 s. Your seat's race was stopped after 60 s away" in sentence


def test_a_race_that_was_over_before_the_client_ended_was_not_stopped_for_the_absence() -> None:
    room = staged.racing()
    room.table.play(0, "stop")
    run = earlier(room, is_race_over=True)
    assert describe_return(KnownRoom(), returned(room, run.last_ms + 61_000, run)).endswith("1:01 of 60 s.")


def test_a_client_that_was_started_again_in_another_round_says_that_its_round_is_over() -> None:
    room = staged.racing()
    run = replace(earlier(room), round_id="00")
    sentence = describe_return(KnownRoom(), returned(room, run.last_ms + 61_000, run))
    assert sentence.endswith("The round you were in is over.")


def test_the_way_back_names_the_grace_period() -> None:
    assert "Your seat waits 300 seconds." in next(describe_way_back(staged.racing(options=LONG).model(), ""))


def test_a_grace_period_that_is_not_the_usual_one_stands_among_the_options() -> None:
    assert "a seat waits 5:00 for its player" in describe_options(LONG)
    assert not any("waits" in option for option in describe_options(RoomOptions()))


def test_the_room_that_is_entered_is_no_other_seat() -> None:
    rooms = ("calm-blue-heron", "quiet-amber-otter")
    lines = list(describe_other_seats(KnownRoom(server_url="ws://here"), rooms, "quiet-amber-otter", " --name ann"))
    assert lines == [
        "You have a seat in calm-blue-heron as well: fairest join calm-blue-heron --server ws://here --name ann"
    ]
