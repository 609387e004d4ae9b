"""Tallies: what each round adds to them."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from fairest_protocol.value import replace
from fairest_server.ratings.match_result import MatchResult, RoundResult, SeatResult
from fairest_server.ratings.rating import NEW, Rating, age, rate
from fairest_server.ratings.tally import MatchTallies, PairScore, Tally, rate_match

PLAIN = SeatResult(won_ms=None, direct=0, is_near_miss=False, has_left=False)


def won_by(*winners: int | None, day: int = 20_000) -> MatchResult:
    return MatchResult("classic", day, tuple(RoundResult(winner, (PLAIN, PLAIN)) for winner in winners))


def after(*winners: int | None) -> Tally:
    """The tally of the first player after rounds with these winners."""
    return rate_match(MatchTallies(), won_by(*winners), is_swapped=False).tallies[0]


def test_a_player_without_rounds_has_a_new_rating() -> None:
    assert Tally().rating_on(20_000) == NEW


def test_each_round_moves_the_rating_that_the_round_before_has_left() -> None:
    first, second = rate(rate((NEW, NEW), 0), 1)
    tallies = rate_match(MatchTallies(), won_by(0, 1), is_swapped=False).tallies
    assert [Rating(each.mean, each.deviation) for each in tallies] == [first, second]


def test_rounds_wins_and_draws_are_counted() -> None:
    tally = after(0, 0, 1, None, 0)
    assert (tally.rounds, tally.wins, tally.draws) == (5, 3, 1)


def test_a_streak_counts_the_newest_rounds_that_were_won() -> None:
    assert after(1, 0, 0, 0).streak == 3


def test_a_streak_below_zero_counts_lost_rounds() -> None:
    assert after(0, 1, 1).streak == -2


def test_a_draw_ends_a_streak() -> None:
    assert after(0, 0, None).streak == 0


def test_the_best_streak_stays() -> None:
    assert after(0, 0, 0, 1, 0).best_streak == 3


def test_the_shortest_time_of_a_full_board_stays() -> None:
    times = [None, 200_000, 150_000, 170_000]
    rounds = tuple(RoundResult(0, (replace(PLAIN, won_ms=time), PLAIN)) for time in times)
    after_all = rate_match(MatchTallies(), MatchResult("classic", 1, rounds), is_swapped=False)
    assert [tally.best_ms for tally in after_all.tallies] == [150_000, None]


def test_near_misses_rounds_left_and_the_best_direct_score_are_kept() -> None:
    seat = SeatResult(won_ms=None, direct=9, is_near_miss=True, has_left=True)
    rounds = (RoundResult(1, (seat, PLAIN)), RoundResult(1, (replace(PLAIN, direct=4), PLAIN)))
    tally = rate_match(MatchTallies(), MatchResult("classic", 1, rounds), is_swapped=False).tallies[0]
    assert (tally.near_misses, tally.left, tally.best_direct) == (1, 1, 9)


def test_absence_makes_a_rating_less_certain_before_the_next_round() -> None:
    before = rate_match(MatchTallies(), won_by(0, day=20_000), is_swapped=False)
    aged = tuple(age(Rating(each.mean, each.deviation), 100) for each in before.tallies)
    following = rate_match(before, won_by(0, day=20_100), is_swapped=False)
    assert tuple(Rating(each.mean, each.deviation) for each in following.tallies) == rate((aged[0], aged[1]), 0)


def test_a_match_of_an_earlier_day_leaves_the_later_day() -> None:
    before = rate_match(MatchTallies(), won_by(0, day=20_000), is_swapped=False)
    following = rate_match(before, won_by(0, day=19_990), is_swapped=False)
    assert [tally.day for tally in following.tallies] == [20_000, 20_000]


def test_a_provisional_tally_is_established_on_no_day() -> None:
    assert after(0).established_until == -1


def test_an_established_tally_says_until_when() -> None:
    tally = Tally(deviation=200_000, day=20_000, rounds=30)
    until = tally.established_until
    assert not tally.rating_on(until).is_provisional and tally.rating_on(until + 1).is_provisional


def test_the_score_of_a_pair_has_the_player_with_the_smaller_id_first() -> None:
    rounds = (RoundResult(0, (replace(PLAIN, direct=7), replace(PLAIN, direct=2))),)
    result = MatchResult("classic", 5, rounds)
    assert rate_match(MatchTallies(), result, is_swapped=False).pair == PairScore((1, 0), 0, (7, 2), 5)
    assert rate_match(MatchTallies(), result, is_swapped=True).pair == PairScore((0, 1), 0, (2, 7), 5)


def test_draws_of_a_pair_are_counted() -> None:
    assert rate_match(MatchTallies(), won_by(None, None, 1), is_swapped=False).pair.draws == 2


@given(st.lists(st.sampled_from([0, 1, None]), max_size=12), st.integers(0, 12))
def test_a_match_in_two_parts_comes_to_the_same_as_a_whole_one(winners: list[int | None], cut: int) -> None:
    whole = rate_match(MatchTallies(), won_by(*winners), is_swapped=False)
    first = rate_match(MatchTallies(), won_by(*winners[:cut]), is_swapped=False)
    assert rate_match(first, won_by(*winners[cut:]), is_swapped=False) == whole


@given(st.lists(st.sampled_from([0, 1, None]), max_size=12))
def test_a_tally_is_read_as_it_was_written(winners: list[int | None]) -> None:
    tally = after(*winners)
    assert msgspec.json.decode(msgspec.json.encode(tally), type=Tally) == tally
