"""The analysis of a round: the same for everybody, with a deal that is solved, and a difficulty with its interval."""

import pytest

from fairest_cli.analysis.judging import Effort
from fairest_cli.analysis.round_analysis import RoundAnalysis, analyse_round, measure_difficulty, wilson_interval
from fairest_protocol.calculation.deal import make_deal
from fairest_protocol.calculation.exhaustion import Verdict
from fairest_protocol.calculation.race import start_race
from fairest_protocol.calculation.rules import choose_rules
from fairest_protocol.calculation.solver import wins
from tests.support.records import make_record

RECORD = make_record(3)
EFFORT = Effort(roll_outs=2, close_look=20, club_games=0)
PROGRESS: list[tuple[int, int]] = []


@pytest.fixture(scope="module")
def analysis() -> RoundAnalysis:
    PROGRESS.clear()
    return analyse_round(RECORD, 0, (0,), EFFORT, lambda done, total: PROGRESS.append((done, total)))


def test_the_line_that_wins_the_deal_is_one_by_the_rules(analysis: RoundAnalysis) -> None:
    race = start_race(RECORD.rules, make_deal(RECORD.rules, RECORD.rounds[0].seed), seats=1)
    assert analysis.solution.verdict is Verdict.WINNABLE
    assert wins(race, 0, analysis.solution.line)


def test_only_the_seats_that_were_asked_for_are_analysed(analysis: RoundAnalysis) -> None:
    assert set(analysis.moves) == set(analysis.mistakes) == {0}


def test_the_moves_named_are_moves_of_the_seat(analysis: RoundAnalysis) -> None:
    numbers = {judged.number for judged in analysis.moves[0]}
    assert {mistake.judged.number for mistake in analysis.mistakes[0]} <= numbers


def test_progress_grows_to_the_end(analysis: RoundAnalysis) -> None:
    assert analysis.outcome is not None
    assert sorted(PROGRESS) == PROGRESS
    assert PROGRESS[-1][0] == PROGRESS[-1][1]


def test_the_same_record_gives_the_same_analysis(analysis: RoundAnalysis) -> None:
    assert analyse_round(RECORD, 0, (0,), EFFORT, lambda _done, _total: None) == analysis


@pytest.mark.long
def test_the_club_rival_plays_a_deal_as_often_as_it_is_told() -> None:
    rules = choose_rules("easy", piles=6)
    assert measure_difficulty(rules, make_deal(rules, bytes(32)), 0, 2).games == 2


@pytest.mark.parametrize(("games_won", "low", "high"), [(0, 0.0, 0.161), (10, 0.299, 0.701), (20, 0.839, 1.0)])
def test_the_interval_of_a_rate_is_wilsons(games_won: int, low: float, high: float) -> None:
    assert wilson_interval(games_won, 20) == pytest.approx((low, high), abs=0.001)
