"""The cost and the latency of a move by load, beside the hand-written race in Python and on Node under the same load.

Players of independent thought, 500, 2,500 and 6,000 moves a second, and players who move as soon as the last move was
answered. The same moves on two processes, with the players of each room on one of them, and with players who come to
either. `benchmarks.deployment` is calibrated on some of these figures and held against the others.
"""

import asyncio
import statistics
import sys
from dataclasses import dataclass

from benchmarks.figure import Figure, written_down
from benchmarks.under_load import Cost, Processes, cpu_seconds, loading, serving, serving_kind, start_servers
from benchmarks.waking import waking_us
from tests.support.processes import redis_process, serving_fleet

REPEATS = 5
FIRST_MOVES = 4
"""Not measured, since everything takes longer when it is done for the first time."""
MEASURED_MOVES = 36
"""Of each player. The last few of a race are left out, since its end is a figure of its own."""
PACE_SECONDS = 0.3
"""The longest time between two moves of a player, 0.2 s in the mean."""
REST_SECONDS = 3.0
"""After the moves of a race, for what a second costs in which nobody moves."""
RESUMED_ROOMS = 1_000
RESUMED_MOVES = 24
"""Half of the stock: a thousand races in their middle."""
LATENCIES = {"p50_ms": "ms", "p90_ms": "ms", "p99_ms": "ms", "p999_ms": "ms"}
FIELDS = {
    "server_us": "us",
    "redis_us": "us",
    "load_us": "us",
    "received_bytes": "bytes",
    "per_second": "/s",
    **LATENCIES,
}
"""The fields of a cost that are figures, with their units."""
CONTROLS = ("handwritten", "node")
STATIONS = ("server", "redis", "load")


@dataclass(frozen=True)
class Load:
    """Races of two players in `rooms` on `processes`. Unless `hands_over`, players of a room may be on either."""

    name: str
    rooms: int
    pace_seconds: float = PACE_SECONDS
    processes: int = 1
    hands_over: bool = True


LOADS = (
    Load("500", 50),
    Load("2500", 250),
    Load("6000", 600),
    Load("saturated", 500, 0.0),
    Load("2500_two", 250, processes=2),
    Load("saturated_two", 500, 0.0, processes=2),
    Load("2500_apart", 250, processes=2, hands_over=False),
    Load("saturated_apart", 500, 0.0, processes=2, hands_over=False),
)


def measure_loads() -> list[Figure]:
    """For each load the medians of CPU, rate and latency, and the CPU of the controls; the time of waking."""
    return [written_down("waking_us", waking_us(), "us"), *asyncio.run(_measure())]


async def _measure() -> list[Figure]:
    costs: dict[tuple[str, str], list[Cost]] = {}
    rests: dict[str, list[Cost]] = {}
    for repeat in range(REPEATS):
        for load in LOADS:
            for kind in ("race", *(CONTROLS if load.processes == 1 else ())):
                cost, rest = await _cost(kind, load)
                if rest is not None:
                    rests.setdefault(load.name, []).append(rest)
                costs.setdefault((load.name, kind), []).append(cost)
                print(
                    f"  {repeat + 1} of {REPEATS}: {load.name} {kind} {cost.server_us:.1f} + {cost.redis_us:.1f} us, "
                    f"{cost.per_second:.0f}/s, p99 {cost.p99_ms:.2f} ms",
                    file=sys.stderr,
                )
    resumes = [await _resume() for _ in range(REPEATS)]
    return [
        *(figure for (load, kind), each in costs.items() for figure in _figures(load, kind, each)),
        *(figure for load, each in rests.items() for figure in _rest_figures(load, each)),
        written_down("resume_server_us", statistics.median(server for server, _ in resumes), "us"),
        written_down("resume_redis_us", statistics.median(redis for _, redis in resumes), "us"),
    ]


def _figures(load: str, kind: str, costs: list[Cost]) -> list[Figure]:
    def median(field: str) -> float:
        return statistics.median(float(getattr(cost, field)) for cost in costs)

    if kind != "race":
        fields = {"server_us": "us", **LATENCIES}
        return [
            Figure(f"load_{load}_{kind}_{field}", median(field), unit, "(control)", holds=True)
            for field, unit in fields.items()
        ]
    return [written_down(f"load_{load}_{field}", median(field), unit) for field, unit in FIELDS.items()]


def _rest_figures(load: str, rests: list[Cost]) -> list[Figure]:
    def median(station: str) -> float:
        return statistics.median(float(getattr(rest, f"{station}_us")) for rest in rests) / REST_SECONDS

    return [written_down(f"load_{load}_rest_{station}_us", median(station), "us/s") for station in STATIONS]


async def _cost(kind: str, load: Load) -> tuple[Cost, Cost | None]:
    """Return the cost of moves and, of races, that of `REST_SECONDS` after them."""
    served = serving(processes=load.processes, hands_over=load.hands_over) if kind == "race" else serving_kind(kind)
    async with (
        served as processes,
        loading("race" if kind == "race" else "echo", processes, load.rooms, pace=load.pace_seconds) as loader,
    ):
        await loader.move(FIRST_MOVES)
        cost = await loader.move(MEASURED_MOVES)
        return cost, await loader.rest(REST_SECONDS) if kind == "race" else None


async def _resume() -> tuple[float, float]:
    """Return the CPU of a new process and of Redis for each player that comes back after a kill, in microseconds."""
    players = 2 * RESUMED_ROOMS
    with redis_process("--appendonly", "yes") as redis:
        async with serving_fleet(redis.url) as fleet:
            port = await start_servers(fleet, 1)
            # The CPU time of a process that is about to be killed is not measured.
            async with loading("race", Processes((), redis.pid, port), RESUMED_ROOMS) as load:
                await load.move(RESUMED_MOVES)
                await fleet.kill_all()
                await start_servers(fleet, 1, port=port)
                (server,) = (each.pid for each in fleet.processes.values())
                before = cpu_seconds(server), cpu_seconds(redis.pid)
                await load.resume()
                after = cpu_seconds(server), cpu_seconds(redis.pid)
    costs = tuple((late - early) / players * 1e6 for early, late in zip(before, after, strict=True))
    print(f"  a player comes back: {costs[0]:.0f} us, Redis {costs[1]:.0f} us", file=sys.stderr)
    return costs[0], costs[1]
