"""Commands of `fairest`, in the process of the test where a process of their own is not the point."""

import os
import subprocess
from pathlib import Path

from typer.testing import CliRunner, Result

from fairest_cli.commands.main import app
from tests.support.processes import CLIENT_COMMAND


def invoke(home: Path, *arguments: str, typed: str = "") -> Result:
    """Run `fairest` with these words, for a player at `home`; return what it wrote, and its exit code.

    `typed` is for commands without an event loop; the others read a file descriptor, so they need `run_typed`. A call
    here saves the half second of CPU time that a process takes to start. Call it outside of event loops.
    """
    return CliRunner().invoke(app, arguments, input=typed, env=_environment(home))


def run_typed(
    home: Path, *arguments: str, typed: str = "", errors: int = subprocess.STDOUT
) -> subprocess.CompletedProcess[str]:
    """Run `fairest` as a process with these words and this input, for a player at `home`; return how it ended.

    `errors` is subprocess.PIPE to have standard error apart. Call it outside of event loops.
    """
    environment = {**os.environ, **_environment(home)}
    command = [*CLIENT_COMMAND, *arguments]
    return subprocess.run(
        command,
        input=typed,
        stdout=subprocess.PIPE,
        stderr=errors,
        text=True,
        timeout=50,
        env=environment,
        check=False,
    )


def _environment(home: Path) -> dict[str, str]:
    return {"HOME": str(home), "XDG_DATA_HOME": str(home / "data")}
