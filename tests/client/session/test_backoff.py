"""The waits of a client between its attempts: soon back after a short outage, and no storm on a server that closes."""

import random

import pytest

from fairest_cli.session.backoff import LONGEST_SECONDS, RACING_SECONDS, STEADY_SECONDS, Backoff


class Longest(random.Random):
    """A source of chance that draws the longest wait."""

    def uniform(self, a: float, b: float) -> float:  # noqa: ARG002
        return b


def attempts_until(seconds: float, *, lasted_seconds: float = 0.0, has_gone_on: bool = False, seed: int = 1) -> int:
    """Return how many attempts a client makes in this time after its server was lost."""
    backoff, chance = Backoff(), random.Random(seed)
    now, attempts = backoff.next_wait(60.0, chance, has_gone_on=True), 0
    while now < seconds:
        attempts += 1
        now += lasted_seconds + backoff.next_wait(lasted_seconds, chance, has_gone_on=has_gone_on)
    return attempts


def gap_after(outage_seconds: float, chance: random.Random) -> float:
    """Return how long after the end of an outage the first attempt comes."""
    backoff = Backoff()
    now = backoff.next_wait(60.0, chance, has_gone_on=True)
    while now < outage_seconds:
        now += backoff.next_wait(0.0, chance, has_gone_on=False)
    return now - outage_seconds


def test_the_first_attempt_comes_within_a_tenth_of_a_second() -> None:
    assert gap_after(0.0, Longest()) <= 0.1


@pytest.mark.parametrize(("outage_seconds", "at_most_seconds"), [(0.5, 0.4), (1.0, 0.6), (2.0, 1.0)])
def test_99_of_100_clients_are_back_soon_after_an_outage(outage_seconds: float, at_most_seconds: float) -> None:
    gaps = sorted(gap_after(outage_seconds, random.Random(seed)) for seed in range(1000))
    assert gaps[989] <= at_most_seconds


def test_no_wait_is_longer_than_the_longest() -> None:
    backoff = Backoff()
    assert max(backoff.next_wait(0.0, Longest(), has_gone_on=False) for _ in range(50)) == LONGEST_SECONDS


@pytest.mark.parametrize("seed", range(5))
def test_a_server_that_accepts_and_closes_gets_few_attempts_in_a_minute(seed: int) -> None:
    assert attempts_until(60.0, seed=seed) <= 35


@pytest.mark.parametrize("seed", range(5))
def test_a_server_that_shows_a_room_and_closes_gets_few_attempts_in_a_minute(seed: int) -> None:
    assert attempts_until(60.0, lasted_seconds=0.1, has_gone_on=True, seed=seed) <= 35


def test_clients_that_lost_their_server_together_do_not_come_together() -> None:
    waits = [Backoff().next_wait(0.0, random.Random(seed), has_gone_on=False) for seed in range(100)]
    assert max(waits) - min(waits) > max(waits) / 3


@pytest.mark.parametrize(
    ("lasted_seconds", "has_gone_on"),
    [(RACING_SECONDS + 0.1, True), (STEADY_SECONDS + 0.1, False)],
)
def test_a_connection_that_was_good_resets_the_waits(lasted_seconds: float, has_gone_on: bool) -> None:
    backoff = Backoff()
    for _ in range(5):
        backoff.next_wait(0.0, Longest(), has_gone_on=False)
    backoff.next_wait(lasted_seconds, Longest(), has_gone_on=has_gone_on)
    assert backoff.failures == 0
