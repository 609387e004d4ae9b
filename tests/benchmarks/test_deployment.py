"""The calibration of the simulated deployment, on loads that a simulated machine has measured."""

from dataclasses import asdict

import pytest

from benchmarks.deployment import CALIBRATED_ON, SHARED_ON, calibrate, simulate
from benchmarks.deployment_model import Costs
from benchmarks.loads import LOADS

COSTS = Costs(
    server_cold=150,
    server_move=15,
    server_append=50,
    redis_cold=180,
    redis_append=14,
    server_notice=60,
    redis_publish=30,
    load_cold=110,
    load_move=11,
)


@pytest.mark.long
def test_a_calibration_finds_the_costs_of_the_machine_that_was_measured() -> None:
    measured = dict[str, float]()
    for load in LOADS:
        if load.name in (*CALIBRATED_ON, SHARED_ON):
            result = simulate(load, COSTS)
            for part in ("server", "redis", "load"):
                measured[f"load_{load.name}_{part}_us"] = getattr(result, f"{part}_us")
    assert asdict(calibrate(measured)) == pytest.approx(asdict(COSTS), rel=0.1)
