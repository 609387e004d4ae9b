"""Attempts at a daily deal as a match: replay and analysis read it as they read any record."""

import pytest

from fairest_cli.records.daily_match import as_match
from fairest_protocol.calculation.daily import score_attempt
from fairest_protocol.calculation.daily_record import DailyRecord
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.calculation.race import Ending
from fairest_protocol.calculation.record import BadRecord
from fairest_protocol.calculation.record_parser import read_record
from fairest_protocol.calculation.timed_moves import TimedMove
from fairest_protocol.value import replace
from tests.protocol.calculation.test_daily_record import make_record


def stopped_after(count: int) -> DailyRecord:
    record = make_record()
    moves = (*record.moves[:count], TimedMove(60_000, MOVES["stop"]))
    shorter = replace(record, moves=moves, name="bob")
    return replace(shorter, score=score_attempt(shorter.replay(), 60_000))


def test_an_attempt_alone_is_a_record_of_a_match() -> None:
    record = make_record()
    match = read_record(list(as_match(record).lines()))
    outcome = match.rounds[0].outcome
    assert outcome is not None
    assert outcome.scores[0].placed == record.score.placed
    assert [score.ending for score in outcome.scores] == [Ending.STUCK, Ending.AWAY]


def test_two_attempts_are_a_record_of_a_match_on_their_deal() -> None:
    first, second = make_record(), stopped_after(10)
    match = read_record(list(as_match(first, second).lines()))
    outcome = match.rounds[0].outcome
    assert outcome is not None and match.names == ("ann", "bob")
    assert [score.placed for score in outcome.scores] == [first.score.placed, second.score.placed]


def test_an_attempt_that_ran_out_of_time_is_stopped_by_the_clock() -> None:
    record = make_record()
    cut = replace(record, moves=record.moves[:5])
    outcome = read_record(list(as_match(cut).lines())).rounds[0].outcome
    assert outcome is not None and outcome.scores[0].ending is Ending.OUT_OF_TIME


def test_a_match_of_other_moves_is_refused() -> None:
    record = make_record()
    with pytest.raises(BadRecord):
        replace(record, moves=record.moves[3:]).check()
