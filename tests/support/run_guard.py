"""The guard of a test run: it ends the processes that the run leaves behind, however the run itself has ended.

A run is one pytest process; with xdist each worker is a run of its own. The guard is a process that holds the end of a
pipe from its run. When the run is gone, by Ctrl-C, a time limit or kill -9, the pipe closes, and the guard kills what
still belongs to the run: workers of a killed supervisor, an embedded Redis whose server died, a frozen server.

A process belongs to a run if its environment carries the run's name. Some programs write their title over their
environment; these belong to the run in whose folders they work. Both are read from /proc: elsewhere nothing is found.
"""

import contextlib
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

VARIABLE = "TEST_RUN_OF_FAIREST"
"""The environment variable that carries the name of the run to all processes that come from it. A supervisor takes
variables that begin with `FAIREST_` from the environment of its workers, so this one must not.
"""
TITLED = ("redis-server", "valkey-server", "nginx")
"""Programs that write their title over their environment."""
ENOUGH_SCANS = 2
"""So many scans in a row that find no process: one that is just being started has no environment of its own yet."""
STOP_SECONDS = 10.0
"""How long processes may take to end: a server gives up after 3.5 s, its supervisor a little later."""


@dataclass(frozen=True)
class Run:
    """The name of a run, and the folders in which it lets programs work."""

    name: str
    folders: tuple[Path, ...]

    def processes(self) -> dict[int, str]:
        """Return the processes that belong to this run: ids, and what each is and which test started it."""
        found: dict[int, str] = {}
        for process in Path("/proc").glob("[0-9]*"):
            # A process may end while it is looked at; others belong to somebody else.
            with contextlib.suppress(OSError):
                description = self._describe(process)
                if description:
                    found[int(process.name)] = description
        found.pop(os.getpid(), None)
        return found

    def wait_for_end(self, seconds: float = STOP_SECONDS) -> list[str]:
        """Wait until no process belongs to this run; return descriptions of those that are left after `seconds`."""
        empty_scans = 0
        deadline = time.monotonic() + seconds
        while empty_scans < ENOUGH_SCANS:
            left = self.processes()
            if left and time.monotonic() > deadline:
                return list(left.values())
            empty_scans = 0 if left else empty_scans + 1
            time.sleep(0.05)
        return []

    def kill_all(self) -> None:
        """Kill all processes of this run, also those that start while it kills."""
        empty_scans = 0
        deadline = time.monotonic() + STOP_SECONDS
        while empty_scans < ENOUGH_SCANS and time.monotonic() < deadline:
            left = self.processes()
            empty_scans = 0 if left else empty_scans + 1
            for process_id in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process_id, signal.SIGKILL)
            time.sleep(0.05)

    def _describe(self, process: Path) -> str:
        environment = (process / "environ").read_bytes().split(b"\0")
        command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        if f"{VARIABLE}={self.name}".encode() in environment:
            tests = [word.decode() for word in environment if word.startswith(b"PYTEST_CURRENT_TEST=")]
            return f"{command[:200]}, started in {tests[0].partition('=')[2] if tests else 'no test'}"
        if (process / "comm").read_text().strip() in TITLED:
            folder = (process / "cwd").readlink()
            if any(folder.is_relative_to(each) for each in self.folders):
                return f"{command[:200]}, at work in {folder}"
        return ""


@contextmanager
def guarded_run(*folders: Path) -> Iterator[Run]:
    """A run whose processes do not outlive this process; `folders` are more folders in which its programs work.

    Temporary files go into a folder of the run, which is removed with it.
    """
    home = Path(tempfile.mkdtemp(prefix="fairest-run-")).resolve()
    run = Run(secrets.token_hex(8), (home, *(each.resolve() for each in folders)))
    environment = {name: value for name, value in os.environ.items() if name != VARIABLE}
    command = [sys.executable, "-I", __file__, run.name, *map(str, run.folders)]
    # A session of its own, so that a Ctrl-C for the run does not reach it; no output that a reader might wait for.
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env=environment,
        cwd="/",
    ) as guard:
        before = tempfile.tempdir
        inherited = {name: os.environ.get(name) for name in (VARIABLE, "TMPDIR")}
        os.environ[VARIABLE] = run.name
        os.environ["TMPDIR"] = tempfile.tempdir = str(home)
        try:
            yield run
        finally:
            tempfile.tempdir = before
            for name, value in inherited.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value
            assert guard.stdin is not None
            guard.stdin.close()


def main() -> None:
    """Wait until the run is gone, then kill what it has left behind and remove its folder of temporary files."""
    name, *folders = sys.argv[1:]
    sys.stdin.buffer.read()
    Run(name, tuple(map(Path, folders))).kill_all()
    shutil.rmtree(folders[0], ignore_errors=True)


if __name__ == "__main__":
    main()
