"""A simulated deployment: moves go through processes and masters as queues."""

import random
from dataclasses import replace

import pytest

from benchmarks.deployment_model import Costs, Deployment, Shape, Simulated

COSTS = Costs(server_wake=50, server_cold=0, server_move=40, redis_wake=20, redis_cold=0, redis_append=10)
ALONE = Shape(rooms=1, pace_seconds=1.0, moves=20)
BUSY = Shape(rooms=200, pace_seconds=0.0, moves=20)


def simulate(shape: Shape, costs: Costs = COSTS) -> Simulated:
    return Deployment(shape, costs, random.Random(7)).run()


def test_the_same_seed_gives_the_same_figures() -> None:
    assert simulate(BUSY) == simulate(BUSY)


def test_a_lone_move_takes_two_turns_of_its_process() -> None:
    assert simulate(ALONE).server_us == pytest.approx(2 * 50 + 40)


def test_a_turn_after_a_long_idle_time_costs_more() -> None:
    cold = replace(COSTS, server_cold=30)
    assert 2 * 50 + 40 + 30 < simulate(ALONE, cold).server_us < 2 * 50 + 40 + 2 * 30


def test_the_answer_to_a_lone_move_takes_the_time_of_all_turns() -> None:
    assert simulate(ALONE).p50_ms == pytest.approx((2 * 50 + 40 + 20 + 10) / 1000)


def test_moves_that_wait_together_share_turns() -> None:
    assert simulate(BUSY).server_us < 50


def test_moves_of_both_players_of_a_room_share_an_append() -> None:
    assert simulate(BUSY).redis_parts[2] < 0.7


def test_a_process_is_never_busy_for_longer_than_the_run() -> None:
    assert 0.9 < simulate(BUSY).busiest_server <= 1


def test_a_room_on_two_processes_is_work_for_both() -> None:
    apart = replace(BUSY, processes=2, apart=True)
    assert simulate(apart).server_us > 1.3 * simulate(replace(apart, apart=False)).server_us


def test_processes_that_share_a_core_are_no_faster_than_one() -> None:
    one, two = (simulate(replace(BUSY, processes=processes, cores=1)) for processes in (1, 2))
    assert two.per_second < 1.05 * one.per_second


def test_every_player_makes_all_of_its_moves_on_two_processes_as_well() -> None:
    result = simulate(replace(BUSY, processes=2, apart=True))
    assert result.redis_parts[2] >= 0.5


def test_a_process_that_waits_for_a_batch_decides_no_move_twice() -> None:
    paced = replace(BUSY, pace_seconds=0.02)
    assert simulate(paced, replace(COSTS, redis_wake=5_000)).server_parts[2] == pytest.approx(1)
