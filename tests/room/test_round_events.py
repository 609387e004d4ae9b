"""The events of a round under way come back as they went in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.calculation.race import Ending
from fairest_protocol.calculation.record import RecordedMove, RecordedStop
from fairest_protocol.value import replace
from fairest_server.room.round_events import RoundEvents

times = st.integers(0, 10 * 86_400_000)
moves = st.builds(RecordedMove, times, st.integers(0, 1), st.sampled_from(list(MOVES.values())))
stops = st.builds(RecordedStop, times | st.none(), st.sampled_from([(0,), (1,), (0, 1)]), st.sampled_from(list(Ending)))
rounds = st.lists(moves | stops, max_size=20).map(lambda events: sorted(events, key=lambda event: event.at_ms or 0))


def held(events: list[RecordedMove | RecordedStop]) -> RoundEvents:
    holding = RoundEvents()
    for event in events:
        if isinstance(event, RecordedMove):
            holding.add_move(event.at_ms, event.seat, event.move)
        else:
            holding.add_stop(event)
    return holding


@given(rounds)
def test_events_come_back_in_their_order(events: list[RecordedMove | RecordedStop]) -> None:
    assert held(events).recorded() == tuple(events)


@given(rounds)
def test_the_latest_time_is_that_of_the_last_event(events: list[RecordedMove | RecordedStop]) -> None:
    assert held(events).latest_ms == (events[-1].at_ms or 0 if events else 0)


@given(rounds, times)
def test_no_event_is_later_than_the_time_to_which_all_are_clamped(
    events: list[RecordedMove | RecordedStop], latest_ms: int
) -> None:
    holding = held(events)
    holding.clamp(latest_ms)
    assert holding.recorded() == tuple(
        replace(event, at_ms=latest_ms) if (event.at_ms or 0) > latest_ms else event for event in events
    )


@pytest.mark.parametrize("later", [RecordedMove(300, 1, MOVES["sa"]), RecordedStop(300, (1,), Ending.AWAY)])
def test_no_event_is_before_the_last_one(later: RecordedMove | RecordedStop) -> None:
    holding = held([RecordedMove(500, 0, MOVES["sa"]), later])
    assert [event.at_ms for event in holding.recorded()] == [500, 500]


def test_a_stop_before_the_start_has_no_time_after_all_times_are_clamped() -> None:
    stop = RecordedStop(None, (0,), Ending.AWAY)
    holding = held([stop, RecordedMove(500, 1, MOVES["sa"])])
    holding.clamp(0)
    assert holding.recorded() == (stop, RecordedMove(0, 1, MOVES["sa"]))


def test_the_time_to_which_all_were_clamped_is_the_latest() -> None:
    holding = held([RecordedMove(500, 1, MOVES["sa"])])
    holding.clamp(300)
    assert holding.latest_ms == 300
