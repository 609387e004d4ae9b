"""Simulated stations work in turns on the cores that there are."""

from functools import partial

import pytest

from benchmarks.queueing import Clock, Cooling, Cores, Station


def finishes(cores: int, stations: int, costs: tuple[float, ...], cold_us: float = 0.0) -> list[float]:
    """Return the times at which items are done that all stations are given after a millisecond."""
    clock = Clock()
    shared, done = Cores(cores), list[float]()

    def give(station: Station) -> None:
        for cost in costs:
            station.put(cost, lambda: done.append(clock.now - 1_000))

    for station in [Station(clock, shared, Cooling(cold_us, half_after_us=1_000)) for _ in range(stations)]:
        clock.at(1_000, partial(give, station))
    clock.run()
    return done


def test_an_item_takes_its_cost() -> None:
    assert finishes(1, 1, (10.0,)) == [10.0]


def test_a_turn_after_an_idle_time_takes_longer() -> None:
    assert finishes(1, 1, (10.0,), cold_us=5.0) == [12.5]


def test_the_items_of_a_turn_are_done_one_after_the_other() -> None:
    assert finishes(1, 1, (10.0, 20.0, 30.0)) == [10.0, 30.0, 60.0]


def test_stations_with_a_core_each_work_at_the_same_time() -> None:
    assert finishes(2, 2, (10.0,)) == [10.0, 10.0]


def test_a_station_waits_for_a_core_that_another_one_has() -> None:
    assert finishes(1, 2, (10.0,)) == [10.0, 20.0]


def test_the_items_of_a_turn_share_a_cost_that_they_have_in_common() -> None:
    clock = Clock()
    station = Station(clock, Cores(1), Cooling(0.0, half_after_us=1_000))
    for _ in range(4):
        station.put(10.0, lambda: None, shared_us=7.0)
    clock.run()
    # All have come by the time the station is awake.
    assert (station.busy_us, station.shared) == (7 + 4 * 10, 1)


def test_events_of_the_same_time_happen_in_the_order_of_the_calls() -> None:
    clock, seen = Clock(), list[int]()
    for number in range(3):
        clock.at(1.0, lambda number=number: seen.append(number))  # type: ignore[misc]
    clock.run()
    assert seen == [0, 1, 2]


def durations(cores: int, order: str) -> list[float]:
    """Return how long an item of 10 us takes, of each of these stations in turn, if a displaced one takes 3 us more."""
    clock = Clock()
    shared, done = Cores(cores), list[float]()
    stations = {name: Station(clock, shared, Cooling(0.0, 1_000, displaced_us=3.0)) for name in set(order)}

    def give(station: Station) -> None:
        began = clock.now
        station.put(10.0, lambda: done.append(clock.now - began), units=1.0)

    for place, name in enumerate(order):
        clock.at(100.0 * place, partial(give, stations[name]))
    clock.run()
    return done


def test_an_item_takes_longer_on_a_core_that_another_station_has_used() -> None:
    assert durations(1, "aabaa") == [13, 10, 13, 13, 10]


def test_a_station_returns_to_the_core_that_it_had_last() -> None:
    cores, seen = Cores(2), list[bool]()
    cores.take("a", seen.append)
    cores.take("b", seen.append)
    cores.give_back("a")
    cores.give_back("b")
    cores.take("b", seen.append)
    assert seen == [True, True, False]


def test_a_station_that_sleeps_wakes_before_its_turn() -> None:
    clock, done = Clock(), list[float]()
    station = Station(clock, Cores(1), Cooling(0.0, 1_000, wake_us=7.0))
    for _ in range(2):
        station.put(10.0, lambda: done.append(clock.now))
    clock.run()
    # Both items have come by the time it is awake.
    assert (done, station.busy_us) == ([17.0, 27.0], 20.0)


def test_a_station_that_waits_for_a_core_is_awake_by_then() -> None:
    clock, done = Clock(), list[float]()
    shared, cooling = Cores(1), Cooling(0.0, 1_000, wake_us=7.0)
    first, second = Station(clock, shared, cooling), Station(clock, shared, cooling)
    first.put(10.0, lambda: done.append(clock.now))
    clock.at(8.0, partial(second.put, 10.0, lambda: done.append(clock.now)))
    clock.run()
    assert done == [17.0, 27.0]


def test_each_turn_has_a_cost_of_its_own() -> None:
    clock, done = Clock(), list[float]()
    station = Station(clock, Cores(1), Cooling(0.0, 1_000, turn_us=5.0))
    for at in (0.0, 0.0, 20.0):
        clock.at(at, partial(station.put, 10.0, lambda: done.append(clock.now)))
    clock.run()
    # Both turns: the last item comes during the first one.
    assert done == [15.0, 25.0, 40.0]


def test_a_timer_ends_a_sleep_of_whole_milliseconds() -> None:
    clock, done = Clock(), list[float]()
    station = Station(clock, Cores(1), Cooling(0.0, 1_000))
    clock.at(400.0, lambda: station.put_later(2_900.0, 10.0, lambda: done.append(clock.now)))
    clock.run()
    assert done == [3_410.0]


def test_a_timer_fires_in_a_turn_that_begins_at_its_tick_for_another_reason() -> None:
    clock, done = Clock(), list[float]()
    station = Station(clock, Cores(1), Cooling(0.0, 1_000))
    clock.at(400.0, lambda: station.put_later(2_900.0, 10.0, lambda: done.append(clock.now)))
    clock.at(3_050.0, lambda: station.put(10.0, lambda: done.append(clock.now)))
    clock.run()
    assert done == [3_060.0, 3_070.0]


def test_a_timer_that_is_due_at_the_end_of_a_turn_needs_no_sleep() -> None:
    clock, done = Clock(), list[float]()
    station = Station(clock, Cores(1), Cooling(0.0, 1_000, wake_us=45.0))
    clock.at(100.0, lambda: station.put_later(900.0, 10.0, lambda: done.append(clock.now)))
    clock.at(855.0, lambda: station.put(300.0, lambda: None))
    clock.run()
    assert done == [855.0 + 45 + 300 + 10]


def test_a_sleep_that_ended_early_wakes_nobody_later() -> None:
    clock = Clock()
    station = Station(clock, Cores(1), Cooling(0.0, 1_000))
    clock.at(400.0, lambda: station.put_later(2_900.0, 10.0, lambda: None))
    clock.at(3_050.0, lambda: station.put(10.0, lambda: None))
    clock.run()
    assert station.turns == 1


def test_a_turn_goes_on_with_what_its_end_adds() -> None:
    clock, done = Clock(), list[float]()
    station = Station(clock, Cores(1), Cooling(0.0, 1_000))

    def add_once() -> None:
        station.on_turn_end = lambda: None
        station.go_on(5.0, lambda: done.append(clock.now))

    station.on_turn_end = add_once
    station.put(10.0, lambda: None)
    clock.at(12.0, lambda: station.put(10.0, lambda: done.append(clock.now)))
    clock.run()
    assert (done, station.busy_us) == ([15.0, 25.0], 25.0)


@pytest.mark.parametrize(("stays", "begun"), [(False, ["long"]), (True, ["home"])])
def test_a_core_goes_to_a_station_that_had_it_if_that_stays(stays: bool, begun: list[str]) -> None:
    cores, seen = Cores(1, lambda: stays), list[str]()
    cores.take("home", lambda _: None)
    cores.give_back("home")
    cores.take("user", lambda _: None)
    for name in ("long", "home"):
        cores.take(name, lambda _, name=name: seen.append(name))  # type: ignore[misc]
    cores.give_back("user")
    assert seen == begun
