"""The search for the steps of certified deals, in a process of its own: it never delays the event loop."""

import asyncio
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import structlog

from fairest_server.live.live_room import LiveRoom
from fairest_server.live.proposal import Request
from fairest_server.live.room_tasks import RoomTasks
from fairest_server.live.step_worker import write_request
from fairest_server.ops.events import Event
from fairest_server.ops.metrics import CERTIFIED_DEALS
from fairest_server.room.commands import DealStep
from fairest_server.room.state import RoomState, round_seed

_LOG = structlog.get_logger(__name__)

RETRY_SECONDS: Final = 0.25
"""Between two attempts after the worker has ended, or could not be started."""


class StepFinder:
    """One worker process for all certified deals of this server process, started by the first one.

    Deals take turns, one at a time. A worker that was killed is replaced, and the search begun again: the step depends
    on the seed alone. If this process is killed, another one that opens the room begins the search again.
    """

    def __init__(self, tasks: RoomTasks, stopping: asyncio.Event) -> None:
        """`stopping` is set when this process stops: searches are then left to other processes."""
        self._tasks = tasks
        self._stopping = stopping
        self._under_way: set[bytes] = set()
        """The ids of the rounds whose step is looked for."""
        self._turn = asyncio.Lock()
        self._worker: Process | None = None

    @property
    def worker_id(self) -> int | None:
        """The process id of the worker, None if there is none."""
        return None if self._worker is None else self._worker.pid

    def seek(self, code: str, state: RoomState, open_room: Callable[[str], LiveRoom | None]) -> None:
        """Find the step for a room that awaits it, unless that is under way, and submit it to the room.

        `open_room` returns the room with a code if this process has it open then.
        """
        assert state.round is not None, "a room that awaits a step has a round"
        if state.round.round_id not in self._under_way:
            self._under_way.add(state.round.round_id)
            self._tasks.start(self._seek(code, state, state.round.round_id, open_room), code)

    async def end_worker(self) -> None:
        """Kill the worker, if there is one. A search under way starts another one, unless this process stops."""
        worker, self._worker = self._worker, None
        if worker is not None:
            with suppress(ProcessLookupError):
                worker.kill()
            await worker.wait()

    async def _seek(
        self, code: str, state: RoomState, round_id: bytes, open_room: Callable[[str], LiveRoom | None]
    ) -> None:
        try:
            step = await self._find(write_request(state.rules, round_seed(state)))
        finally:
            self._under_way.discard(round_id)
        room = open_room(code)
        if step is not None and room is not None:
            CERTIFIED_DEALS.inc()
            room.submit(Request(DealStep(round_id, step)))

    async def _find(self, request: str) -> int | None:
        """Return the step that the worker answers, trying until it does; None if this process stops."""
        while not self._stopping.is_set():
            async with self._turn:
                answer = await self._ask(request)
            if answer.endswith(b"\n"):
                return int(answer)
            await asyncio.sleep(RETRY_SECONDS)
        return None

    async def _ask(self, request: str) -> bytes:
        """Return the line that the worker answers, or nothing if it has ended."""
        try:
            worker = await self._open_worker()
            assert worker.stdin is not None and worker.stdout is not None, "both are pipes"
            # The seed decides the deck, so it goes through a pipe: other users can read the arguments of a process.
            worker.stdin.write(f"{request}\n".encode())
            await worker.stdin.drain()
            answer = await worker.stdout.readline()
        except OSError:
            answer = b""
        if not answer.endswith(b"\n"):
            await self.end_worker()
            if not self._stopping.is_set():
                _LOG.warning(Event.STEP_WORKER_ENDED)
        return answer

    async def _open_worker(self) -> Process:
        """Return the worker, started if there is none. Raises OSError."""
        if self._worker is None:
            # -P: no module is imported from the current folder.
            arguments = (sys.executable, "-P", "-m", "fairest_server.live.step_worker")
            self._worker = await asyncio.create_subprocess_exec(*arguments, stdin=PIPE, stdout=PIPE, stderr=DEVNULL)
        return self._worker
