"""The daily deal: its days, its seed, and the order of its table."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairest_protocol.calculation.daily import (
    LIMIT_MS,
    AttemptScore,
    can_be_played,
    daily_round_id,
    daily_seed,
    day_of,
    day_start_ms,
    next_day,
    score_attempt,
    score_of_order,
)
from fairest_protocol.calculation.deal import make_deal
from fairest_protocol.calculation.moves import MOVES, STOP
from fairest_protocol.calculation.race import start_race
from fairest_protocol.calculation.rules import VARIANTS
from fairest_protocol.calculation.seal import make_seed

SCORES = st.builds(
    AttemptScore, st.booleans(), st.integers(0, 104), st.integers(0, 104), st.integers(min_value=0, max_value=LIMIT_MS)
)


@given(SCORES)
def test_the_order_of_a_score_leads_back_to_it(score: AttemptScore) -> None:
    assert score_of_order(score.order) == score


@given(st.lists(SCORES))
def test_attempts_are_ranked_by_won_then_cards_then_direct_score_then_the_shorter_time(
    scores: list[AttemptScore],
) -> None:
    def as_said(score: AttemptScore) -> tuple[bool, int, int, int]:
        return score.won, score.placed, score.direct, -score.time_ms

    assert sorted(scores, key=lambda score: score.order) == sorted(scores, key=as_said)


@given(SCORES)
def test_the_order_is_exact_as_a_number_of_redis(score: AttemptScore) -> None:
    assert int(float(score.order)) == score.order
    assert score.order - 1 >= 0 or score.time_ms == LIMIT_MS


@given(st.integers(0, 4_000_000_000_000))
def test_a_time_is_within_its_day(at_ms: int) -> None:
    day = day_of(at_ms)
    assert day_start_ms(day) <= at_ms < day_start_ms(next_day(day))


@pytest.mark.parametrize("text", ["2026-1-2", "20260102", "2026-02-30", "today", ""])
def test_a_text_that_is_not_a_day_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        day_start_ms(text)


def test_every_day_and_variant_has_a_round_id_of_its_own() -> None:
    days = ["2026-11-24", "2026-11-25"]
    ids = {daily_round_id(day, variant.rules) for day in days for variant in VARIANTS.values()}
    assert len(ids) == len(days) * len(VARIANTS)


def test_the_seed_needs_both_the_secret_and_the_beacon() -> None:
    seeds = {daily_seed(bytes([a]) * 32, bytes([b]) * 32, bytes(16)) for a in (0, 1) for b in (0, 1)}
    assert len(seeds) == 4


def test_the_time_of_an_attempt_that_did_not_end_by_a_move_is_the_limit() -> None:
    rules = VARIANTS["classic"].rules
    race = start_race(rules, make_deal(rules, bytes(32)), seats=1)
    assert score_attempt(race, 5_000).time_ms == LIMIT_MS
    assert score_attempt(race.play(0, STOP), 5_000).time_ms == 5_000


def test_days_are_those_of_utc() -> None:
    assert (day_of(0), day_of(86_399_999), day_of(86_400_000)) == ("1970-01-01", "1970-01-01", "1970-01-02")
    assert (day_start_ms("1970-01-02"), day_start_ms("2026-11-24")) == (86_400_000, 1_795_478_400_000)
    assert (next_day("2026-12-31"), next_day("2026-12-31", -365)) == ("2027-01-01", "2025-12-31")


def test_the_seed_is_that_of_a_round_with_the_beacon_in_seat_0_and_zeros_in_seat_1() -> None:
    secret, beacon, round_id = bytes([1]) * 32, bytes([2]) * 32, bytes([3]) * 16
    assert daily_seed(secret, beacon, round_id) == make_seed(secret, (beacon, bytes(32)), round_id)


def test_the_order_of_a_score_is_the_number_that_servers_have_stored() -> None:
    score = AttemptScore(won=True, placed=52, direct=30, time_ms=600_000)
    assert score.order == ((128 + 52) * 128 + 30) * 2**23 + 2**23 - 1 - 600_000


@pytest.mark.parametrize(("last_move_ms", "time_ms"), [(5_000, 5_000), (LIMIT_MS, LIMIT_MS), (LIMIT_MS + 1, LIMIT_MS)])
def test_the_time_of_an_attempt_is_that_of_its_last_move_within_the_limit(last_move_ms: int, time_ms: int) -> None:
    rules = VARIANTS["classic"].rules
    race = start_race(rules, make_deal(rules, bytes(32)), seats=1).play(0, STOP)
    assert score_attempt(race, last_move_ms) == AttemptScore(won=False, placed=4, direct=0, time_ms=time_ms)


def test_an_attempt_may_have_another_limit() -> None:
    rules = VARIANTS["classic"].rules
    race = start_race(rules, make_deal(rules, bytes(32)), seats=1)
    assert score_attempt(race, 5_000, 7_000).time_ms == 7_000


@pytest.mark.parametrize(("move", "can"), [("sa", True), ("stop", True), ("resign", False), ("a1", False)])
def test_a_move_of_an_attempt_is_one_of_the_rules_and_not_a_resignation(move: str, can: bool) -> None:
    rules = VARIANTS["classic"].rules
    race = start_race(rules, make_deal(rules, bytes(32)), seats=1)
    assert can_be_played(race, MOVES[move]) == can
    assert not can_be_played(race.play(0, STOP), MOVES[move])
