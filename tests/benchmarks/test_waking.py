"""The time of waking is measured between two cores."""

import os

from benchmarks.waking import waking_us


def test_a_process_wakes_within_milliseconds() -> None:
    assert 1 < waking_us() < 5_000


def test_a_measurement_leaves_the_process_its_cores() -> None:
    before = os.sched_getaffinity(0)
    waking_us()
    assert os.sched_getaffinity(0) == before
