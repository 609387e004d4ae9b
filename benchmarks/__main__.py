"""Run benchmarks by name, or all of them: print a table, write JSON lines and charts to benchmarks/results/."""

import sys
import time

from benchmarks.blunders import measure_blunders
from benchmarks.bots import measure_bots
from benchmarks.certified import measure_certified
from benchmarks.cross_site import measure_cross_site
from benchmarks.deal_uniformity import measure_deal_uniformity
from benchmarks.dense_appends import measure_dense_appends
from benchmarks.deployment import measure_deployment
from benchmarks.distance import measure_distance
from benchmarks.drawing import drawings
from benchmarks.engine_sanity import measure_engine_sanity
from benchmarks.fault_storm import measure_fault_storm
from benchmarks.floods import measure_floods
from benchmarks.full_screen import measure_full_screen
from benchmarks.fuzz import measure_fuzz
from benchmarks.histories.group import measure_histories
from benchmarks.instructions import measure_instructions
from benchmarks.kill_recovery import measure_kill_recovery
from benchmarks.leaving import measure_leaving
from benchmarks.loads import measure_loads
from benchmarks.memory import measure_memory
from benchmarks.message_steps import measure_message_steps
from benchmarks.move_cost import measure_move_cost
from benchmarks.old_rooms import measure_old_rooms
from benchmarks.page import measure_page
from benchmarks.photo_finish import measure_photo_finish
from benchmarks.progress import Progress
from benchmarks.race_queue import measure_race_queue
from benchmarks.redis_clients import measure_redis_clients
from benchmarks.redis_cost import measure_redis_cost
from benchmarks.replacement import measure_replacement
from benchmarks.results_file import RESULTS, ResultsFile
from benchmarks.scaling import measure_scaling
from benchmarks.soak import measure_soak
from benchmarks.solver import measure_solver
from benchmarks.spectators import measure_spectators, measure_watched_matches
from benchmarks.stalled_readers import measure_stalled_readers
from benchmarks.standings import measure_standings
from benchmarks.starting import measure_starting
from benchmarks.thinking import measure_thinking
from benchmarks.tick_gain import measure_tick_gain
from benchmarks.whole_races import measure_whole_races

BENCHMARKS = {
    "engine_sanity": measure_engine_sanity,
    "deal_uniformity": measure_deal_uniformity,
    "solver": measure_solver,
    "certified": measure_certified,
    "blunders": measure_blunders,
    "tick_gain": measure_tick_gain,
    "move_cost": measure_move_cost,
    "whole_races": measure_whole_races,
    "instructions": measure_instructions,
    "loads": measure_loads,
    "spectators": measure_spectators,
    "watched_matches": measure_watched_matches,
    "scaling": measure_scaling,
    "memory": measure_memory,
    "old_rooms": measure_old_rooms,
    "message_steps": measure_message_steps,
    "standings": measure_standings,
    "starting": measure_starting,
    "leaving": measure_leaving,
    "redis_cost": measure_redis_cost,
    "dense_appends": measure_dense_appends,
    "kill_recovery": measure_kill_recovery,
    "replacement": measure_replacement,
    "race_queue": measure_race_queue,
    "fault_storm": measure_fault_storm,
    "histories": measure_histories,
    "full_screen": measure_full_screen,
    "fuzz": measure_fuzz,
    "soak": measure_soak,
    "photo_finish": measure_photo_finish,
    "distance": measure_distance,
    "stalled_readers": measure_stalled_readers,
    "floods": measure_floods,
    "cross_site": measure_cross_site,
    "bots": measure_bots,
    "thinking": measure_thinking,
    "redis_clients": measure_redis_clients,
    "page": measure_page,
    "deployment": measure_deployment,
}


def main(names: list[str]) -> None:
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        raise SystemExit(f"there is no benchmark {unknown[0]}; choose from: {', '.join(BENCHMARKS)}")
    RESULTS.parent.mkdir(exist_ok=True)
    results = ResultsFile(RESULTS)
    chosen = names or list(BENCHMARKS)
    progress = Progress(chosen, RESULTS.with_name("durations.json"), time.monotonic)
    for name in chosen:
        print(progress.line(name), file=sys.stderr)
        began = time.monotonic()
        figures = BENCHMARKS[name]()
        for figure in figures:
            verdict = "holds" if figure.holds else "FALLS SHORT"
            row = f"{figure.figure:<44} {figure.value:>10.3f} {figure.unit:<8} goal {figure.goal:<16} {verdict}"
            print(row, flush=True)
        # The figures of a group are written as soon as it is done, so that a later failure does not lose them.
        results.add(figures)
        progress.finish(name, time.monotonic() - began)
    for chart, svg in drawings(results.figures).items():
        path = RESULTS.with_name(f"{chart}.svg")
        path.write_text(svg)
        print(f"drawn: {path}", file=sys.stderr)


main(sys.argv[1:])
