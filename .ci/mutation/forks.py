"""Forked processes with a time limit, several at once, of which nothing is left behind."""

import ctypes
import os
import pickle
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

PR_SET_PDEATHSIG: Final = 1
PR_SET_CHILD_SUBREAPER: Final = 36
POLL_SECONDS: Final = 0.005
GRACE_SECONDS: Final = 3.0
"""Between the interrupt that a process is sent at its time limit, and the kill."""

Work = Callable[[int], object]
"""Called in the child process with the number of its slot, from 0 to the number of jobs - 1."""


@dataclass(frozen=True, slots=True)
class Job:
    """Work for a process of its own."""

    number: int
    work: Work
    limit_seconds: float
    """On an idle machine; more on one where more processes want to run than it has cores."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a job ended."""

    number: int
    result: Any
    """Returned by the work; None if its process ended without a result."""
    timed_out: bool
    seconds: float


@dataclass(slots=True)
class _Running:
    job: Job
    slot: int
    pid: int
    output: IO[bytes]
    """A file and not a pipe: nobody reads while the process runs, and a pipe holds 64 KiB."""
    started: float
    seen: float
    """When its time was counted last."""
    counted_seconds: float = 0.0
    """Its share of the time since it started, as it would have been on an idle machine."""
    interrupted: float | None = None


def run_jobs(jobs: Iterable[Job], slots: int) -> Iterator[Outcome]:
    """Run each job in a forked process, `slots` of them at once; yield their outcomes as they end."""
    _set_adopts_orphans(adopts=True)
    try:
        own_children = _children()
        waiting = iter(jobs)
        running: list[_Running] = []
        free = list(range(slots))
        is_exhausted = False
        while running or not is_exhausted:
            while free and not is_exhausted:
                job = next(waiting, None)
                if job is None:
                    is_exhausted = True
                else:
                    running.append(_start(job, free.pop()))
            ended = [process for process in running if _has_ended(process)]
            for process in ended:
                running.remove(process)
                free.append(process.slot)
                yield _outcome(process)
            if not running:
                _kill_orphans(own_children)
            if not ended:
                time.sleep(POLL_SECONDS)
    finally:
        _set_adopts_orphans(adopts=False)


def _start(job: Job, slot: int) -> _Running:
    output = tempfile.TemporaryFile()  # noqa: SIM115, it is closed when the outcome is read
    parent = os.getpid()
    pid = os.fork()
    if pid:
        now = time.monotonic()
        return _Running(job, slot, pid, output, started=now, seen=now)
    code = 1
    try:
        _end_with_parent(parent)
        os.setsid()
        pickle.dump(job.work(slot), output)
        output.flush()
        code = 0
    except BaseException:  # even an interrupt must not leave this function: the code below it is the parent's
        traceback.print_exc()
    finally:
        with suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)  # skips the exit handlers that the parent registered


def _has_ended(process: _Running) -> bool:
    pid, _ = os.waitpid(process.pid, os.WNOHANG)
    if pid:
        return True
    now = time.monotonic()
    process.counted_seconds += (now - process.seen) / max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
    process.seen = now
    if process.interrupted is None and process.counted_seconds > process.job.limit_seconds:
        process.interrupted = now
        _signal(process.pid, signal.SIGINT)
    elif process.interrupted is not None and now > process.interrupted + GRACE_SECONDS:
        _signal(process.pid, signal.SIGKILL)
    return False


def _signal(group: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def _outcome(process: _Running) -> Outcome:
    _signal(process.pid, signal.SIGKILL)  # its children that share its process group
    with process.output as file:
        file.seek(0)
        written = file.read()
    is_late = process.interrupted is not None
    result = pickle.loads(written) if written and not is_late else None
    return Outcome(process.job.number, result, is_late, time.monotonic() - process.started)


def _end_with_parent(parent: int) -> None:
    """Let this process be killed when its parent ends, however that ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)


def _set_adopts_orphans(*, adopts: bool) -> None:
    """Let processes whose parents have ended become children of this one, where it can find them, or no longer.

    For as long as jobs run only: this process does not wait for children that it does not know, so they stay zombies.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, int(adopts), 0, 0, 0)


def _children() -> set[int]:
    """Return the process ids of the children of this process, where /proc lists them."""
    children = Path(f"/proc/self/task/{os.getpid()}/children")
    return set(map(int, children.read_text().split())) if children.exists() else set()


def _kill_orphans(own_children: set[int]) -> None:
    """End the children of this process that it did not have before the jobs: they are orphans of killed jobs."""
    for pid in _children() - own_children:
        with suppress(OSError):
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
