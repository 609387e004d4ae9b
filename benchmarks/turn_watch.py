"""A server that measures the CPU of each turn of its event loop: `benchmarks.turn_watch FILE`, and a server's options.

SIGUSR1 begins a window, SIGUSR2 ends it and writes its figures to FILE. Within a window the loop never sleeps, so that
all time lies within turns. CPU is measured, not time, so other processes of the machine do not count; but bytes that
arrived while the server was not on a core are handled in one turn, as they would be after any wait.
"""

import asyncio
import json
import signal
import sys
from array import array
from collections.abc import Coroutine
from pathlib import Path
from time import thread_time

import uvloop

from fairest_server.commands.main import main

WARMUP_TURNS = 2


class TurnWatch:
    """The CPU of the turns of one event loop, in seconds."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._turns = array("d")
        self._before = 0.0
        self._is_watching = False

    def begin(self) -> None:
        """Begin a window."""
        self._turns = array("d")
        self._is_watching, self._before = True, thread_time()
        asyncio.get_running_loop().call_soon(self._count)

    def end(self) -> None:
        """End the window and write its figures; the file appears when it is complete."""
        self._is_watching = False
        turns = sorted(self._turns[WARMUP_TURNS:])
        draft = self._file.with_suffix(".draft")
        draft.write_text(json.dumps({"p99_ms": weighted_p99(turns) * 1000, "max_ms": max(turns, default=0.0) * 1000}))
        draft.rename(self._file)

    def _count(self) -> None:
        now = thread_time()
        self._turns.append(now - self._before)
        self._before = now
        if self._is_watching:
            asyncio.get_running_loop().call_soon(self._count)


def weighted_p99(turns: list[float]) -> float:
    """Return the length of the turn that 99 of 100 moments lie in, or in a shorter one; `turns` are sorted."""
    left = sum(turns) * 0.01
    for turn in reversed(turns):
        left -= turn
        if left < 0:
            return turn
    return 0.0


def serve_watched(watch: TurnWatch) -> None:
    """Run the server's command in an event loop that `watch` hears of."""
    run = uvloop.run

    async def watched(serving: Coroutine[None, None, None]) -> None:
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGUSR1, watch.begin)
        loop.add_signal_handler(signal.SIGUSR2, watch.end)
        await serving

    # The command starts its event loop by this name.
    vars(uvloop)["run"] = lambda serving: run(watched(serving))
    main()


if __name__ == "__main__":
    serve_watched(TurnWatch(Path(sys.argv.pop(1))))
