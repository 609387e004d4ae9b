"""A simulated deployment, calibrated on seven measured loads and held against all eight; then a million players.

Everything that it starts from is in `benchmarks/results/latest.jsonl`. `make bench ONLY="loads memory redis_cost
move_cost deployment"` measures it first; `ONLY=deployment` takes the figures of earlier runs.
"""

import random
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from operator import mul

from benchmarks.deployment_model import Costs, Deployment, Shape, Simulated
from benchmarks.figure import Figure, written_down
from benchmarks.loads import LOADS, MEASURED_MOVES, STATIONS, Load
from benchmarks.results_file import RESULTS, ResultsFile
from benchmarks.storm import Fleet, Storm, simulate_storm
from fairest_protocol.messages.options import RoomOptions
from fairest_server.load.clients import MOVES
from fairest_server.settings import Settings
from fairest_server.store import keys

SEED = 1
CORES = 2
"""Of the machine on which loads were measured; processes, Redis and the load share them."""
CALIBRATED_ON = ("500", "2500", "6000", "saturated", "saturated_two", "2500_apart", "saturated_apart")
"""Those of one process do not tell what it costs to share cores, to publish a move and to take it from another process,
and those of independent players alone do not tell the cost of a move from that of its append.
"""
FITTING_STEPS = 20_000
ROUNDS = 4
"""Of calibration. The coldness of turns depends on the costs, and the costs on the coldness."""
COMPARED = ("server_us", "redis_us", "per_second", "p50_ms", "p99_ms")
CLOSE = 0.1
PLAYERS = 1_000_000
PAUSE_SECONDS = 3.0
"""Between two moves of a person, in the mean."""
BUSIEST = 0.8
"""The most of a core that a process, or a master, may take before processes die."""
DYING = 0.1
NEEDED = (
    *(f"load_{load}_load_us" for load in CALIBRATED_ON),
    *(f"load_{load.name}_rest_{station}_us" for load in LOADS for station in STATIONS),
    *(f"load_{load.name}_{field}" for load in LOADS for field in COMPARED),
    "waking_us",
    *("room_kib", "redis_bytes_per_round", "race_end_us"),
    *("resume_server_us", "resume_redis_us", "load_500_received_bytes"),
)


@dataclass(frozen=True)
class Deviation:
    """A predicted figure beside the measured one."""

    load: str
    field: str
    predicted: float
    measured: float

    @property
    def share(self) -> float:
        return self.predicted / self.measured - 1


def measure_deployment() -> list[Figure]:
    """Deviations of the model in percent, and its figures for a million players. Exits if an input was not measured."""
    measured = ResultsFile(RESULTS).values
    missing = [name for name in NEEDED if name not in measured]
    if missing:
        groups = "loads memory redis_cost move_cost"
        raise SystemExit(f'deployment needs {", ".join(missing)}: make bench ONLY="{groups} deployment"')
    costs = calibrate(measured)
    _report(f"calibrated on {', '.join(CALIBRATED_ON)}: {costs}")
    figures = [written_down(f"deployment_{name}_us", value, "us") for name, value in costs.__dict__.items()]
    for deviation in compare(costs, measured):
        name = f"deployment_{deviation.load}_{deviation.field}_deviation"
        _report(
            f"{deviation.load} {deviation.field}: predicted {deviation.predicted:.4g}, measured "
            f"{deviation.measured:.4g}, {deviation.share:+.0%}"
        )
        is_calibrated = deviation.load in CALIBRATED_ON and deviation.field.endswith("_us")
        goal = "(calibrated)" if is_calibrated else "-10 to 10"
        figures.append(Figure(name, 100 * deviation.share, "%", goal, is_calibrated or abs(deviation.share) <= CLOSE))
    return figures + million(costs, measured)


def calibrate(measured: Mapping[str, float]) -> Costs:
    """Return the costs with which the simulated loads come closest to the measured CPU a move.

    Without the share of a move in what a second costs in which nobody moves, which is no cost of a move.
    """
    wake = measured["waking_us"]
    costs = Costs(100.0, 10.0, 40.0, 100.0, 10.0, load_cold=100.0, load_move=10.0, wake=wake)
    for _ in range(ROUNDS):
        results = {name: simulate(_load(name), costs) for name in CALIBRATED_ON}
        found: dict[str, float] = {}
        for station in STATIONS:
            parts: list[dict[str, float]] = [getattr(result, f"{station}_parts") for result in results.values()]
            sums = [measured[f"load_{name}_{station}_us"] - _rest_us(measured, name, station) for name in results]
            found |= zip(parts[0], fit_costs([list(each.values()) for each in parts], sums), strict=True)
        costs = Costs(**found, wake=wake)
    return costs


def _rest_us(measured: Mapping[str, float], load: str, station: str) -> float:
    """Return the share of a move in what each second costs, with moves or without."""
    return measured[f"load_{load}_rest_{station}_us"] / measured[f"load_{load}_per_second"]


def fit_costs(rows: Sequence[Sequence[float]], sums: Sequence[float]) -> list[float]:
    """Return the costs, none below zero, with which the parts of each row come closest to its sum, relative to it."""
    rows = [[part / total for part in row] for row, total in zip(rows, sums, strict=True)]
    costs = [0.0] * len(rows[0])
    for _ in range(FITTING_STEPS):
        for place in range(len(costs)):
            errors = [1 - sum(map(mul, row, costs)) for row in rows]
            column = [row[place] for row in rows]
            costs[place] = max(0.0, costs[place] + sum(map(mul, column, errors)) / sum(map(mul, column, column)))
    return costs


def simulate(load: Load, costs: Costs) -> Simulated:
    """Return the results of a load of `benchmarks.loads` on the machine that measured it."""
    shape = Shape(
        rooms=load.rooms,
        pace_seconds=load.pace_seconds,
        moves=MEASURED_MOVES,
        processes=load.processes,
        apart=not load.hands_over,
        cores=CORES,
        has_timers=True,
    )
    return Deployment(shape, costs, random.Random(SEED)).run()


def compare(costs: Costs, measured: Mapping[str, float]) -> list[Deviation]:
    """Return predictions beside what was measured, for each load."""
    deviations: list[Deviation] = []
    for load in LOADS:
        result = simulate(load, costs)
        result.server_us += _rest_us(measured, load.name, "server")
        result.redis_us += _rest_us(measured, load.name, "redis")
        deviations += [
            Deviation(load.name, field, getattr(result, field), measured[f"load_{load.name}_{field}"])
            for field in COMPARED
        ]
    return deviations


def million(costs: Costs, measured: Mapping[str, float]) -> list[Figure]:
    """Return what a million players need, and what happens when a tenth of the processes dies at once."""
    # Ends of races are work between moves; the races are as long as those of the load.
    ends_us = measured["race_end_us"] / (2 * MOVES)
    no_load = dict.fromkeys(("load_cold", "load_turn", "load_move", "load_displaced"), 0.0)
    costs = replace(costs, server_move=costs.server_move + ends_us, **no_load)
    per_second = PLAYERS / PAUSE_SECONDS
    busy_us, redis_us = _move_us(costs)
    limit = Settings().max_connections
    process_us, connection_us = _resting(measured)
    for_cpu = ceil((per_second * busy_us + PLAYERS * connection_us) / (1e6 * BUSIEST - process_us))
    for_connections = ceil(PLAYERS / limit / (1 - DYING))
    processes = max(for_cpu, for_connections)
    masters = ceil(per_second * redis_us / 1e6 / BUSIEST)
    _report(f"a million players: {processes} processes and {masters} masters, one second of {per_second:.0f} moves ...")
    # One second of it: as many rooms as have a move in that second of each player.
    shape = Shape(round(per_second / 2), 1.0, 1, processes, masters, keys.BUCKETS)
    result = Deployment(shape, costs, random.Random(SEED)).run()
    fleet = Fleet(
        players=PLAYERS,
        processes=processes,
        masters=masters,
        limit=limit,
        resume_us=measured["resume_server_us"],
        redis_us=measured["resume_redis_us"],
        server_busy=((result.server_us * per_second + PLAYERS * connection_us) / processes + process_us) / 1e6,
        redis_busy=result.redis_us * per_second / 1e6 / masters,
    )
    return [
        written_down("million_processes_for_cpu", for_cpu, ""),
        written_down("million_processes_for_connections", for_connections, ""),
        written_down("million_masters", masters, ""),
        Figure("million_masters_over_buckets", masters / keys.BUCKETS, "", "<= 1", masters <= keys.BUCKETS),
        written_down("million_server_us", result.server_us, "us"),
        written_down("million_connection_us", connection_us, "us/s"),
        written_down("million_redis_us", result.redis_us, "us"),
        written_down("million_server_busy", fleet.server_busy, ""),
        written_down("million_redis_busy", fleet.redis_busy, ""),
        written_down("million_p50_ms", result.p50_ms, "ms"),
        written_down("million_p99_ms", result.p99_ms, "ms"),
        written_down("million_server_gib", PLAYERS / 2 * measured["room_kib"] / 2**20, "GiB"),
        written_down("million_redis_gib", PLAYERS / 2 * measured["redis_bytes_per_round"] / 2**30, "GiB"),
        written_down("million_out_mbit", per_second * measured["load_500_received_bytes"] * 8 / 1e6, "Mbit/s"),
        *_storm_figures("", simulate_storm(fleet, DYING, random.Random(SEED))),
        *_storm_figures(
            "_cpu_only", simulate_storm(replace(fleet, processes=for_cpu, limit=PLAYERS), DYING, random.Random(SEED))
        ),
        *_storm_figures("_full", simulate_storm(_full(fleet), DYING, random.Random(SEED))),
    ]


def _move_us(costs: Costs) -> tuple[float, float]:
    """Return the CPU of a process and of a master for a move, where a process and a master are busy as planned."""
    per_process = 2_500
    shape = Shape(per_process, 1.0, 1, 2, queues=keys.BUCKETS)
    result = Deployment(shape, costs, random.Random(SEED)).run()
    return result.server_us, result.redis_us


def _resting(measured: Mapping[str, float]) -> tuple[float, float]:
    """Return the CPU of a second without moves: that of a process, and that of each of its connections."""
    few, many = _load("500"), _load("6000")
    few_us, many_us = (measured[f"load_{load.name}_rest_server_us"] for load in (few, many))
    connection_us = (many_us - few_us) / (2 * many.rooms - 2 * few.rooms)
    return few_us - connection_us * 2 * few.rooms, connection_us


def _full(fleet: Fleet) -> Fleet:
    """Return a deployment with as many processes as the limit of connections allows, and none to spare."""
    processes = ceil(fleet.players / fleet.limit)
    return replace(fleet, processes=processes, server_busy=fleet.server_busy * fleet.processes / processes)


def _storm_figures(name: str, storm: Storm) -> list[Figure]:
    grace = RoomOptions().grace_seconds
    return [
        written_down(f"storm{name}_clients", storm.clients, ""),
        written_down(f"storm{name}_attempts_first_second", storm.first_second, "/s"),
        written_down(f"storm{name}_resumes_per_second", storm.per_second, "/s"),
        written_down(f"storm{name}_server_busy", storm.server_busy, ""),
        written_down(f"storm{name}_redis_busy", storm.redis_busy, ""),
        written_down(f"storm{name}_turned_away", storm.turned_away, ""),
        written_down(f"storm{name}_gave_up_waiting", storm.gave_up_waiting, ""),
        written_down(f"storm{name}_half_back_s", storm.half_back_seconds, "s"),
        Figure(f"storm{name}_99_back_s", storm.most_back_seconds, "s", f"<= {grace}", storm.most_back_seconds <= grace),
        written_down(f"storm{name}_never_back", storm.never_back, ""),
    ]


def _load(name: str) -> Load:
    return next(load for load in LOADS if load.name == name)


def _report(line: str) -> None:
    print(f"  {line}", file=sys.stderr)
