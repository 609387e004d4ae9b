"""The state of a room as a value."""

from hypothesis import given
from hypothesis import strategies as st

from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_client import Leave
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.value import replace
from fairest_server.room.state import Clocks, Deadline, DeadlineKind, RoomState, SeatState, has_work_left
from tests.support.races import Table, raced
from tests.support.random_rooms import random_log


def unlike_a_new_room() -> RoomState:
    """A state of which no field has its default, and no two fields are equal."""
    table = raced(2, RoomOptions(best_of=3))
    return replace(
        table.state,
        phase=Phase.RACING,
        clocks=Clocks(phase_until_ms=7),
        matches=5,
        match_is_over=True,
        unrecorded_match=4,
    )


def test_a_state_with_another_race_is_the_same_state_otherwise() -> None:
    state = unlike_a_new_room()
    table = Table(1)
    table.start()
    race = table.state.race
    assert race is not None
    assert race != state.race
    assert state.with_race(race) == replace(state, race=race)


def test_a_new_room_has_begun_no_match_and_has_none_to_archive() -> None:
    state = Table(1).state
    assert (state.matches, state.unrecorded_match) == (0, 0)


@given(st.integers(0, 2**32), st.sampled_from([RoomOptions(), RoomOptions(best_of=3), RoomOptions(piles=8, credit=1)]))
def test_a_step_after_which_the_next_check_is_another_one_makes_new_clocks(seed: int, options: RoomOptions) -> None:
    changed = [
        step for step in random_log(seed, options) if step.before and next_check(step.before) != next_check(step.after)
    ]
    assert changed
    assert all(step.before and step.before.clocks is not step.after.clocks for step in changed)


def next_check(state: RoomState) -> tuple[int | None, Deadline | None]:
    return state.next_check_ms(), state.next_deadline()


def test_a_pause_that_ended_with_the_last_known_one_is_known() -> None:
    state = Table(1).state
    assert not state.lacks_pause(state.clocks.paused_until_ms)
    assert state.lacks_pause(state.clocks.paused_until_ms + 1)


def test_a_room_is_not_idle_during_a_race_without_connections() -> None:
    table = Table(1)
    table.start()
    table.disconnect(0)
    table.disconnect(1)
    kinds = [deadline.kind for deadline in table.state.deadlines()]
    assert sorted(kinds, key=str) == [DeadlineKind.PHASE, DeadlineKind.SEAT, DeadlineKind.SEAT]


def test_a_match_that_a_player_leaves_before_its_second_race_waits_to_be_archived() -> None:
    table = Table(1, RoomOptions(best_of=3))
    table.start()
    table.play(0, "resign")
    table.let_time_pass()
    table.submit(table.request(0, Leave()))
    assert table.state.unrecorded_match == 1


def test_a_match_that_a_player_leaves_before_its_first_race_is_not_archived() -> None:
    table = Table(1)
    table.seat_both()
    table.submit(table.request(0, Leave()))
    assert table.state.unrecorded_match == 0


def test_a_new_seat_has_no_connection_and_nothing_of_a_match() -> None:
    assert SeatState("player-0", "ann") == SeatState("player-0", "ann", None, None, None, 0, 0, False, False, 0, "")


def test_a_deadline_of_the_room_belongs_to_no_seat() -> None:
    assert Deadline(7, DeadlineKind.PHASE).seat == -1


def test_no_deadline_applies_and_no_pause_is_counted_in_new_clocks() -> None:
    assert Clocks() == Clocks(None, (None, None), None, None, None, None, 0)


def test_a_match_that_has_just_finished_is_to_be_recorded_at_once() -> None:
    table = raced(2)
    assert table.state.next_check_ms() == table.state.clocks.finished_at_ms


def test_a_match_to_record_is_work_for_some_process_until_it_is_recorded() -> None:
    table = raced(2)
    assert has_work_left(table.state)
    table.record_match()
    assert not has_work_left(table.state)
