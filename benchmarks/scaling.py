"""The cost of a move by the number of rooms, and the moves a second of one worker process and of two.

The first is measured at one rate of moves, spread over all rooms, less the CPU time of the process while nobody
moves. No heartbeat is sent meanwhile: 19,800 connections have 2,000 a second, and a process that nothing else wakes
takes longer for each, so that its rest would cost more than what a move must be relieved of. Numbers of rooms take
turns, each between two measurements of a hundred rooms; a ratio is formed to the mean of the two, since no machine is
equally fast for long.
The second is measured saturated; two workers share two cores with Redis and with the load. Two servers that know
nothing of each other, each with half of the rooms and a load of its own, are the control: what they cost more than one
process does not come from the work that workers share. Two hand-written races and two core races, which store
their moves in batches as ours does, share a balancer and a load as two servers of ours do, and nothing else.
"""

import asyncio
import os
import resource
import sys
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from unittest.mock import patch

from benchmarks.balanced import HAPROXY, controls_balanced, serving_balanced
from benchmarks.figure import Figure, median_of
from benchmarks.under_load import Cost, Loader, Processes, loading, serving, serving_kind

MOVES_PER_SECOND = 1_000
SETTLED = 100
ROOMS = (10, 1_000)
MOST_ROOMS = 10_000
"""Or as many as the limit of file descriptors allows: two connections a room, and a few more."""
MOVES = 48
"""The number of moves of a player of the load."""
REST_SECONDS = 5.0
HEARTBEAT_SECONDS = 3_600
"""Longer than any of the measurements."""
STEADY = 0.8
"""A rest that costs more than this share of the rest before it follows no work that is left over."""
MOST_RESTS = 6
LONGEST_SECONDS = 20.0
CONTROLS = ("handwritten", "node")
"""Measured at `MOST_ROOMS` as well: what they cost more there is not due to our rooms."""
REPEATS = 5
WORKERS_ROOMS = 500
MOST_SCALED = 1.3
MOST_RATIO = 1.1
WITH_GOAL = ("", "balanced")
"""Two processes that are to cost hardly more than one: workers of a host, and two behind a balancer over one there."""


def measure_scaling() -> list[Figure]:
    """The cost of a move by rooms, over that at 100; moves a second and their cost, by workers."""
    most = min(MOST_ROOMS, (_allowed_descriptors() - 200) // 2)
    return asyncio.run(_measure(most))


async def _measure(most: int) -> list[Figure]:
    measured = {"race": (*ROOMS, most)} | dict.fromkeys(CONTROLS, (most,))
    ratios: dict[tuple[str, int], list[float]] = {
        (kind, rooms): [] for kind, each in measured.items() for rooms in each
    }
    settled: list[float] = []
    for _ in range(REPEATS):
        for kind, each in measured.items():
            before = await _cost_of_a_move(SETTLED, kind)
            for rooms in each:
                cost, after = await _cost_of_a_move(rooms, kind), await _cost_of_a_move(SETTLED, kind)
                ratios[kind, rooms].append(2 * cost / (before + after))
                before = after
                if kind == "race":
                    settled.append(after)
    figures: list[Figure] = []
    for (kind, rooms), scaled in ratios.items():
        if kind == "race":
            figures += median_of(f"room_scaling_{rooms}", scaled, "", f"<= {MOST_SCALED}", MOST_SCALED.__ge__)
        else:
            figures += median_of(f"room_scaling_{rooms}_{kind}", scaled, "", "(control)")
    figures += median_of("room_scaling_us_at_100", settled, "us")
    return figures + await _measure_workers()


async def _measure_workers() -> list[Figure]:
    """Return the cost of a move on one process and on two, with the players of a room together and where they fall."""
    kinds: dict[str, Callable[[], Awaitable[Cost]]] = {
        "1": lambda: _saturate(serving()),
        "2": lambda: _saturate(serving(processes=2)),
        "2_apart": lambda: _saturate(serving(processes=2, hands_over=False)),
        "2_strangers": lambda: _saturate_strangers(serving),
    }
    if HAPROXY is not None:
        kinds["1_balanced"] = lambda: _saturate(serving_balanced(1), moves_first=True)
        kinds["2_balanced"] = lambda: _saturate(serving_balanced(2), moves_first=True)
        kinds["2_balanced_strangers"] = lambda: _saturate_strangers(lambda: serving_balanced(1), moves_first=True)
        kinds["1_handwritten"] = lambda: _saturate(controls_balanced("handwritten", 1), "echo")
        kinds["2_handwritten"] = lambda: _saturate(controls_balanced("handwritten", 2), "echo")
        kinds["1_core"] = lambda: _saturate(controls_balanced("core", 1), "echo")
        kinds["2_core"] = lambda: _saturate(controls_balanced("core", 2), "echo")
    costs: dict[str, list[Cost]] = {kind: [] for kind in kinds}
    for _ in range(REPEATS):
        for kind, saturate in kinds.items():
            costs[kind].append(await saturate())
            cost = costs[kind][-1]
            print(f"  workers {kind}: {cost.per_second:.0f} moves/s, {cost.server_us:.1f} us", file=sys.stderr)
    figures = list[Figure]()
    for kind, each in costs.items():
        figures += median_of(f"moves_per_second_workers_{kind}", [cost.per_second for cost in each], "/s")
        figures += median_of(f"move_us_workers_{kind}", [cost.server_us for cost in each], "us")
        if any(cost.redis_us for cost in each):
            figures += median_of(f"move_redis_us_workers_{kind}", [cost.redis_us for cost in each], "us")
    for kind, each in costs.items():
        number, _, arrangement = kind.partition("_")
        if number == "1":
            continue
        alone = f"1_{arrangement.partition('_')[0]}"
        base = costs[alone if alone in costs else "1"]
        ratios = [two.server_us / one.server_us for one, two in zip(base, each, strict=True)]
        goal = (f"<= {MOST_RATIO}", MOST_RATIO.__ge__) if arrangement in WITH_GOAL else ()
        figures += median_of("_".join(filter(None, ("workers_ratio", arrangement))), ratios, "", *goal)
    return figures


async def _cost_of_a_move(rooms: int, kind: str = "race") -> float:
    """Return the microseconds of the server's CPU time for a move, in the middle of races."""
    load_kind = "race" if kind == "race" else "echo"
    # Each of two players pauses for two thirds of this on average.
    pace_seconds = 3 * rooms / MOVES_PER_SECOND
    lasts_seconds = MOVES * 2 * rooms / MOVES_PER_SECOND
    # A server of its own, since rooms that were left in the middle of a race keep a server busy for a while.
    # Our server and all controls take this setting from the environment.
    with patch.dict(os.environ, FAIREST_HEARTBEAT_SECONDS=str(HEARTBEAT_SECONDS)):
        async with serving_kind(kind) as served, loading(load_kind, served, rooms, pace=pace_seconds) as load:
            rested = await _rest(load)
            await load.start()
            await load.rest(min(lasts_seconds / 4, pace_seconds))
            cost = await load.rest(min(lasts_seconds / 2, LONGEST_SECONDS))
    idle_seconds = rested.server_seconds / rested.seconds * cost.seconds
    move_us = (cost.server_seconds - idle_seconds) / cost.messages * 1e6
    idle_us = idle_seconds / cost.messages * 1e6
    print(
        f"  {rooms} rooms, {kind}: {move_us:.1f} us, {idle_us:.1f} us of rest left out, {cost.per_second:.0f} moves/s",
        file=sys.stderr,
    )
    return move_us


async def _rest(load: Loader) -> Cost:
    """Return the cost of a rest that follows no work left over from filling the rooms."""
    rested = await load.rest(REST_SECONDS)
    for _ in range(MOST_RESTS):
        before, rested = rested, await load.rest(REST_SECONDS)
        if rested.server_seconds > STEADY * before.server_seconds:
            break
    return rested


async def _saturate(
    servers: AbstractAsyncContextManager[Processes], load_kind: str = "race", *, moves_first: bool = False
) -> Cost:
    """Return the cost of a move. With `moves_first` all players connect again at the addresses of their rooms, as the
    clients of people do before a race; those of the load stay where they created a room.
    """
    async with servers as served, loading(load_kind, served, WORKERS_ROOMS) as load:
        if moves_first:
            await load.resume()
        await load.move(4)
        return await load.move()


async def _saturate_strangers(
    serve: Callable[[], AbstractAsyncContextManager[Processes]], *, moves_first: bool = False
) -> Cost:
    """Return the cost of a move on two servers that share nothing, half of the rooms on each."""
    rooms = WORKERS_ROOMS // 2
    async with (
        serve() as one,
        serve() as other,
        loading("race", one, rooms) as first,
        loading("race", other, rooms) as second,
    ):
        if moves_first:
            await asyncio.gather(first.resume(), second.resume())
        await asyncio.gather(first.move(4), second.move(4))
        costs = await asyncio.gather(first.move(), second.move())
    messages = sum(cost.messages for cost in costs)

    def mean(field: str) -> float:
        return sum(float(getattr(cost, field)) * cost.messages for cost in costs) / messages

    return replace(
        costs[0],
        messages=messages,
        seconds=max(cost.seconds for cost in costs),
        server_us=mean("server_us"),
        redis_us=mean("redis_us"),
    )


def _allowed_descriptors() -> int:
    """Raise the limit of file descriptors of this process and its children as far as it goes, and return it."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard
