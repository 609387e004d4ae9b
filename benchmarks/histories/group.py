"""The group `histories` of the benchmarks: every scenario once, and what its histories showed."""

import asyncio
import sys

from benchmarks.figure import Figure, written_down
from benchmarks.histories.failover import FAILOVER
from benchmarks.histories.runner import Outcome, print_table, run_scenario
from benchmarks.histories.scenarios import PROCESSES, Scenario, SkippedError
from benchmarks.histories.storage import STORAGE
from tests.support.engine import engine_program

SEED = 1
SECONDS = 25.0
ROOMS_AT_ONCE = 6
SCENARIOS: dict[str, Scenario] = {**PROCESSES, **STORAGE, **FAILOVER}

__all__ = ["SCENARIOS", "engine_program", "measure_histories"]


def _run(name: str, scenario: Scenario) -> Outcome:
    program = engine_program()
    return asyncio.run(run_scenario(name, scenario, SEED, seconds=SECONDS, slots=ROOMS_AT_ONCE, program=program))


def measure_histories() -> list[Figure]:
    """The problems of each scenario, and how many acknowledged moves were looked at."""
    figures, outcomes = list[Figure](), list[Outcome]()
    for name, scenario in SCENARIOS.items():
        try:
            outcome = _run(name, scenario)
        except SkippedError as reason:
            print(f"  {name} is left out: {reason}", file=sys.stderr)
            continue
        outcomes.append(outcome)
        for problem in outcome.problems[:5]:
            print(f"  {problem}", file=sys.stderr)
        found = len(outcome.problems)
        figures.append(Figure(f"histories_{name}_problems", found, "problems", "0", holds=found == 0))
        figures.append(written_down(f"histories_{name}_acknowledged", outcome.acknowledged, "moves"))
    print_table(outcomes)
    return figures
