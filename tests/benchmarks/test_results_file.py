"""Results of a run replace those of the same names, and no others."""

from pathlib import Path

from benchmarks.figure import written_down
from benchmarks.results_file import ResultsFile


def test_a_later_run_keeps_the_figures_that_it_does_not_measure(tmp_path: Path) -> None:
    path = tmp_path / "latest.jsonl"
    ResultsFile(path).add([written_down("move_us", 50.0, "us"), written_down("echo_us", 30.0, "us")])
    ResultsFile(path).add([written_down("move_us", 40.0, "us")])
    assert ResultsFile(path).values == {"move_us": 40.0, "echo_us": 30.0}


def test_a_line_that_was_cut_off_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "latest.jsonl"
    ResultsFile(path).add([written_down("move_us", 50.0, "us"), written_down("echo_us", 30.0, "us")])
    path.write_text(path.read_text()[:-20])
    assert list(ResultsFile(path).values) == ["move_us"]


def test_a_first_run_starts_from_nothing(tmp_path: Path) -> None:
    assert ResultsFile(tmp_path / "latest.jsonl").figures == []
