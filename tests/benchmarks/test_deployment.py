"""The calibration of the simulated deployment, on loads that a simulated machine has measured."""

import pytest

from benchmarks.deployment import CALIBRATED_ON, calibrate, simulate
from benchmarks.deployment_model import Costs
from benchmarks.loads import LOADS, STATIONS

COSTS = Costs(
    server_cold=150,
    server_turn=12,
    server_move=15,
    server_append=50,
    server_displaced=9,
    server_notice=60,
    redis_cold=180,
    redis_append=14,
    redis_turn=20,
    redis_displaced=3,
    redis_publish=4,
    redis_count=2,
    redis_room_cold=12,
    load_cold=110,
    load_turn=8,
    load_move=11,
    load_displaced=4,
    wake=28,
)
REST_US = 10_000.0


@pytest.mark.long
def test_a_calibration_reproduces_also_the_load_that_it_has_not_seen() -> None:
    results = {load: simulate(load, COSTS) for load in LOADS}
    measured = {"waking_us": COSTS.wake}
    for load, result in results.items():
        measured[f"load_{load.name}_per_second"] = result.per_second
        for station in STATIONS:
            # What a second costs without moves is in the measured figures, and is none of the costs of a move.
            measured[f"load_{load.name}_rest_{station}_us"] = REST_US
            if load.name in CALIBRATED_ON:
                move_us = getattr(result, f"{station}_us") + REST_US / result.per_second
                measured[f"load_{load.name}_{station}_us"] = move_us
    costs = calibrate(measured)
    for load, result in results.items():
        found = simulate(load, costs)
        assert (found.server_us, found.redis_us) == pytest.approx((result.server_us, result.redis_us), rel=0.1)
