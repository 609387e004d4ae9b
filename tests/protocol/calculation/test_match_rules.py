"""The matches that a server can have run, at the bounds of their rules; tests/client/records has the forged ones."""

from typing import Any

import pytest

from fairest_protocol.calculation.match_rules import check_match, check_round, is_match_over
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.calculation.race import Ending
from fairest_protocol.calculation.record import BadRecord, Record, RecordedMove, RecordedRound, RecordedStop
from fairest_protocol.calculation.terms import parse_terms
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.value import replace
from tests.support.races import raced
from tests.support.races_apart import credited_tables
from tests.support.records import signed_record


@pytest.fixture(scope="module")
def record() -> Record:
    return signed_record(raced(3))


@pytest.fixture(scope="module")
def credited() -> Record:
    """A race that seat 1 won; seat 0, whose last chance was over then, was stopped at 13,135 ms."""
    return signed_record(credited_tables()[0])


def with_round(record: Record, **changes: Any) -> Record:
    return replace(record, rounds=(replace(record.rounds[0], **changes),))


@pytest.mark.parametrize(
    ("winners", "best_of", "is_over"),
    [
        ([], 1, False),
        ([0], 1, True),
        ([None], 1, True),
        ([0], 3, False),
        ([0, 1], 3, False),
        ([0, 0], 3, True),
        ([1, 1], 3, True),
        ([None, None], 3, False),
        ([None, None, None], 3, True),
        ([0, 0, 1, 1], 5, False),
        ([0, 0, 0], 5, True),
    ],
)
def test_a_match_is_over_once_most_rounds_are_won_or_all_were_raced(
    winners: list[int | None], best_of: int, is_over: bool
) -> None:
    assert is_match_over(winners, best_of) == is_over


def called_off(count: int) -> tuple[RecordedRound, ...]:
    hidden = bytes(32)
    return tuple(RecordedRound(number.to_bytes(16, "big"), hidden, bytes(64), hidden) for number in range(count))


def test_a_thousand_rounds_may_be_called_off_before_a_match(record: Record) -> None:
    check_match(replace(record, rounds=(*called_off(1_000), *record.rounds)))


def test_more_than_a_thousand_are_not_listed(record: Record) -> None:
    with pytest.raises(BadRecord, match=r"^more than 1000 rounds were called off before the match$"):
        check_match(replace(record, rounds=(*called_off(1_001), *record.rounds)))


def test_a_round_of_a_certified_match_that_was_not_dealt_has_no_step(record: Record) -> None:
    terms = parse_terms(RoomOptions(certified=1).resolved().terms())
    check_round(replace(record, terms=terms, rounds=called_off(1)), 0)


def test_a_move_does_not_come_before_a_stop_in_the_countdown(record: Record) -> None:
    events = (RecordedMove(0, 0, MOVES["sa"]), RecordedStop(None, (1,), Ending.AWAY))
    with pytest.raises(BadRecord, match=r"^round 1: time goes back$"):
        check_round(with_round(record, events=events), 0)


def stopped_at(credited: Record, at_ms: int, limit_seconds: int, seats: tuple[int, ...] = (0,)) -> Record:
    """Return the race with its stop at another time, in a room with another limit."""
    *moves, stop = credited.rounds[0].events
    assert isinstance(stop, RecordedStop)
    text = credited.terms.text.replace("limit_seconds=1200", f"limit_seconds={limit_seconds}")
    limited = replace(credited, terms=replace(credited.terms, text=text))
    return with_round(limited, events=(*moves, replace(stop, at_ms=at_ms, seats=seats)))


@pytest.mark.parametrize(("at_ms", "limit_seconds"), [(13_135, 1_200), (13_135, 13), (13_000, 13)])
def test_a_seat_behind_a_winner_is_stopped_after_its_last_chance_or_at_the_limit(
    credited: Record, at_ms: int, limit_seconds: int
) -> None:
    check_round(stopped_at(credited, at_ms, limit_seconds), 0)


@pytest.mark.parametrize(("at_ms", "limit_seconds"), [(13_000, 1_200), (12_999, 13)])
def test_it_is_not_stopped_sooner(credited: Record, at_ms: int, limit_seconds: int) -> None:
    with pytest.raises(BadRecord, match=r"these seats are not stopped by round_over$"):
        check_round(stopped_at(credited, at_ms, limit_seconds), 0)


def test_a_last_chance_stops_the_seat_that_races_and_no_fewer(credited: Record) -> None:
    with pytest.raises(BadRecord, match=r"these seats are not stopped by round_over$"):
        check_round(stopped_at(credited, 13_135, 1_200, seats=()), 0)
