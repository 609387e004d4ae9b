"""The tests that judge mutants: collected once, then run in a fork for each mutant of the code of a function."""

import sys
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final

import hypothesis
import pytest
from hypothesis import Phase

from mutation.checkout import enter, written
from mutation.code_swap import Functions, changed_functions, loaded_functions, swap
from mutation.forks import Job, run_jobs
from mutation.mutants import Mutant

ARGUMENTS: Final = (
    *("-x", "-q", "--capture=sys", "--timeout=300"),
    *("-p", "no:randomly", "-p", "no:cacheprovider", "-p", "no:xdist"),
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),  # hypothesis is loaded before pytest starts
)
QUICK: Final = ("-m", "not long")
LONG: Final = ("-m", "long")
TIME_FACTOR: Final = 5
TIME_LIMIT_SECONDS: Final = 20.0
"""A mutant is killed if its tests take longer than this and `TIME_FACTOR` times their time without a mutant."""
BASELINE_LIMIT_SECONDS: Final = 1200.0
EXAMPLES: Final = 20
"""Examples of a property that judges a mutant: more than in `make test`."""

Numbered = tuple[int, Mutant]
Place = tuple[str, str, int]
"""The file, the qualified name and the first line of a function."""


class BaselineFailed(Exception):
    """The tests fail without a mutant, so they cannot judge one."""


@dataclass(frozen=True, slots=True)
class Test:
    """The run of a test without a mutant."""

    seconds: float
    called: frozenset[Place]
    """The functions that were called in the test's own process while it ran."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The end of a mutant."""

    number: int
    killer: str
    """The test that failed, or `time limit`; empty if the mutant survived."""


Baseline = dict[str, Test]
Report = Callable[[Verdict], object]
"""A callback for a verdict as soon as it is certain, in the process that judges."""


class Watch:
    """A plugin of pytest: puts the quick tests first, and remembers the first that fails."""

    def __init__(self, seconds: dict[str, float]) -> None:
        self.failed = ""
        self._seconds = seconds

    def pytest_configure(self) -> None:
        """Make properties repeatable, and do not look for the smallest example: the first that fails is enough."""
        phases = Phase.explicit, Phase.generate
        hypothesis.settings.register_profile(
            "mutation", derandomize=True, database=None, phases=phases, max_examples=EXAMPLES
        )
        hypothesis.settings.load_profile("mutation")

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Put the quick tests first; those whose time is not known stay as they were collected."""
        items.sort(key=lambda item: self._seconds.get(item.nodeid, 0.0))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note the first failure."""
        if report.failed and not self.failed:
            self.failed = report.nodeid

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note a file that cannot be imported."""
        if report.failed and not self.failed:
            self.failed = report.nodeid or "collection"


class Forking(Watch):
    """A plugin of pytest that runs the collected tests in forks: once without a mutant, then for each mutant."""

    def __init__(self, mutants: Sequence[Numbered], folder: Path, slots: int, report: Report) -> None:
        super().__init__({})
        self.baseline: Baseline = {}
        self.verdicts: list[Verdict] = []
        """Those that are certain. The code that a function had when modules were loaded was not the mutant's, so a
        survivor in a function that was called then is judged anew, and so is one that no test calls in this process."""
        self.called_at_import: set[CodeType] = set()
        self._mutants = mutants
        self._folder = folder
        self._slots = slots
        self._report = report
        self._is_forked = False
        self._recorded: Baseline | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Judge the mutants. In a fork leave the session to pytest."""
        if self._is_forked:
            return None
        record = Job(0, lambda _: self._record(session), BASELINE_LIMIT_SECONDS)
        for outcome in run_jobs([record], 1):
            failed, self.baseline = outcome.result or ("the run was not finished", {})
            if failed or not self.baseline:
                raise BaselineFailed(failed or "there are no tests")
        at_import = {_place(code) for code in self.called_at_import}
        for outcome in run_jobs(self._jobs(session, at_import), self._slots):
            killer, is_certain = outcome.result or ("time limit" if outcome.timed_out else "crash", True)
            if killer or is_certain:
                self.verdicts.append(Verdict(outcome.number, killer))
                self._report(self.verdicts[-1])
        return True

    def pytest_collection_finish(self) -> None:
        """Stop noting the functions that are called while modules are loaded."""
        sys.setprofile(None)

    def _record(self, session: pytest.Session) -> tuple[str, Baseline]:
        self._recorded = {}
        self._run(session)
        return self.failed, self._recorded

    def _jobs(self, session: pytest.Session, at_import: set[Place]) -> Iterable[Job]:
        """Yield a job for each mutant that changes the code of functions alone, which some test calls."""
        loaded: dict[str, Functions] = {}
        for number, mutant in self._mutants:
            filename = str(self._folder / mutant.path)
            functions = loaded.setdefault(filename, loaded_functions(filename))
            before = compile((self._folder / mutant.path).read_text(), filename, "exec", dont_inherit=True)
            pairs = changed_functions(before, compile(mutant.source, filename, "exec", dont_inherit=True))
            places = {_place(code) for code, _ in pairs or ()}
            tests = self._callers(places)
            if pairs and tests:
                items = [item for item in session.items if item.nodeid in tests]
                items.sort(key=lambda item: self.baseline[item.nodeid].seconds)
                seconds = sum(self.baseline[item.nodeid].seconds for item in items)
                work = _bind(self._judge, session, items, functions, pairs, places.isdisjoint(at_import))
                yield Job(number, work, TIME_LIMIT_SECONDS + TIME_FACTOR * seconds)

    def _callers(self, places: set[Place]) -> set[str]:
        return {name for name, test in self.baseline.items() if not places.isdisjoint(test.called)}

    def _judge(
        self,
        session: pytest.Session,
        items: list[pytest.Item],
        functions: Functions,
        pairs: list[tuple[CodeType, CodeType]],
        is_certain: bool,
    ) -> tuple[str, bool]:
        """In a fork: run the tests on the mutant; return the first that fails, and whether the verdict is certain."""
        if not swap(functions, pairs):
            return "", False
        session.items = items
        self._run(session)
        return self.failed, is_certain

    def _run(self, session: pytest.Session) -> None:
        self._is_forked = True
        hook = session.config.hook
        try:
            hook.pytest_runtestloop(session=session)
        except session.Failed:
            self.failed = self.failed or "failure"
        hook.pytest_sessionfinish(session=session, exitstatus=int(bool(self.failed)))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Record the time of a test and the functions that it calls, in the run without a mutant."""
        if self._recorded is None:
            return (yield)
        codes: set[CodeType] = set()

        started = time.monotonic()
        sys.setprofile(_noting(codes))
        try:
            return (yield)
        finally:
            sys.setprofile(None)
            prefix = str(self._folder)
            called = frozenset(_place(code) for code in codes if code.co_filename.startswith(prefix))
            self._recorded[item.nodeid] = Test(time.monotonic() - started, called)


def _noting(codes: set[CodeType]) -> Callable[[FrameType, str, object], None]:
    """Return a profile function that adds the code of each called function to `codes`."""

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            codes.add(frame.f_code)

    return note


def _place(code: CodeType) -> Place:
    return code.co_filename, code.co_qualname, code.co_firstlineno


def _bind(function: Callable[..., object], *arguments: object) -> Callable[[int], object]:
    """Return `function` with its arguments, to be called with the number of a slot, which it does not need."""
    return lambda _: function(*arguments)


def judge_by_swapping(
    mutants: Sequence[Numbered], tests: Sequence[str], folder: Path, slots: int, report: Report
) -> Forking:
    """Collect the tests in this process and judge the mutants in forks of it. Raises BaselineFailed."""
    enter(folder)
    plugin = Forking(mutants, folder, slots, report)
    sys.setprofile(_noting(plugin.called_at_import))
    code = pytest.main([*ARGUMENTS, *QUICK, *tests], [plugin])
    if plugin.failed or not plugin.baseline:
        raise BaselineFailed(plugin.failed or f"pytest ended with {code}")
    return plugin


def judge_anew(
    mutant: Mutant, tests: Sequence[str], folder: Path, seconds: dict[str, float], marked: Sequence[str] = QUICK
) -> str:
    """Run the tests marked so on a mutant that is written into a copy of the tree; return the first that fails.

    Nothing of Fairest may be loaded yet. Without any test marked so the mutant survives.
    """
    enter(folder)
    watch = Watch(seconds)
    with written(folder, mutant.path, mutant.source):
        code = pytest.main([*ARGUMENTS, *marked, *tests], [watch])
    has_passed = code in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
    return watch.failed or ("" if has_passed else f"pytest ended with {code}")
