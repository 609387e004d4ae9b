"""The rule by which distance is credited, as a function of values."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from fairest_protocol.calculation.distance import (
    MAX_ROUND_TRIP_US,
    Answer,
    Timing,
    believed_us,
    credit_ms,
    first_by_correction,
    last_chance_ms,
    make_timing,
    uncertainty_ms,
)

ROUND_TRIPS = st.integers(0, MAX_ROUND_TRIP_US)
THINKS = st.lists(st.tuples(st.integers(0, 5_000), st.booleans()), min_size=1, max_size=60)
"""For each card the time that a player thinks, and whether its move is a proof."""


def answers_of(thinks: list[tuple[int, bool]], rtt_ms: int) -> tuple[Answer, ...]:
    """Return the answers of a player at this distance, one behind the other."""
    answers, now_ms = [], 0
    for think_ms, is_proof in thinks:
        answers.append(Answer(now_ms, now_ms + rtt_ms + think_ms, is_proof))
        now_ms = answers[-1].taken_ms
    return tuple(answers)


def timing_of(thinks: list[tuple[int, bool]], rtt_ms: int, measured_us: int | None = None) -> Timing:
    """Return the ledger's row of a player who placed the last card with the last of these answers."""
    answers = answers_of(thinks, rtt_ms)
    return make_timing(rtt_ms * 1000 if measured_us is None else measured_us, answers, answers[-1].taken_ms)


def better(seat: int, winner: int | None) -> int:
    """Return how good a result is for a seat."""
    return 1 if winner is None else 2 * (winner == seat)


def test_each_card_is_credited_with_the_round_trip() -> None:
    assert timing_of([(900, True), (500, False), (700, False)], 150).credit_ms == 450


def test_no_card_is_credited_with_more_than_the_time_for_which_it_lay() -> None:
    blind = (Answer(0, 1_000, False), Answer(1_000, 1_010, False))
    assert credit_ms(200_000, blind) == 210


def test_a_card_that_was_answered_sooner_than_a_round_trip_shows_that_the_player_is_nearer() -> None:
    assert believed_us(200_000, (Answer(0, 900, True), Answer(900, 930, True))) == 30_000


def test_a_card_that_was_laid_on_a_pile_unseen_shows_nothing() -> None:
    assert believed_us(200_000, (Answer(0, 900, False), Answer(900, 930, False))) == 200_000


def test_the_round_trip_that_is_credited_is_bounded() -> None:
    assert believed_us(10 * MAX_ROUND_TRIP_US, ()) == MAX_ROUND_TRIP_US


def test_without_round_trips_the_first_to_arrive_is_first() -> None:
    assert first_by_correction([make_timing(0, (), 5_000), make_timing(0, (), 5_001)]) == 0


def test_a_difference_within_the_uncertainty_is_a_dead_heat() -> None:
    pair = [Timing(10_000, 100_000, 5_000, 5_000), Timing(10_050, 100_000, 5_000, 5_050)]
    assert (uncertainty_ms(5_000, 5_000), first_by_correction(pair)) == (100, None)


@given(THINKS, THINKS, ROUND_TRIPS, ROUND_TRIPS)
def test_swapping_the_seats_swaps_the_result(
    one: list[tuple[int, bool]], other: list[tuple[int, bool]], rtt_us: int, other_us: int
) -> None:
    first, second = timing_of(one, rtt_us // 1000), timing_of(other, other_us // 1000)
    there, back = first_by_correction([first, second]), first_by_correction([second, first])
    assert back == (None if there is None else 1 - there)


@given(THINKS, THINKS, st.integers(0, 200), st.integers(0, 300), st.integers(0, 100))
def test_more_honest_distance_never_loses(
    one: list[tuple[int, bool]], other: list[tuple[int, bool]], rtt_ms: int, other_ms: int, farther_ms: int
) -> None:
    assume(rtt_ms + farther_ms <= MAX_ROUND_TRIP_US // 1000)
    second = timing_of(other, other_ms)
    near = first_by_correction([timing_of(one, rtt_ms), second])
    far = first_by_correction([timing_of(one, rtt_ms + farther_ms), second])
    # A longer way is credited in full, and is less certain: a narrow result may become a dead heat, never another one.
    assert far == near or far is None


@given(THINKS, st.integers(0, 300), st.integers(0, 3_000))
def test_a_move_that_is_delayed_never_gains_time(thinks: list[tuple[int, bool]], rtt_ms: int, delay_ms: int) -> None:
    late = [(think_ms + delay_ms, is_proof) for think_ms, is_proof in thinks]
    prompt, delayed = timing_of(thinks, rtt_ms), timing_of(late, rtt_ms)
    assert prompt.corrected_ms is not None and delayed.corrected_ms is not None
    assert delayed.corrected_ms >= prompt.corrected_ms


@given(THINKS, st.integers(0, 300), st.integers(0, 3_000))
def test_moves_and_pongs_that_are_delayed_alike_never_gain_time(
    thinks: list[tuple[int, bool]], rtt_ms: int, delay_ms: int
) -> None:
    late = [(think_ms + delay_ms, is_proof) for think_ms, is_proof in thinks]
    prompt, feigned = timing_of(thinks, rtt_ms), timing_of(late, rtt_ms, (rtt_ms + delay_ms) * 1000)
    assert prompt.corrected_ms is not None and feigned.corrected_ms is not None
    assert feigned.corrected_ms >= prompt.corrected_ms


@given(THINKS, st.integers(0, 300), st.integers(0, 3_000))
def test_a_feigned_round_trip_gains_no_more_than_the_fastest_proof_allows(
    thinks: list[tuple[int, bool]], rtt_ms: int, delay_ms: int
) -> None:
    proofs = [think_ms for think_ms, is_proof in thinks if is_proof]
    assume(proofs)
    honest, feigned = timing_of(thinks, rtt_ms), timing_of(thinks, rtt_ms, (rtt_ms + delay_ms) * 1000)
    assert feigned.credit_ms <= honest.credit_ms + len(thinks) * min(proofs)


@given(THINKS, THINKS, st.integers(0, 300), st.integers(0, 300))
def test_a_seat_whose_last_chance_is_over_can_not_win(
    one: list[tuple[int, bool]], other: list[tuple[int, bool]], rtt_ms: int, other_ms: int
) -> None:
    winner, behind = timing_of(one, rtt_ms), timing_of(other, other_ms)
    answers = answers_of(other, other_ms)
    chances = (
        last_chance_ms(winner, other_ms * 1000, answers[:taken], has_turned=True) for taken in range(len(answers))
    )
    is_over = any(answer.taken_ms > chance_ms for answer, chance_ms in zip(answers, chances, strict=True))
    assert not is_over or first_by_correction([winner, behind]) in (0, None)


@given(THINKS, st.integers(0, 300))
def test_a_corrected_time_is_never_negative(thinks: list[tuple[int, bool]], rtt_ms: int) -> None:
    corrected_ms = timing_of(thinks, rtt_ms).corrected_ms
    assert corrected_ms is not None and corrected_ms >= 0


@pytest.mark.parametrize("rtt_us", [-1, -(10**9)])
def test_a_negative_round_trip_is_credited_with_nothing(rtt_us: int) -> None:
    assert credit_ms(rtt_us, (Answer(0, 500, True),)) == 0


@pytest.mark.parametrize(
    ("rtt_us", "answers", "has_turned", "last_ms"),
    [
        (0, (), False, 9_000 + 10),
        (150_900, (), False, 9_000 + 10),
        (150_900, (), True, 9_000 + 151 + 11),
        (150_900, (Answer(0, 500, False),), False, 9_000 + 150 + 11),
        (150_900, (Answer(0, 500, False),), True, 9_000 + 301 + 13),
        (150_900, (Answer(0, 40, True),), True, 9_000 + 81 + 10),
        (10**9, (), True, 9_000 + 301 + 13),
    ],
)
def test_the_last_chance_is_the_winners_corrected_time_and_what_the_other_seat_may_be_credited(
    rtt_us: int, answers: tuple[Answer, ...], has_turned: bool, last_ms: int
) -> None:
    winner = Timing(10_000, 200_000, 1_000, 9_000)
    assert last_chance_ms(winner, rtt_us, answers, has_turned=has_turned) == last_ms


@pytest.mark.parametrize(
    ("first_ms", "second_ms", "winner"),
    [(5_000, 5_101, 0), (5_000, 5_100, None), (5_100, 5_000, None), (5_101, 5_000, 1), (5_000, 5_000, None)],
)
def test_a_hundredth_of_both_credits_is_a_dead_heat_to_the_millisecond(
    first_ms: int, second_ms: int, winner: int | None
) -> None:
    pair = [Timing(9_000, 100_000, 4_000, first_ms), Timing(9_000, 100_000, 6_099, second_ms)]
    assert first_by_correction(pair) == winner


def test_the_row_of_a_seat_has_its_arrival_its_credit_and_what_is_left() -> None:
    answers = (Answer(0, 500, False), Answer(500, 1_000, False))
    assert make_timing(100_000, answers, 7_000) == Timing(7_000, 100_000, 200, 6_800)
    assert make_timing(100_000, answers, None) == Timing(None, 100_000, 200, None)


def test_credit_is_counted_in_microseconds_and_rounded_down_at_the_end() -> None:
    answers = tuple(Answer(at_ms, at_ms + 500, False) for at_ms in (0, 500, 1_000))
    assert credit_ms(100_900, answers) == 302


@pytest.mark.parametrize("lay_ms", [299, 300, 301])
def test_a_hundred_cards_are_credited_with_the_time_for_which_they_lay_up_to_a_round_trip_each(lay_ms: int) -> None:
    answers = tuple(Answer(at_ms, at_ms + lay_ms, False) for at_ms in range(0, 100_000, 1_000))
    assert credit_ms(300_000, answers) == 100 * min(lay_ms, 300)


def test_without_credit_a_millisecond_decides() -> None:
    assert first_by_correction([Timing(9, 0, 0, 9), Timing(8, 0, 0, 8)]) == 1
