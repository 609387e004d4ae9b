"""The races of a pair as a match: replay and analysis read it as they read any record."""

from fairest_cli.records.tournament_match import races_as_match
from fairest_protocol.calculation.race import Ending
from fairest_protocol.calculation.record_parser import read_record
from fairest_protocol.value import replace
from tests.protocol.calculation.test_tournament_record import LIMIT_SECONDS, make_record


def test_two_races_are_a_record_of_a_match_on_their_deal() -> None:
    first, second = make_record(), make_record(5, name="bob")
    match = read_record(list(races_as_match(first, second).lines()))
    outcome = match.rounds[0].outcome
    assert outcome is not None and match.names == ("ann", "bob")
    assert [score.placed for score in outcome.scores] == [first.score.placed, second.score.placed]


def test_a_race_alone_is_a_record_of_a_match_against_nobody() -> None:
    match = read_record(list(races_as_match(make_record()).lines()))
    assert match.names == ("ann", "nobody")


def test_a_race_that_ran_out_of_time_is_stopped_at_the_limit_of_the_tournament() -> None:
    record = make_record()
    cut = replace(record, moves=record.moves[:5])
    match = read_record(list(races_as_match(cut).lines()))
    outcome = match.rounds[0].outcome
    assert outcome is not None and outcome.scores[0].ending is Ending.OUT_OF_TIME
    assert max(event.at_ms or 0 for event in match.rounds[0].events) == LIMIT_SECONDS * 1000
