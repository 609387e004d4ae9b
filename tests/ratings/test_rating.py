"""Ratings: against vectors of openskill, by their properties, and with players of known strength."""

import json
import math
import random
import statistics
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairest_server.ratings.rating import (
    NEW,
    POINT,
    PROVISIONAL_DEVIATION,
    Rating,
    age,
    established_days,
    rate,
)

VECTORS = json.loads((Path(__file__).parent.parent / "data" / "openskill_6_2_0.json").read_text())
"""Made with openskill 6.2.0: BradleyTerryFull(mu=1500, sigma=500, beta=250, tau=5, gamma=lambda *_: 1)."""

ratings = st.builds(
    Rating, mean=st.integers(-2_000 * POINT, 5_000 * POINT), deviation=st.integers(20 * POINT, NEW.deviation)
)
winners = st.sampled_from([0, 1, None])


def points(rating: Rating) -> list[float]:
    return [rating.mean / POINT, rating.deviation / POINT]


def points_after(vector: dict[str, Any]) -> list[list[float]]:
    """Return the ratings after the round of a vector."""
    first, second = (Rating(round(mean * POINT), round(deviation * POINT)) for mean, deviation in vector["before"])
    return [points(rating) for rating in rate((first, second), vector["winner"])]


def test_each_round_changes_ratings_as_openskill_says() -> None:
    assert VECTORS
    wanted = [[[mean, min(deviation, NEW.deviation / POINT)] for mean, deviation in each["after"]] for each in VECTORS]
    assert dict(enumerate(map(points_after, VECTORS))) == dict(enumerate(wanted))


@given(ratings, ratings, winners)
def test_it_does_not_matter_which_seat_a_player_has(first: Rating, second: Rating, winner: int | None) -> None:
    one, other = rate((first, second), winner)
    swapped = rate((second, first), None if winner is None else 1 - winner)
    assert all(
        abs(here.mean - there.mean) <= 1 and abs(here.deviation - there.deviation) <= 1
        for here, there in zip((one, other), reversed(swapped), strict=True)
    )


@given(ratings, ratings)
def test_the_winner_rises_and_the_loser_falls(first: Rating, second: Rating) -> None:
    one, other = rate((first, second), 0)
    assert one.mean >= first.mean and other.mean <= second.mean


@given(ratings, ratings, winners)
def test_no_round_makes_a_rating_less_certain_than_a_new_one(first: Rating, second: Rating, winner: int | None) -> None:
    assert all(0 < rating.deviation <= NEW.deviation for rating in rate((first, second), winner))


def test_a_round_says_more_about_a_new_player_than_about_a_known_one() -> None:
    known = Rating(1_500 * POINT, 100 * POINT)
    new_after, known_after = rate((NEW, known), 0)
    assert new_after.mean - NEW.mean > 5 * (known.mean - known_after.mean)


def test_two_ratings_in_figures() -> None:
    """Literal figures: they must come out alike on every machine, or a recomputation would differ."""
    assert rate((Rating(1_612_345, 187_654), Rating(1_433_210, 311_111)), 1) == (
        Rating(1_571_517, 184_576),
        Rating(1_545_381, 296_611),
    )


@given(ratings, st.integers(0, 4_000), st.integers(0, 4_000))
def test_a_longer_absence_makes_a_rating_less_certain(rating: Rating, days: int, more: int) -> None:
    assert age(rating, days).deviation <= age(rating, days + more).deviation <= NEW.deviation


def test_no_absence_changes_nothing() -> None:
    assert age(Rating(1_700_000, 123_456), 0) == Rating(1_700_000, 123_456)


def test_time_that_goes_back_changes_nothing() -> None:
    assert age(Rating(1_700_000, 123_456), -3) == Rating(1_700_000, 123_456)


def test_half_a_year_of_absence_doubles_a_deviation_of_100_points() -> None:
    assert round(age(Rating(0, 100 * POINT), 182).deviation, -3) == 202 * POINT


@given(ratings)
def test_a_rating_is_provisional_from_the_day_after_its_established_days(rating: Rating) -> None:
    days = established_days(rating)
    assert days < 0 or not age(rating, days).is_provisional
    assert age(rating, days + 1).is_provisional


def test_a_new_rating_is_provisional() -> None:
    assert NEW.is_provisional and not Rating(0, PROVISIONAL_DEVIATION).is_provisional


def test_seventeen_rounds_among_equals_make_a_rating_established() -> None:
    first, second = NEW, NEW
    rounds = 0
    while first.is_provisional:
        first, second = rate((first, second), rounds % 2)
        rounds += 1
    assert rounds == 17


@pytest.mark.long
@pytest.mark.parametrize("by_rating", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_thirty_rounds_each_put_200_players_in_the_order_of_their_strength(seed: int, by_rating: bool) -> None:
    """Their strengths spread over two units of log-odds, less than the levels of the rivals do (docs/rivals.md)."""
    chance = random.Random(seed)
    strengths = [chance.gauss(1_500, 700) for _ in range(200)]
    found = [NEW] * 200
    for _ in range(30):
        order = sorted(range(200), key=lambda player: chance.gauss(found[player].mean if by_rating else 0, 100 * POINT))
        for first, second in zip(order[::2], order[1::2], strict=True):
            chance_of_first = 1 / (1 + math.exp((strengths[second] - strengths[first]) / (250 * math.sqrt(2))))
            winner = 0 if chance.random() < chance_of_first else 1
            found[first], found[second] = rate((found[first], found[second]), winner)
    assert statistics.correlation(ranks(strengths), ranks([rating.mean for rating in found])) >= 0.95


def ranks(values: list[float] | list[int]) -> list[int]:
    order = sorted(range(len(values)), key=values.__getitem__)
    places = [0] * len(values)
    for place, index in enumerate(order):
        places[index] = place
    return places
