"""A simulated deployment: moves go through processes and masters as queues."""

import random
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from benchmarks.deployment_model import Costs, Deployment, Shape, Simulated

COSTS = Costs(server_cold=0, server_move=40, server_append=60, redis_cold=0, redis_append=30)
ALONE = Shape(rooms=1, pace_seconds=1.0, moves=20)
BUSY = Shape(rooms=200, pace_seconds=0.0, moves=20)


def simulate(shape: Shape, costs: Costs = COSTS) -> Simulated:
    return Deployment(shape, costs, random.Random(7)).run()


def test_the_same_seed_gives_the_same_figures() -> None:
    assert simulate(BUSY) == simulate(BUSY)


def test_a_lone_move_costs_its_process_a_move_and_an_append() -> None:
    assert simulate(ALONE).server_us == pytest.approx(40 + 60)


def test_a_turn_after_a_long_idle_time_costs_more() -> None:
    # The turn of the reply follows soon after that of the move, and so is hardly cold.
    assert 40 + 60 + 30 * 0.9 < simulate(ALONE, replace(COSTS, server_cold=30)).server_us < 40 + 60 + 30 * 1.1


def test_the_answer_to_a_lone_move_takes_the_time_of_all_turns() -> None:
    assert simulate(ALONE).p50_ms == pytest.approx((40 + 60 + 30) / 1000)


def test_the_answer_to_a_lone_move_waits_for_each_station_to_wake() -> None:
    # The process for the move and for the reply, Redis, and the load.
    assert simulate(ALONE, replace(COSTS, wake=25)).p50_ms == pytest.approx((40 + 60 + 30 + 4 * 25) / 1000)


def test_to_wake_takes_no_cpu() -> None:
    assert simulate(ALONE, replace(COSTS, wake=25)).server_us == simulate(ALONE).server_us


def test_moves_of_both_players_of_a_room_cost_its_process_one_append() -> None:
    assert simulate(BUSY).server_us < 40 + 0.7 * 60


def test_moves_of_both_players_of_a_room_share_an_append() -> None:
    assert simulate(BUSY).redis_parts["redis_append"] < 0.7


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
    assert result.redis_parts["redis_append"] >= 0.5


def test_a_process_that_waits_for_a_batch_decides_no_move_twice() -> None:
    paced = replace(BUSY, pace_seconds=0.02)
    assert simulate(paced, replace(COSTS, redis_append=500)).server_parts["server_move"] == pytest.approx(1)


def test_nothing_is_published_of_a_room_on_one_process() -> None:
    assert simulate(replace(BUSY, processes=2)).redis_parts["redis_publish"] == 0


def test_subscribers_are_counted_for_each_append_of_a_process_that_is_not_alone() -> None:
    parts = simulate(replace(BUSY, processes=2)).redis_parts
    assert parts["redis_count"] == parts["redis_append"]


def test_a_process_that_is_alone_has_no_subscribers_counted() -> None:
    assert simulate(BUSY).redis_parts["redis_count"] == 0


def test_to_publish_a_move_and_to_take_it_costs_both_sides_more() -> None:
    apart = Shape(rooms=1, pace_seconds=1.0, moves=20, processes=4, apart=True)
    more = replace(COSTS, server_notice=5, redis_publish=7)
    plain, shared = simulate(apart), simulate(apart, more)
    assert (shared.server_us - plain.server_us, shared.redis_us - plain.redis_us) == pytest.approx((5, 7))


def test_a_master_publishes_each_append_of_a_room_on_two_processes() -> None:
    apart = replace(BUSY, processes=2, apart=True)
    parts = simulate(apart).redis_parts
    # Half of the rooms have both players on one process.
    assert 0.4 * parts["redis_append"] < parts["redis_publish"] < parts["redis_append"]


def test_an_append_of_a_room_that_was_left_alone_costs_a_master_more() -> None:
    assert simulate(ALONE, replace(COSTS, redis_room_cold=10)).redis_us == pytest.approx(30 + 10, rel=0.1)


def test_an_append_that_follows_another_of_its_room_costs_a_master_hardly_more() -> None:
    assert simulate(BUSY, replace(COSTS, redis_room_cold=10)).redis_parts["redis_room_cold"] < 0.2


def test_a_turn_costs_a_master_more_than_its_appends() -> None:
    assert simulate(ALONE, replace(COSTS, redis_turn=9)).redis_us == pytest.approx(30 + 9)


def test_processes_that_take_the_cores_from_one_another_cost_more() -> None:
    costs = replace(COSTS, server_displaced=20)
    one, two = (simulate(replace(BUSY, processes=processes, cores=2), costs) for processes in (1, 2))
    assert two.server_us > one.server_us + 5


def test_each_queue_of_a_process_sends_batches_of_its_own() -> None:
    paced = replace(BUSY, pace_seconds=0.3)
    one, sixteen = (simulate(replace(paced, queues=queues)).redis_parts["redis_turn"] for queues in (1, 16))
    assert sixteen > 5 * one


def test_moves_that_a_load_sends_on_the_same_tick_share_a_turn_of_the_process() -> None:
    paced = replace(BUSY, pace_seconds=0.1)
    on_ticks, at_any_time = simulate(replace(paced, has_timers=True)), simulate(paced)
    assert on_ticks.server_parts["server_turn"] < 0.5 * at_any_time.server_parts["server_turn"]


def test_a_busy_process_sends_a_batch_each_five_milliseconds() -> None:
    result = simulate(replace(BUSY, pace_seconds=0.3))
    assert result.redis_parts["redis_turn"] * result.per_second == pytest.approx(200, rel=0.2)


class Recording(Deployment):
    """A deployment that keeps when each batch was sent."""

    def __init__(self, shape: Shape) -> None:
        super().__init__(shape, COSTS, random.Random(7))
        self.sent_us = list[float]()

    def append(self, process: Any, batch: dict[int, list[int]]) -> None:
        self.sent_us.append(self.now)
        super().append(process, batch)


def test_no_batch_follows_another_much_sooner_than_five_milliseconds() -> None:
    deployment = Recording(replace(BUSY, pace_seconds=0.3))
    deployment.run()
    # No batch leaves rooms over at this pace. A timer rounds by half a millisecond, and counts from the tick before.
    assert min(later - sooner for sooner, later in pairwise(deployment.sent_us)) >= 3_500


EVERYTHING = replace(
    COSTS,
    server_turn=9,
    server_displaced=20,
    server_cold=50,
    server_notice=30,
    redis_turn=7,
    redis_displaced=3,
    redis_cold=40,
    redis_count=2,
    redis_publish=5,
    redis_room_cold=8,
    load_cold=20,
    load_turn=6,
    load_move=11,
    load_displaced=4,
)


@pytest.mark.parametrize("costs", [COSTS, EVERYTHING])
@pytest.mark.parametrize("station", ["server", "redis", "load"])
def test_the_parts_of_a_move_explain_its_cost(station: str, costs: Costs) -> None:
    result = simulate(replace(BUSY, processes=2, apart=True, cores=2), costs)
    parts: dict[str, float] = getattr(result, f"{station}_parts")
    explained = sum(getattr(costs, name) * amount for name, amount in parts.items())
    assert explained == pytest.approx(getattr(result, f"{station}_us"))
