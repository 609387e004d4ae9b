"""Thinking in a process of its own, so that it never delays the client's connection, its screen or other bots."""

import asyncio
import atexit
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Final

from fairest_cli.bots.evaluation import chances
from fairest_cli.bots.levels import STRONGEST, Decision, Level, decide_at_once, open_decision
from fairest_cli.bots.search import Search, start_evaluation
from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.moves import Move
from fairest_protocol.calculation.rules import Rules

MAX_WORKERS_LOST: Final = 3
"""Workers that may end under one search before it gives up: a search that no worker survives would never end."""
END_SECONDS: Final = 2.0
"""Time that a worker has to end once its input is closed; it takes the rest of a part, some milliseconds."""


class ThinkingFailed(Exception):
    """The worker process ends again and again under a search, or cannot be started; the text says why."""


class Thinker:
    """One worker process for all searches of this program, started by the first one.

    Searches take turns, part by part (`worker.PART`). A search whose task is cancelled leaves at most one part behind.
    A worker that was killed is replaced, and the part begun again: the outcome is the same, since it depends on the
    seed alone. Independent of event loops, so one object serves a whole program.
    """

    def __init__(self) -> None:
        self._worker: subprocess.Popen[bytes] | None = None
        # A single thread waits for the worker, so searches are served in the order in which they ask.
        self._waiting = ThreadPoolExecutor(1, "thinking")

    @property
    def worker_id(self) -> int | None:
        """The process id of the worker, None if there is none."""
        return None if self._worker is None else self._worker.pid

    def prepare(self) -> None:
        """Start the worker, if there is none. Returns at once; the worker takes some tenths of a second to start."""
        self._waiting.submit(self._open_worker)

    async def decide(self, level: Level, board: Board, rules: Rules, seed: int) -> Decision:
        """Return the decision of `levels.decide`. Raises `ThinkingFailed`. Safe to cancel."""
        at_once = decide_at_once(level, board, rules, seed)
        if at_once is not None:
            return at_once
        search = await self.finish(open_decision(level, board, rules, seed))
        return Decision(search.best.move, search.lead)

    async def hint(self, board: Board, rules: Rules, seed: int) -> Decision:
        """Return the decision of `evaluation.hint`. Raises `ThinkingFailed`. Safe to cancel."""
        return await self.decide(STRONGEST, board, rules, seed)

    async def evaluate(self, board: Board, rules: Rules, seed: int, budget: int) -> dict[Move, float]:
        """Return what `evaluation.evaluate` does. Raises `ThinkingFailed`. Safe to cancel."""
        return chances(await self.finish(start_evaluation(board, rules, seed, budget)))

    async def finish(self, search: Search) -> Search:
        """Return the search with its whole budget spent. Raises `ThinkingFailed`. Safe to cancel."""
        lost = 0
        while not search.is_done:
            try:
                search = await asyncio.wrap_future(self._waiting.submit(self._advance, search))
            except (OSError, EOFError, pickle.UnpicklingError) as reason:
                # The pipe of a worker that has ended; a killed one may have written half an answer.
                lost += 1
                if lost >= MAX_WORKERS_LOST:
                    raise ThinkingFailed(f"the process in which bots think ended {lost} times: {reason}") from reason
        return search

    def close(self) -> None:
        """End the worker, and wait for that. A later search starts a new one."""
        self._waiting.submit(self.end_worker).result()

    def _advance(self, search: Search) -> Search:
        """Return the search one part further. Raises OSError, EOFError and UnpicklingError if the worker has ended."""
        worker = self._open_worker()
        assert worker.stdin is not None and worker.stdout is not None, "both are pipes"
        try:
            pickle.dump(search, worker.stdin)
            worker.stdin.flush()
            advanced: Search = pickle.load(worker.stdout)
        except (OSError, EOFError, pickle.UnpicklingError):
            self.end_worker()
            raise
        return advanced

    def _open_worker(self) -> subprocess.Popen[bytes]:
        """Return the worker, started if there is none. Raises OSError."""
        if self._worker is None:
            # -P: no module is imported from the current folder. Nothing of the worker may reach a full screen.
            self._worker = subprocess.Popen(
                [sys.executable, "-P", "-m", "fairest_cli.bots.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        return self._worker

    def end_worker(self) -> None:
        """End the worker from the thread that waits for it, or once that thread has ended. Others call `close`."""
        worker, self._worker = self._worker, None
        if worker is None:
            return
        assert worker.stdin is not None and worker.stdout is not None, "both are pipes"
        with suppress(OSError):
            worker.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            worker.wait(END_SECONDS)
        if worker.returncode is None:
            worker.kill()
            worker.wait()
        worker.stdout.close()


SHARED: Final = Thinker()
"""The thinker of this program."""


@atexit.register
def _end_with_program() -> None:
    # The thread that waits for the worker has ended by now.
    SHARED.end_worker()
