"""The clients of processes that die come back with the waits of the client."""

import random
from dataclasses import replace

import pytest

from benchmarks.storm import LONGEST_SECONDS, Fleet, Storm, simulate_storm
from fairest_cli.session.backoff import FIRST_SECONDS

FLEET = Fleet(
    players=20_000,
    processes=20,
    masters=2,
    limit=2_000,
    resume_us=1_000.0,
    redis_us=50.0,
    server_busy=0.5,
    redis_busy=0.5,
)


def storm(fleet: Fleet = FLEET) -> Storm:
    return simulate_storm(fleet, 0.1, random.Random(3))


def test_the_same_seed_gives_the_same_storm() -> None:
    assert storm() == storm()


def test_a_tenth_of_the_players_comes_back() -> None:
    assert (storm().clients, storm().never_back) == (2_000, 0)


def test_nobody_comes_back_before_the_first_wait_of_a_client() -> None:
    assert storm(replace(FLEET, resume_us=0.0, redis_us=0.0)).most_back_seconds == pytest.approx(
        FIRST_SECONDS, rel=0.02
    )


def test_processes_with_little_time_to_spare_take_longer() -> None:
    assert storm(replace(FLEET, server_busy=0.9)).most_back_seconds > 2 * storm().most_back_seconds


def test_clients_that_are_not_served_in_time_give_up_and_come_again() -> None:
    assert storm(replace(FLEET, resume_us=60_000.0)).gave_up_waiting > 0


def test_processes_without_a_free_connection_turn_clients_away() -> None:
    full = storm(replace(FLEET, limit=1_000))
    assert (full.never_back, full.most_back_seconds) == (2_000, float("inf"))


def test_the_grace_period_is_the_end_of_a_storm() -> None:
    assert LONGEST_SECONDS == 60
