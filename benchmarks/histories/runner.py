"""Runs scenarios by their seed: prints the schedule, plays, checks, and keeps the histories that have a problem."""

import asyncio
import random
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.histories.checker import Verdict
from benchmarks.histories.history import write_run
from benchmarks.histories.rooms import Rooms, check_runs
from benchmarks.histories.scenarios import Scenario, draw_schedule
from benchmarks.histories.world import World, faults_logged

KEPT = Path(__file__).parent.parent / "results" / "histories"
"""Where the histories with problems are kept."""


@dataclass
class Outcome:
    """The figures of one run of a scenario."""

    scenario: str
    seed: int
    faults: int = 0
    matches: int = 0
    rounds: int = 0
    acknowledged: int = 0
    unproved: int = 0
    entries: int = 0
    connections: int = 0
    told_losses: int = 0
    lost: int = 0
    oldest_lost_s: float = 0.0
    """How long before a fault the oldest move that is gone had been acknowledged."""
    refused: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)

    def add(self, verdict: Verdict, faults_s: list[tuple[float, float]]) -> None:
        """Add the verdict on one room, beside the beginnings and ends of the faults."""
        self.matches += 1
        for name in ("rounds", "acknowledged", "unproved", "entries", "connections", "told_losses"):
            setattr(self, name, getattr(self, name) + getattr(verdict, name))
        self.refused.update(verdict.refused)
        self.problems += verdict.problems
        self.lost += len(verdict.lost_at_s)
        for at_s in verdict.lost_at_s:
            next_fault_s = min((begun_s for begun_s, ended_s in faults_s if ended_s >= at_s), default=at_s)
            self.oldest_lost_s = max(self.oldest_lost_s, next_fault_s - at_s)


async def run_scenario(
    name: str, scenario: Scenario, seed: int, *, seconds: float, slots: int, program: str
) -> Outcome:
    """Run a scenario and check everything. Raises SkippedError if this machine cannot run it."""
    schedule = draw_schedule(scenario, random.Random(f"{seed}/{name}/schedule"), seconds)
    print(f"{name}, seed {seed}: {', '.join(f'{at:.1f} s {fault}' for at, fault in schedule)}", file=sys.stderr)
    folder = Path(tempfile.mkdtemp(prefix="fairest-"))
    world = World(program, folder, random.Random(f"{seed}/{name}/world"))
    outcome = Outcome(name, seed)
    faults_s: list[tuple[float, float]] = []
    try:
        await scenario.prepare(world)
        begin_s = time.monotonic()
        rooms = Rooms(world.urls, f"{seed}/{name}", begin_s + seconds, scenario.end_seconds)
        playing = asyncio.create_task(rooms.play(slots))
        for at, fault in schedule:
            await asyncio.sleep(max(0.0, begin_s + at - time.monotonic()))
            begun_s = time.monotonic()
            await scenario.faults[fault](world)
            faults_s.append((begun_s, time.monotonic()))
        for relay in world.relays:
            relay.bytes_until_cut = lambda: float("inf")
        await playing
        for run, _ in rooms.runs:
            run.log = world.read_log(run.room)
        outcome.problems += [f"a fault in a server: {line[:400]}" for line in faults_logged(world.servers)]
    finally:
        await world.end()
    outcome.faults = len(faults_s) + sum(relay.cuts for relay in world.relays)
    checked = check_runs(rooms, loss_is_allowed=scenario.loss_is_allowed, tolerance_s=scenario.tolerance_s)
    for run, verdict in checked:
        outcome.add(verdict, faults_s)
        if verdict.problems:
            KEPT.mkdir(parents=True, exist_ok=True)
            path = KEPT / f"{name}-{seed}-{run.room}.json"
            write_run(path, run)
            print(f"  {path}: {verdict.problems[:3]}", file=sys.stderr)
    if outcome.lost:
        print(
            f"  {outcome.lost} acknowledged moves are gone and told, up to {outcome.oldest_lost_s:.1f} s old",
            file=sys.stderr,
        )
    return outcome


def print_table(outcomes: list[Outcome]) -> None:
    """Print a row for each scenario."""
    print(f"{'scenario':<24} runs faults matches rounds   acks unproved entries connections told lost problems")
    for name in dict.fromkeys(outcome.scenario for outcome in outcomes):
        mine = [outcome for outcome in outcomes if outcome.scenario == name]
        total = Outcome(name, 0)
        for each in mine:
            for key in ("faults", "matches", "rounds", "acknowledged", "unproved", "entries", "connections"):
                setattr(total, key, getattr(total, key) + getattr(each, key))
            total.told_losses += each.told_losses
            total.lost += each.lost
            total.problems += each.problems
            total.refused.update(each.refused)
        print(
            f"{name:<24} {len(mine):>4} {total.faults:>6} {total.matches:>7} {total.rounds:>6} {total.acknowledged:>6}"
            f" {total.unproved:>8} {total.entries:>7} {total.connections:>11} {total.told_losses:>4} {total.lost:>4}"
            f" {len(total.problems):>8}   {dict(total.refused.most_common(4))}",
            flush=True,
        )
