"""Simulated stations work in turns on the cores that there are."""

from benchmarks.queueing import Clock, Cores, Station


def finishes(cores: int, wake_us: float, stations: int, costs: tuple[float, ...]) -> list[float]:
    """Return the times at which items are done that all stations are given at the beginning."""
    clock = Clock()
    shared, done = Cores(cores), list[float]()
    for station in [Station(clock, shared, wake_us) for _ in range(stations)]:
        for cost in costs:
            station.put(cost, lambda: done.append(clock.now))
    clock.run()
    return done


def test_an_item_takes_its_cost_and_that_of_the_turn() -> None:
    assert finishes(1, 5.0, 1, (10.0,)) == [15.0]


def test_items_that_come_during_a_turn_share_the_next_one() -> None:
    assert finishes(1, 5.0, 1, (10.0, 20.0, 30.0)) == [15.0, 70.0, 70.0]


def test_stations_with_a_core_each_work_at_the_same_time() -> None:
    assert finishes(2, 0.0, 2, (10.0,)) == [10.0, 10.0]


def test_a_station_waits_for_a_core_that_another_one_has() -> None:
    assert finishes(1, 0.0, 2, (10.0,)) == [10.0, 20.0]


def test_events_of_the_same_time_happen_in_the_order_of_the_calls() -> None:
    clock, seen = Clock(), list[int]()
    for number in range(3):
        clock.at(1.0, lambda number=number: seen.append(number))  # type: ignore[misc]
    clock.run()
    assert seen == [0, 1, 2]
