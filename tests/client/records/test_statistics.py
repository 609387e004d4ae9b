"""The figures over past matches: win rates, bests, streaks and near misses of this machine's player."""

from pathlib import Path

import pytest

from fairest_cli.records.history import PastMatch, PastRound
from fairest_cli.records.statistics import Race, Statistics, Tally, statistics_of
from fairest_protocol.calculation.race import Ending, Outcome, Score
from fairest_protocol.calculation.rules import choose_rules


def score(placed: int, ending: Ending = Ending.STUCK, goal: int = 52) -> Score:
    return Score(placed, goal, 0, 48, ending)


def match(
    *rounds: tuple[int, int],
    own_seat: int | None = 0,
    rival: str = "house",
    variant: str = "classic",
    duration_ms: int = 60_000,
) -> PastMatch:
    """Return a match with a round for each pair: our cards and the rival's. All cards placed end a race as won."""
    played = []
    for number, counts in enumerate(rounds):
        ours, theirs = (score(count, Ending.WON if count == 52 else Ending.STUCK) for count in counts)
        scores = (theirs, ours) if own_seat == 1 else (ours, theirs)
        seat = own_seat or 0
        winner = None if counts[0] == counts[1] else seat if counts[0] > counts[1] else 1 - seat
        played.append(PastRound(number, Outcome(winner, scores), duration_ms))
    names = (rival, "you") if own_seat == 1 else ("you", rival)
    return PastMatch(Path("x.jsonl"), names, choose_rules(variant), 0, tuple(played), own_seat)


def test_without_matches_all_figures_are_nothing() -> None:
    assert statistics_of([]) == Statistics(
        races=0,
        won=0,
        drawn=0,
        near_misses=0,
        streak=0,
        streak_result="drawn",
        longest_won=0,
        last=(),
        variants=(),
        rivals=(),
    )


def test_each_round_is_a_race() -> None:
    figures = statistics_of([match((30, 20), (10, 20), (20, 20))])
    assert (figures.races, figures.won, figures.drawn) == (3, 1, 1)


def test_our_seat_may_be_either() -> None:
    assert statistics_of([match((30, 20), own_seat=1)]).won == 1


def test_races_of_others_and_broken_files_do_not_count() -> None:
    broken = PastMatch(Path("broken.jsonl"), problem="torn")
    assert statistics_of([match((30, 20), own_seat=None), broken]).races == 0


def test_the_streak_is_counted_from_the_newest_race() -> None:
    figures = statistics_of([match((9, 20)), match((30, 20), (8, 20)), match((30, 20))])
    assert (figures.streak, figures.streak_result) == (2, "lost")


def test_the_longest_row_of_wins_may_be_in_the_past() -> None:
    figures = statistics_of([match((9, 20)), match((30, 20), (30, 20), (30, 20)), match((9, 20)), match((30, 20))])
    assert figures.longest_won == 3


def test_a_near_miss_is_45_of_52_without_winning() -> None:
    assert statistics_of([match((45, 46)), match((44, 46)), match((52, 46))]).near_misses == 1


def test_the_bests_of_a_variant_are_most_cards_and_the_fastest_complete_race() -> None:
    slow = match((52, 20), duration_ms=90_000)
    fast = match((52, 20), duration_ms=80_000)
    (best,) = statistics_of([match((30, 20), duration_ms=1_000), slow, fast]).variants
    assert (best.most_cards, best.goal, best.fastest_ms) == (52, 52, 80_000)


def test_a_variant_that_was_never_completed_has_no_fastest_win() -> None:
    (best,) = statistics_of([match((30, 20))]).variants
    assert best.fastest_ms is None


def test_variants_and_rivals_with_the_most_races_come_first() -> None:
    figures = statistics_of([match((1, 2), variant="senior", rival="bob"), match((1, 2), (3, 2))])
    assert [best.tally.name for best in figures.variants] == ["classic", "senior"]
    assert [(tally.name, tally.races, tally.won) for tally in figures.rivals] == [("house", 2, 1), ("bob", 1, 0)]


def test_the_last_ten_races_are_kept_with_the_newest_last() -> None:
    figures = statistics_of([match((number, 20)) for number in range(12)])
    assert [race.own.placed for race in figures.last] == list(range(9, -1, -1))


def test_a_race_has_our_own_score_and_its_time() -> None:
    (race,) = statistics_of([match((30, 20), own_seat=1, rival="bob", variant="senior", duration_ms=7)]).last
    assert race == Race("senior", "bob", score(30), "won", 7)


def test_the_result_of_a_race_is_that_of_its_winner() -> None:
    matches = [match((30, 20)), match((20, 30)), match((20, 20)), match((20, 30), own_seat=1)]
    assert [race.result for race in statistics_of(matches).last] == ["lost", "drawn", "lost", "won"]


def test_variants_and_rivals_with_as_many_races_come_by_their_names() -> None:
    figures = statistics_of([match((1, 2), variant=name, rival=name) for name in ("senior", "classic", "easy")])
    wanted = ["classic", "easy", "senior"]
    assert ([best.tally.name for best in figures.variants], [tally.name for tally in figures.rivals]) == (
        wanted,
        wanted,
    )


def test_races_are_counted_for_each_variant_and_rival() -> None:
    figures = statistics_of([match((30, 20), (9, 20), (20, 20), (31, 20))])
    assert (figures.variants[0].tally, figures.rivals[0]) == (Tally("classic", 4, 2, 1), Tally("house", 4, 2, 1))


@pytest.mark.parametrize(("races", "won", "percent"), [(0, 0, 0), (3, 1, 33), (3, 2, 67), (4, 4, 100), (1, 0, 0)])
def test_the_share_of_races_that_were_won_is_in_percent(races: int, won: int, percent: int) -> None:
    assert Tally("house", races, won, 0).percent == percent


def test_the_same_result_in_all_races_is_one_row() -> None:
    figures = statistics_of([match((30, 20)), match((30, 20))])
    assert (figures.streak, figures.longest_won) == (2, 2)
