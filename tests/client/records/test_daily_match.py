"""Attempts at a daily deal as a match: replay and analysis read it as they read any record."""

import pytest

from fairest_cli.records.daily_match import as_match
from fairest_protocol.calculation.daily import day_start_ms, score_attempt
from fairest_protocol.calculation.daily_record import DailyRecord
from fairest_protocol.calculation.deal import seal_deal
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.calculation.race import Ending
from fairest_protocol.calculation.record import BadRecord, RecordedMove, RecordedStop
from fairest_protocol.calculation.record_parser import read_record
from fairest_protocol.calculation.seal import commit_entropy
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


def test_the_round_of_the_match_has_the_deck_the_secret_and_the_beacon_of_the_attempt() -> None:
    record = make_record()
    (played,) = as_match(record).rounds
    round_id = record.round_id
    assert (played.round_id, played.commitment, played.secret) == (round_id, record.commitment, record.secret)
    assert played.entropies == (record.beacon, bytes(32))
    assert played.entropy_hashes == (commit_entropy(round_id, 0, record.beacon), commit_entropy(round_id, 1, bytes(32)))
    assert played.envelopes == seal_deal(record.rules, record.seed, round_id).envelopes


def test_the_match_of_an_attempt_is_of_its_day_and_not_signed() -> None:
    record = make_record()
    match = as_match(record)
    assert (match.match_id, match.room, match.names) == (record.round_id.hex(), "daily-deal", ("ann", "nobody"))
    assert (match.key, match.signature, match.rounds[0].signature) == (bytes(32), bytes(64), bytes(64))
    assert (match.finished_at_ms, match.rules) == (day_start_ms("2026-11-24"), record.rules)


def test_an_attempt_alone_has_nobody_beside_it_from_the_start() -> None:
    first, *moves = as_match(make_record()).rounds[0].events
    assert first == RecordedStop(None, (1,), Ending.AWAY)
    assert all(isinstance(each, RecordedMove) and each.seat == 0 for each in moves)


def test_the_moves_of_two_attempts_come_in_the_order_of_their_times_the_first_seat_first() -> None:
    first, second = make_record(), stopped_after(10)
    events = as_match(first, second).rounds[0].events
    moves = [(each.at_ms, each.seat) for each in events if isinstance(each, RecordedMove)]
    assert moves == sorted(moves) and len(moves) == len(first.moves) + len(second.moves)


def test_attempts_that_are_both_under_way_at_the_limit_end_there_together() -> None:
    record = make_record()
    cut, other = replace(record, moves=record.moves[:5]), replace(record, moves=record.moves[:6], name="bob")
    *_, last = as_match(cut, other).rounds[0].events
    assert last == RecordedStop(1_200_000, (0, 1), Ending.OUT_OF_TIME)
