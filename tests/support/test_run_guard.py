"""A test run leaves no process behind, however it ends, and names those that it would have left."""

import asyncio
import os
import signal
import subprocess
import sys
from asyncio.subprocess import PIPE
from pathlib import Path

import pytest

from tests.support.run_guard import VARIABLE, Run, guarded_run
from tests.support.waiting import until

SLEEP = "import signal; signal.pause()"
KILLED_RUN = f"""
import os, signal, subprocess, sys
from tests.support.processes import RedisProcess
from tests.support.run_guard import guarded_run
import tempfile
from pathlib import Path

with guarded_run():
    sleeper = subprocess.Popen([sys.executable, "-c", {SLEEP!r}], start_new_session=True)
    redis = RedisProcess(Path(tempfile.mkdtemp()))
    print(sleeper.pid, redis.pid, tempfile.gettempdir(), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


async def test_processes_of_a_run_that_was_killed_end_and_its_folder_goes() -> None:
    run = await asyncio.create_subprocess_exec(sys.executable, "-c", KILLED_RUN, stdout=PIPE)
    assert run.stdout is not None
    async with asyncio.timeout(30):
        *process_ids, folder = (await run.stdout.readline()).split()
        assert await run.wait() == -signal.SIGKILL

    async def are_gone() -> bool:
        processes = [Path(f"/proc/{process_id.decode()}") for process_id in process_ids]
        return not any(path.exists() for path in (*processes, Path(folder.decode())))

    assert len(process_ids) == 2
    await until(are_gone, "the sleeper, Redis and the folder are gone")


def test_a_process_that_is_left_is_named_with_the_test_that_started_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    run = Run("a-run-of-its-own", (tmp_path,))
    monkeypatch.setenv(VARIABLE, run.name)
    with subprocess.Popen([sys.executable, "-c", f"print(flush=True); {SLEEP}"], stdout=subprocess.PIPE) as left:
        assert left.stdout is not None
        try:
            # It has begun, and so has an environment.
            left.stdout.readline()
            (description,) = run.wait_for_end(seconds=0.5)
        finally:
            left.kill()
    assert f"{SLEEP}, started in tests/support/test_run_guard.py::test_a_process_that_is_left" in description


def test_the_environment_of_before_is_back_when_the_run_is_over() -> None:
    before = dict(os.environ)
    with guarded_run():
        assert os.environ != before
    assert dict(os.environ) == before
