"""A run of benchmarks says how far it is."""

from pathlib import Path

import pytest

from benchmarks.progress import Progress


class Clock:
    """A clock that a test sets, in seconds."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_the_first_run_says_what_was_never_measured(tmp_path: Path) -> None:
    progress = Progress(["fuzz", "soak"], tmp_path / "durations.json", Clock())
    assert progress.line("fuzz") == "fuzz: 1 of 2, 0 min gone, 0 min left and 2 that were not measured before"


def test_a_later_run_says_how_long_the_rest_took_last_time(tmp_path: Path) -> None:
    file, clock = tmp_path / "durations.json", Clock()
    earlier = Progress(["fuzz", "soak"], file, clock)
    earlier.finish("fuzz", 60.0)
    earlier.finish("soak", 300.0)
    progress = Progress(["fuzz", "soak"], file, clock)
    clock.now = 120.0
    assert progress.line("soak") == "soak: 2 of 2, 2 min gone, 5 min left"


@pytest.mark.parametrize("content", ["", "[]", "{", '{"fuzz": "long"}', "null"])
def test_durations_that_cannot_be_read_are_unknown(tmp_path: Path, content: str) -> None:
    file = tmp_path / "durations.json"
    file.write_text(content)
    assert Progress(["fuzz"], file, Clock()).line("fuzz").endswith("1 that were not measured before")
