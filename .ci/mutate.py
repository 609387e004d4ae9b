"""Change the code at random, one place at a time, and see whether a test fails.

`python .ci/mutate.py PATH ... --seed N --count N` makes mutants of files or packages and runs the tests that cover them
([tool.fairest.mutation] in pyproject.toml) in a copy of the tree. Survivors are printed as a diff with the number of
the mutant; `--only NUMBER` with the same seed repeats one. Mutants that no test can notice are named, with the reason,
in .ci/equivalent_mutants.toml; the score is the share of the others that were killed. Exits 1 below `--score`.

A mutant of a function's code costs little more than its tests: they are collected once, and each mutant gets a fork
of that process in which the function has the mutant's code. What survives that, and changes outside of functions, are
judged in a process that loads everything from the changed file. Tests marked `long` run last, and only for mutants
that survive all others. The verdict on each mutant goes to stderr at once.
"""

import argparse
import importlib
import os
import random
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from mutation.checkout import copy_tree
from mutation.forks import Job, Outcome, run_jobs
from mutation.mutants import Mutant, list_changes
from mutation.suite import (
    LONG,
    QUICK,
    TIME_FACTOR,
    TIME_LIMIT_SECONDS,
    Numbered,
    Verdict,
    judge_anew,
    judge_by_swapping,
)

ROOT: Final = Path(__file__).resolve().parent.parent
EQUIVALENTS: Final = ROOT / ".ci" / "equivalent_mutants.toml"
PRELOADED: Final = (
    "coolname",
    "cryptography.hazmat.primitives.asymmetric.ed25519",
    "msgspec",
    "pydantic_settings",
    "redis.asyncio.cluster",
    "structlog",
    "textual.app",
    "typer",
    "uvloop",
    "websockets.asyncio.client",
    "websockets.asyncio.server",
)
"""Modules of other projects that are loaded once, before all forks. None of them imports Fairest."""

WHOLE_SECONDS: Final = 24 * 3600.0
"""The time limit of a process whose parts have limits of their own."""
LONG_TESTS_SECONDS: Final = 1200.0
"""The time limit of the long tests of a mutant, of which no time without a mutant is known."""


@dataclass(frozen=True, slots=True)
class Equivalent:
    """A mutant that no test can notice."""

    file: str
    original: str
    mutated: str
    reason: str

    def covers(self, mutant: Mutant) -> bool:
        """Return whether this is `mutant`; the line's number does not matter, so that code may move."""
        return (self.file, self.original, self.mutated) == (mutant.path, mutant.removed, mutant.added)


@dataclass(frozen=True, slots=True)
class Options:
    """The command line."""

    paths: list[str]
    seed: int
    count: int
    jobs: int
    only: int | None
    exclude: list[str]
    score: float


def read_options(arguments: Sequence[str] | None = None) -> Options:
    """Parse the command line; exits if it is wrong."""
    parser = argparse.ArgumentParser(description="Change the code at random; see whether a test fails.")
    parser.add_argument("paths", nargs="+", help="files or packages, as server/fairest_server/room")
    parser.add_argument("--seed", type=int, default=1, help="another seed chooses other mutants; default: 1")
    parser.add_argument("--count", type=int, default=100, help="the number of mutants; default: 100")
    parser.add_argument("--jobs", type=int, default=2, help="processes at once; default: 2")
    parser.add_argument("--only", type=int, help="the number of a mutant to repeat alone, with the same seed")
    parser.add_argument("--exclude", action="append", default=[], help="a file or package to leave out")
    parser.add_argument("--score", type=float, default=0.0, help="exit 1 below this percentage; default: 0")
    return Options(**vars(parser.parse_args(arguments)))


def choose_mutants(
    paths: Iterable[str], seed: int, count: int, root: Path = ROOT, exclude: Iterable[str] = ()
) -> list[Numbered]:
    """Return `count` different mutants of the files, numbered from 1; the same ones for the same seed and code."""
    files = sorted(_files(paths, root) - _files(exclude, root))
    sources = {str(file.relative_to(root)): file.read_text() for file in files}
    changes = [change for path, source in sources.items() for change in list_changes(path, source)]
    random.Random(seed).shuffle(changes)
    chosen: dict[tuple[str, str], Mutant] = {}
    for change in changes:
        if len(chosen) == count:
            break
        mutant = change.apply(sources[change.path])
        if mutant:
            chosen.setdefault((mutant.path, mutant.source), mutant)
    return list(enumerate(chosen.values(), 1))


def _files(paths: Iterable[str], root: Path) -> set[Path]:
    return {file for path in paths for file in _python_files(root / path)}


def _python_files(path: Path) -> Iterator[Path]:
    if not path.exists():
        sys.exit(f"{path} does not exist")
    return iter([path]) if path.is_file() else path.rglob("*.py")


def covering_tests(path: str, table: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return the paths of the tests that cover a file: those of the longest prefix of its path in the table."""
    prefixes = [prefix for prefix in table if path == prefix or path.startswith(f"{prefix}/")]
    if not prefixes:
        sys.exit(f"no tests are named for {path} in pyproject.toml, [tool.fairest.mutation.tests]")
    return tuple(table[max(prefixes, key=len)])


def read_equivalents() -> list[Equivalent]:
    """Return the mutants that are known to be equivalent."""
    entries = tomllib.loads(EQUIVALENTS.read_text()).get("mutant", [])
    return [Equivalent(**entry) for entry in entries]


class Judge:
    """Judges mutants that the same tests cover."""

    def __init__(self, tests: Sequence[str], copies: Sequence[Path], log: Path) -> None:
        self._tests = tests
        self._copies = copies
        self._log = log
        self._terminal = os.dup(sys.stderr.fileno())
        """Also open where the output goes to the log file."""

    def verdicts(self, mutants: Sequence[Numbered]) -> Iterator[Verdict]:
        """Yield the verdict on each mutant. Exits if the tests fail without one."""
        killed: set[int] = set()
        for verdict in self._quick_verdicts(mutants):
            if verdict.killer:
                killed.add(verdict.number)
                yield verdict
        jobs = (
            Job(number, partial(self._in_log, partial(self._anew, mutant, {}, LONG)), LONG_TESTS_SECONDS)
            for number, mutant in mutants
            if number not in killed
        )
        for outcome in run_jobs(jobs, len(self._copies)):
            yield self._announced(_verdict(outcome))

    def _quick_verdicts(self, mutants: Sequence[Numbered]) -> Iterator[Verdict]:
        """Yield the verdict of the tests that are not long on each mutant."""
        job = Job(0, partial(self._in_log, partial(self._swap, mutants)), WHOLE_SECONDS)
        (outcome,) = run_jobs([job], 1)
        if outcome.result is None:
            sys.exit(f"The tests {' '.join(self._tests)} cannot judge:\n{self._log.read_text()[-4000:]}")
        verdicts, seconds = outcome.result
        yield from verdicts
        certain = {verdict.number for verdict in verdicts}
        limit = TIME_LIMIT_SECONDS + TIME_FACTOR * sum(seconds.values())
        jobs = (
            Job(number, partial(self._in_log, partial(self._anew, mutant, seconds, QUICK)), limit)
            for number, mutant in mutants
            if number not in certain
        )
        for outcome in run_jobs(jobs, len(self._copies)):
            yield self._announced_if_killed(_verdict(outcome))

    def _announced(self, verdict: Verdict) -> Verdict:
        ended = f"killed by {verdict.killer}" if verdict.killer else "survived"
        os.write(self._terminal, f"mutant {verdict.number}: {ended}\n".encode())
        return verdict

    def _announced_if_killed(self, verdict: Verdict) -> Verdict:
        """Announce what is final: the long tests have not run on a survivor."""
        return self._announced(verdict) if verdict.killer else verdict

    def _in_log(self, work: Callable[[int], object], slot: int) -> object:
        """Do work whose output goes to the log file."""
        log = os.open(self._log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(log, 1)
        os.dup2(log, 2)
        return work(slot)

    def _swap(self, mutants: Sequence[Numbered], _: int) -> tuple[list[Verdict], dict[str, float]]:
        plugin = judge_by_swapping(mutants, self._tests, self._copies[0], len(self._copies), self._announced_if_killed)
        return plugin.verdicts, {name: test.seconds for name, test in plugin.baseline.items()}

    def _anew(self, mutant: Mutant, seconds: dict[str, float], marked: Sequence[str], slot: int) -> str:
        return judge_anew(mutant, self._tests, self._copies[slot], seconds, marked)


def _verdict(outcome: Outcome) -> Verdict:
    killer = "time limit" if outcome.timed_out else "crash" if outcome.result is None else outcome.result
    return Verdict(outcome.number, killer)


def judge_all(mutants: Sequence[Numbered], table: Mapping[str, Sequence[str]], jobs: int) -> Iterator[Verdict]:
    """Yield the verdict on each mutant, those of the same tests together."""
    groups: dict[tuple[str, ...], list[Numbered]] = {}
    for number, mutant in mutants:
        groups.setdefault(covering_tests(mutant.path, table), []).append((number, mutant))
    for module in PRELOADED:
        importlib.import_module(module)
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="fairest-mutants-")))
        copies = [scratch / f"copy-{slot}" for slot in range(jobs)]
        for copy in copies:
            copy_tree(ROOT, copy)
        for tests, group in groups.items():
            yield from Judge(tests, copies, scratch / "log").verdicts(group)


def describe_survivor(number: int, mutant: Mutant) -> str:
    """Return a survivor as a difference, with its place and its number."""
    return f"{mutant.path}:{mutant.line} survived (mutant {number})\n  - {mutant.removed}\n  + {mutant.added}"


def main() -> int:
    """Judge the chosen mutants, print the survivors and the score; return 1 if it is below the one asked for."""
    options = read_options()
    table: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["fairest"]["mutation"]["tests"]
    chosen = choose_mutants(options.paths, options.seed, options.count, exclude=options.exclude)
    equivalents = read_equivalents()
    mutants = [
        (number, mutant)
        for number, mutant in chosen
        if options.only in (None, number) and not any(known.covers(mutant) for known in equivalents)
    ]
    by_number = dict(mutants)
    killed = 0
    for verdict in judge_all(mutants, table, options.jobs):
        killed += bool(verdict.killer)
        if not verdict.killer:
            print(describe_survivor(verdict.number, by_number[verdict.number]), flush=True)
    score = 100 * killed / len(mutants) if mutants else 100.0
    left_out = 0 if options.only else len(chosen) - len(mutants)
    print(f"{killed} of {len(mutants)} mutants killed: {score:.1f} %. {left_out} more are known to be equivalent.")
    print(f"Seed {options.seed}, {options.count} mutants of {' '.join(options.paths)}.")
    return int(score < options.score)


if __name__ == "__main__":
    sys.exit(main())
