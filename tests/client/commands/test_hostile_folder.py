"""Programs started from a folder whose files bear the names of modules: none of these files is ever executed.

The console scripts do not look for modules in the current folder. Their child processes, which are started with `-m`,
do so unless they are started with `-P` too.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.processes import START_SECONDS, STOP_SECONDS

SCRIPTS = Path(sys.executable).parent
FILES = ("server.py", "protocol.py", "redis.py", "fairest_server.py", "websockets.py", "server/__init__.py")
TRAP = "import pathlib\npathlib.Path(__file__).with_suffix('.executed').touch()\n"


@pytest.fixture
def hostile_folder(tmp_path: Path) -> Path:
    """A folder with a trap under each of these names: a module that leaves a file beside it when it is executed."""
    folder = tmp_path / "hostile"
    for name in FILES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(TRAP)
    return folder


def environment(home: Path) -> dict[str, str]:
    """The environment of a player who has set nothing that Python reads."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return {**inherited, "HOME": str(home), "XDG_DATA_HOME": str(home / "data")}


def run(script: str, *arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a console script to its end, with `folder` as the current one and without a terminal."""
    command = [str(SCRIPTS / script), *arguments]
    home = folder.parent
    return subprocess.run(
        command, cwd=folder, env=environment(home), input="", capture_output=True, text=True, timeout=50, check=False
    )


def executed(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*.executed"))


def test_the_traps_work(hostile_folder: Path) -> None:
    command = [sys.executable, "-c", "import server, protocol, redis, fairest_server, websockets"]
    subprocess.run(command, cwd=hostile_folder, env=environment(hostile_folder.parent), check=True, timeout=50)
    assert len(executed(hostile_folder)) == len(FILES) - 1, "the folder server/ hides server.py"


@pytest.mark.long
def test_a_race_on_a_local_server_executes_no_file_of_the_current_folder(hostile_folder: Path) -> None:
    done = run("fairest", "play", folder=hostile_folder)
    assert (executed(hostile_folder), done.returncode) == ([], 0), done.stderr


@pytest.mark.long
def test_the_doctor_executes_no_file_of_the_current_folder(hostile_folder: Path) -> None:
    done = run("fairest", "doctor", folder=hostile_folder)
    starts = any(line.startswith("ok") and "own server" in line for line in done.stdout.splitlines())
    assert (executed(hostile_folder), starts) == ([], True), done.stdout


@pytest.mark.long
def test_workers_execute_no_file_of_the_current_folder(hostile_folder: Path, redis_url: str) -> None:
    command = [str(SCRIPTS / "fairest-server"), "--workers", "2", "--port", "0", "--redis-url", redis_url]
    with subprocess.Popen(
        command, cwd=hostile_folder, env=environment(hostile_folder.parent), stdout=subprocess.PIPE, text=True
    ) as supervisor:
        assert supervisor.stdout is not None
        url = supervisor.stdout.readline()
        supervisor.terminate()
        supervisor.communicate(timeout=START_SECONDS + STOP_SECONDS)
    assert (executed(hostile_folder), url[:15]) == ([], "ws://127.0.0.1:")
