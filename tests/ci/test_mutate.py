"""The mutation command: which mutants it makes, how it judges them."""

import ast
import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from mutate import Equivalent, choose_mutants, covering_tests, describe_survivor, read_equivalents
from mutation.checkout import written
from mutation.code_swap import changed_functions, loaded_functions, swap
from mutation.forks import Job, run_jobs
from mutation.mutants import Mutant, list_changes
from tests.support.waiting import until

ROOT = Path(__file__).resolve().parents[2]


def mutants(source: str) -> list[Mutant]:
    return [mutant for change in list_changes("page.py", source) if (mutant := change.apply(source))]


def added(source: str) -> set[str]:
    return {mutant.added for mutant in mutants(source)}


MUTATED = {
    "x = a < b": {"x = a <= b", "x = a >= b"},
    "x = a is b": {"x = a is not b"},
    "x = a in b": {"x = a not in b"},
    "x = a + b": {"x = a - b"},
    "x = 3": {"x = 4", "x = 2"},
    "x = True": {"x = False"},
    "x = 'word'": {"x = 'wordx'"},
    "x = a and b": {"x = a or b", "x = a", "x = b"},
    "x = not a": {"x = a"},
    "x = f(a, b)": {"x = f(b, a)"},
    "f(a)": {"pass"},
    "x.y = a": {"pass"},
    "raise Error": {"pass"},
    "def f():\n    return a": {"return None"},
    "for x in y:\n    break": {"continue"},
    "x = a if b else c": {"x = c if b else a"},
}
"""Sources, and the changed lines of all their mutants."""


def test_each_source_has_its_mutants_and_no_others() -> None:
    assert {source: added(source) for source in MUTATED} == MUTATED


UNMUTATED = [
    '"""A docstring."""',
    "_LOG.info('a page', page=3)",
    "def f(x: 'int') -> 'str': ...",
    "x: Literal['a', 'b']",
    "X = Literal['a', 'b']",
    "x = cast('int', y)",
    "assert 1 < 2",
    "__slots__ = ('a', 'b')",
    "if TYPE_CHECKING:\n    x = 3",
    "raise Error('a text')",
    "end(module.ClosedError('a text'))",
    "if is_first and count > 3:\n    _LOG.info('the first of them')",
    "class Reason(Enum):\n    LATE = 'it was too late'",
]


def test_text_logging_and_types_are_not_mutated() -> None:
    assert {source: more for source in UNMUTATED if (more := added(source) - {"pass"})} == {}


@pytest.mark.parametrize(
    "source",
    ["try:\n    x = y\nexcept E:\n    _LOG.info('a page')", "match x:\n    case _:\n        _LOG.info('a page')"],
)
def test_a_log_below_a_handler_or_a_case_is_not_mutated(source: str) -> None:
    assert "pass" not in added(source)


@pytest.mark.parametrize("source", ["x = max(a, b)", "x = min(a, b)", "with suppress(A, B):\n    x = a"])
def test_arguments_whose_order_does_not_matter_are_not_swapped(source: str) -> None:
    assert added(source) == set()


def test_a_text_of_the_wire_is_mutated() -> None:
    assert added("class Code(StrEnum):\n    LATE = 'late'") == {"LATE = 'latex'"}


def test_a_log_of_events_is_not_logging() -> None:
    assert added("self.log.append(event)") == {"pass"}


def test_a_mutant_of_several_lines_leaves_the_lines_below_where_they_are() -> None:
    source = "x = f(\n    a,\n    b,\n)\ny = g()\n"
    swapped = next(mutant for mutant in mutants(source) if "f(b, a)" in mutant.source)
    assert [node.lineno for node in ast.parse(swapped.source).body] == [1, 5]


def test_a_survivor_is_described_by_its_place_and_its_difference() -> None:
    mutant = Mutant("page.py", 7, "", "x = a < b", "x = a <= b")
    assert describe_survivor(3, mutant) == "page.py:7 survived (mutant 3)\n  - x = a < b\n  + x = a <= b"


def test_the_same_seed_chooses_the_same_mutants(tmp_path: Path) -> None:
    (tmp_path / "page.py").write_text("x = [1, 2, 3, 4, 5]")
    assert choose_mutants(["page.py"], 7, 4, tmp_path) == choose_mutants(["page.py"], 7, 4, tmp_path)


def test_another_seed_chooses_other_mutants(tmp_path: Path) -> None:
    (tmp_path / "page.py").write_text("x = [1, 2, 3, 4, 5, 6, 7, 8, 9]")
    assert choose_mutants(["page.py"], 1, 4, tmp_path) != choose_mutants(["page.py"], 2, 4, tmp_path)


def test_an_excluded_file_has_no_mutants(tmp_path: Path) -> None:
    for name in ("page.py", "table.py"):
        (tmp_path / name).write_text("x = [1, 2, 3]")
    mutants = choose_mutants(["."], 1, 100, tmp_path, exclude=["table.py"])
    assert {mutant.path for _, mutant in mutants} == {"page.py"}


def test_the_covering_tests_a_file_are_those_of_the_longest_prefix() -> None:
    assert covering_tests("a/b/c.py", {"a": ["tests/a"], "a/b": ["tests/b"], "a/b/cc.py": ["tests/c"]}) == ("tests/b",)


def test_a_file_without_tests_is_refused() -> None:
    with pytest.raises(SystemExit):
        covering_tests("d.py", {"a": ["tests/a"]})


def test_an_equivalent_mutant_is_known_wherever_its_line_has_moved() -> None:
    known = Equivalent("page.py", "x = a < b", "x = a <= b", "a is never b")
    assert known.covers(Mutant("page.py", 70, "", "x = a < b", "x = a <= b"))


@pytest.mark.long
def test_each_equivalent_mutant_is_a_mutant_of_the_code_as_it_is() -> None:
    known = read_equivalents()
    originals: dict[str, list[str]] = {}
    for entry in known:
        originals.setdefault(entry.file, []).append(entry.original)
    changed = {(file, *difference) for file, lines in originals.items() for difference in _differences(file, lines)}
    assert [entry for entry in known if (entry.file, entry.original, entry.mutated) not in changed] == []


def _differences(file: str, originals: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the mutants of a file that change one of these lines: to apply all changes of a file takes seconds."""
    source = (ROOT / file).read_text()
    lines = [line.strip() for line in source.splitlines()]
    for change in list_changes(file, source):
        within = lines[change.node.lineno - 1 : change.node.end_lineno]
        if any(line and line in original for line in within for original in originals):
            mutant = change.apply(source)
            if mutant:
                yield mutant.removed, mutant.added


def test_functions_that_exist_take_the_code_of_the_mutant() -> None:
    before, after = (compile(f"def page():\n    return {number}", "a_page.py", "exec") for number in (1, 2))
    names: dict[str, object] = {}
    exec(before, names)
    page = names["page"]
    assert callable(page)
    swap(loaded_functions("a_page.py"), changed_functions(before, after) or [])
    assert page() == 2


def test_a_change_outside_of_functions_cannot_be_swapped() -> None:
    before, after = (compile(f"class Page:\n    x = {number}", "page.py", "exec") for number in (1, 2))
    assert changed_functions(before, after) is None


def test_a_default_value_cannot_be_swapped() -> None:
    before, after = (compile(f"def page(x={number}): ...", "page.py", "exec") for number in (1, 2))
    assert changed_functions(before, after) is None


def test_a_job_returns_its_result_however_long_it_is() -> None:
    (outcome,) = run_jobs([Job(1, lambda _: "x" * 1_000_000, 30.0)], 1)
    assert outcome.result == "x" * 1_000_000


def test_a_process_that_was_there_before_the_jobs_is_left_alone() -> None:
    """A worker of pytest is the parent of the Redis that its tests share."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as own:
        list(run_jobs([Job(1, lambda _: None, 30.0)], 1))
        assert own.poll() is None
        own.kill()


@pytest.mark.long
def test_a_job_over_its_time_limit_is_ended() -> None:
    (outcome,) = run_jobs([Job(1, lambda _: signal.pause(), 0.1)], 1)
    assert outcome.timed_out


def test_a_job_gets_more_time_on_a_busy_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a mutant is not taken for killed because other processes had the processor."""
    monkeypatch.setattr(os, "getloadavg", lambda: (1000.0 * (os.cpu_count() or 1), 0.0, 0.0))
    (outcome,) = run_jobs([Job(1, lambda _: time.sleep(0.5), 0.1)], 1)
    assert not outcome.timed_out


def test_a_job_whose_process_ends_has_no_result() -> None:
    (outcome,) = run_jobs([Job(1, lambda _: os._exit(3), 30.0)], 1)
    assert outcome.result is None


ORPHANED = """
import os, signal, sys
from mutation.forks import Job, run_jobs
def work(_):
    print(os.getpid(), flush=True)
    signal.pause()
list(run_jobs([Job(1, work, 60.0)], 1))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="Linux tells a process that its parent has ended")
async def test_a_job_ends_with_the_process_that_started_it() -> None:
    command = [sys.executable, "-W", "ignore", "-c", ORPHANED]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / ".ci")}
    own = await asyncio.create_subprocess_exec(*command, env=environment, stdout=subprocess.PIPE)
    assert own.stdout is not None
    job = Path("/proc") / (await own.stdout.readline()).decode().strip()
    own.kill()
    await own.wait()

    async def has_ended() -> bool:
        return not job.exists() or "State:\tZ" in (job / "status").read_text()

    await until(has_ended, "the job has ended")


def test_a_file_of_the_copy_is_restored(tmp_path: Path) -> None:
    (tmp_path / "page.py").write_text("x = 1")
    with written(tmp_path, "page.py", "x = 2"):
        pass
    assert (tmp_path / "page.py").read_text() == "x = 1"


JUDGE = """
import json, sys
from pathlib import Path
from mutation.mutants import list_changes
from mutation.suite import judge_by_swapping
folder, source = Path.cwd(), Path("page.py").read_text()
mutants = [mutant for change in list_changes("page.py", source) if (mutant := change.apply(source))]
plugin = judge_by_swapping(list(enumerate(mutants)), ["test_page.py"], folder, 2, lambda verdict: None)
verdicts = {mutants[verdict.number].added: verdict.killer for verdict in plugin.verdicts}
Path("verdicts.json").write_text(json.dumps(verdicts))
"""


def judged(folder: Path, source: str, test: str) -> dict[str, str]:
    """Return the killer of each mutant of `page.py`, by the changed line, without those that need another run.

    In a process of its own: a fork of this one would wait for locks that threads of pytest held.
    """
    (folder / "page.py").write_text(dedent(source))
    (folder / "test_page.py").write_text(dedent(test))
    environment = {**os.environ, "PYTHONPATH": str(ROOT / ".ci"), "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, "-c", JUDGE]
    ended = subprocess.run(command, check=False, cwd=folder, env=environment, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    verdicts: dict[str, str] = json.loads((folder / "verdicts.json").read_text())
    return verdicts


LARGER = """
    def larger(a, b):
        return a if a > b else b
"""


@pytest.mark.long
def test_a_mutant_that_a_test_notices_is_killed_by_it(tmp_path: Path) -> None:
    test = "from page import larger\ndef test_larger():\n    assert larger(1, 2) == 2"
    assert judged(tmp_path, LARGER, test)["return a if a <= b else b"].endswith("test_page.py::test_larger")


@pytest.mark.long
def test_a_mutant_that_no_test_notices_survives(tmp_path: Path) -> None:
    test = "from page import larger\ndef test_larger():\n    assert larger(1, 2) == 2"
    assert judged(tmp_path, LARGER, test)["return a if a >= b else b"] == ""


@pytest.mark.long
def test_a_survivor_in_a_function_that_runs_while_modules_are_loaded_is_not_certain(tmp_path: Path) -> None:
    source = "def table():\n    return [1]\nTABLE = table()"
    test = "from page import TABLE, table\ndef test_table():\n    assert table() is not None and TABLE == [1]"
    assert "return [2]" not in judged(tmp_path, source, test)
