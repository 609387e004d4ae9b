"""Run the histories by hand: one seed or many, one scenario or all, for minutes or for hours."""

import argparse
import asyncio
import shutil
import sys
import time

from benchmarks.histories.group import SCENARIOS, engine_program
from benchmarks.histories.runner import Outcome, print_table, run_scenario
from benchmarks.histories.scenarios import SkippedError


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="the first seed; each further turn takes the next one")
    parser.add_argument("--scenario", action="append", choices=SCENARIOS, help="may be given several times")
    parser.add_argument("--seconds", type=float, default=25.0, help="of faults, for each scenario")
    parser.add_argument("--rooms", type=int, default=6, help="at a time")
    parser.add_argument("--hours", type=float, default=0.0, help="repeat with further seeds for as long")
    parser.add_argument("--engine", help="a redis-server or valkey-server instead of the embedded engine")
    chosen = parser.parse_args()
    program = shutil.which(chosen.engine) if chosen.engine else engine_program()
    if program is None:
        parser.error("there is no such engine")
    until_s, seed, outcomes = time.monotonic() + chosen.hours * 3600, chosen.seed, list[Outcome]()
    while True:
        for name in chosen.scenario or SCENARIOS:
            try:
                running = run_scenario(
                    name, SCENARIOS[name], seed, seconds=chosen.seconds, slots=chosen.rooms, program=program
                )
                outcomes.append(asyncio.run(running))
            except SkippedError as reason:
                print(f"{name} is left out: {reason}", file=sys.stderr)
        print_table(outcomes)
        seed += 1
        if time.monotonic() >= until_s:
            break
    for problem in [problem for outcome in outcomes for problem in outcome.problems][:50]:
        print(problem)
    return int(any(outcome.problems for outcome in outcomes))


sys.exit(main())
