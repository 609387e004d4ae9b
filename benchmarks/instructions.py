"""Instructions for a move, counted by callgrind: a figure that hardly depends on the machine, or on what else it does.

CPU time of the same code may vary by a half within minutes where cores and caches are shared. The instructions of a
program and its libraries do not. They leave out the kernel, so all sending and receiving, and each wait for memory.

Lockstep is rooms whose players move without a pause, so that both moves of a room share an append; alone is two rooms
at a person's pace, where each move has an append of its own. The instructions of a process in the same time afterwards,
when nobody moves, are subtracted. Needs valgrind, and is left out without it.
"""

import asyncio
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.figure import Figure, written_down
from benchmarks.under_load import loading, serving_kind

KINDS: Final = ("echo", "handwritten", "stored", "bare", "core", "race")
FIRST_MOVES: Final = 4
"""Not counted, since everything takes longer when it is done for the first time."""
MOVES: Final = 30
LOADS: Final = {"": (20, 0.0), "_alone": (2, 0.3)}
"""The rooms of each load and the longest pause of a player, in seconds, by the suffix of its figures."""
_COUNT: Final = re.compile(r"^summary: ([0-9]+)$", re.MULTILINE)


@dataclass(frozen=True)
class Instructions:
    """Instructions for a move, of the server and of Redis."""

    server: float
    redis: float

    @property
    def total(self) -> float:
        return self.server + self.redis


def measure_instructions() -> list[Figure]:
    """Those of our server and of the controls, and the ratios to the hand-written race, which stores nothing."""
    if shutil.which("valgrind") is None:
        print("left out: there is no valgrind (Debian's package has this name)", file=sys.stderr)
        return []
    return asyncio.run(_measure_all())


async def _measure_all() -> list[Figure]:
    figures: list[Figure] = []
    for suffix, (rooms, pace_seconds) in LOADS.items():
        counts = {kind: await _count(kind, rooms, pace_seconds) for kind in KINDS}
        for kind, count in counts.items():
            figures.append(written_down(f"instructions_{kind}{suffix}", count.server, ""))
            if count.redis:
                figures.append(written_down(f"instructions_{kind}_redis{suffix}", count.redis, ""))
            ratio = count.total / counts["handwritten"].total
            figures.append(written_down(f"instructions_{kind}_over_handwritten{suffix}", ratio, ""))
    return figures


async def _count(kind: str, rooms: int, pace_seconds: float) -> Instructions:
    load_kind = "race" if kind == "race" else "echo"
    with tempfile.TemporaryDirectory(prefix="fairest-") as name:
        folder = Path(name)
        wrapper = ("valgrind", "--quiet", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={folder}/%p")
        async with (
            serving_kind(kind, wrapper=wrapper) as served,
            loading(load_kind, served, rooms, pace=pace_seconds) as load,
        ):
            await load.move(FIRST_MOVES)
            servers, stores = list(served.servers), [] if served.redis is None else [served.redis]
            for process in (*servers, *stores):
                await _control(process, "--instr=on")
            moved = await load.move(MOVES)
            busy = [await _dump(folder, processes) for processes in (servers, stores)]
            await load.rest(moved.seconds)
            idle = [await _dump(folder, processes) for processes in (servers, stores)]
    server, redis = ((mine - rest) / moved.messages for mine, rest in zip(busy, idle, strict=True))
    print(f"  {kind}, {rooms} rooms: {server:.0f} + {redis:.0f} instructions a move", file=sys.stderr)
    return Instructions(server, redis)


async def _dump(folder: Path, processes: list[int]) -> int:
    """Return the instructions of these processes since the last dump."""
    count = 0
    for process in processes:
        await _control(process, "--dump")
        newest = max(folder.glob(f"{process}.*"), key=lambda path: int(path.suffix[1:]))
        found = _COUNT.search(newest.read_text())
        assert found is not None, f"{newest.name} has no count"
        count += int(found[1])
    return count


async def _control(process: int, command: str) -> None:
    """Have callgrind obey a command in this process. Raises CalledProcessError if it does not."""
    words = ["callgrind_control", command, str(process)]
    await asyncio.to_thread(subprocess.run, words, check=True, capture_output=True)
