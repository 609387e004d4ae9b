"""Long computations on the event loop, in slices: no message of another client waits for the whole of one."""

import asyncio
from time import perf_counter
from typing import Final, TypeVar

from fairest_protocol.calculation.sliced import Sliced

SLICE_SECONDS: Final = 0.001
"""After this time the computation lets everything else that is ready run."""

_Result = TypeVar("_Result")


class Slices:
    """Runs sliced computations: short ones at once, and of the others one at a time.

    A thread would take longer for the same work, and hold up the event loop for 5 ms whenever it has the interpreter.
    """

    def __init__(self) -> None:
        self._turn = asyncio.Lock()

    async def finish(self, work: Sliced[_Result]) -> _Result:
        """Return the result of `work`. There is no `await` between its last slice and the return."""
        try:
            _run_slice(work)
            async with self._turn:
                while True:
                    await asyncio.sleep(0)
                    _run_slice(work)
        except StopIteration as end:
            result: _Result = end.value
            return result


def _run_slice(work: Sliced[_Result]) -> None:
    """Work for SLICE_SECONDS. Raises StopIteration with the result at the end."""
    end_seconds = perf_counter() + SLICE_SECONDS
    while perf_counter() < end_seconds:
        next(work)
