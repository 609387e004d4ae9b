"""An analysis in a process of its own, so that a screen stays quick, and that can be given up at any time.

The process is `python -m fairest_cli.text.analysis_process`: it reads the text of a record from standard input, and
writes its progress, and at the end the lines of the analysis, to standard output.
"""

import asyncio
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncGenerator
from contextlib import suppress
from functools import partial
from typing import Final

from fairest_cli.analysis.judging import Effort
from fairest_cli.analysis.round_analysis import analyse_round
from fairest_cli.records.files import split_lines
from fairest_cli.session.child_process import kill_and_wait
from fairest_cli.text.analysis import describe_analysis
from fairest_protocol.calculation.record import Record
from fairest_protocol.calculation.record_parser import read_record

PROGRESS: Final = "\t"
"""Begins a line that says how much is done, in percent. No line of an analysis begins with it."""


class AnalysisFailed(Exception):
    """The process ended without an analysis; the text says how."""


async def analyse_in_process(record: Record) -> AsyncGenerator[int | str, None]:
    """Yield the progress in percent as it grows, and then the lines of the analysis.

    Raises `AnalysisFailed`. The process is killed when the iterator is closed or cancelled.
    """
    # -P: no module is imported from the current folder. Nothing of the process may reach a full screen.
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-P", "-m", "fairest_cli.text.analysis_process", stdin=PIPE, stdout=PIPE, stderr=DEVNULL
    )
    assert process.stdin is not None and process.stdout is not None, "both are pipes"
    try:
        with suppress(ConnectionError):
            process.stdin.write("".join(f"{line}\n" for line in record.lines()).encode())
            await process.stdin.drain()
            process.stdin.close()
        async for raw in process.stdout:
            line = raw.decode().rstrip("\n")
            yield int(line) if line.startswith(PROGRESS) else line
        if await process.wait():
            raise AnalysisFailed(f"the process of the analysis ended with exit code {process.returncode}")
    finally:
        await kill_and_wait(process)


def analyse_all(record: Record, effort: Effort) -> None:
    """Print the progress and then the analysis of all rounds and both seats of a record. Raises `BadRecord`."""
    numbers = [number for number, played in enumerate(record.rounds) if played.is_dealt]
    shown = -1

    def show(at: int, done: int, total: int) -> None:
        nonlocal shown
        percent = int(100 * (at + done / total) / len(numbers))
        if percent > shown:
            shown = percent
            print(f"{PROGRESS}{percent}", flush=True)

    rounds = [analyse_round(record, number, (0, 1), effort, partial(show, at)) for at, number in enumerate(numbers)]
    print("\n".join(describe_analysis(record, rounds, shows_solution=True)), flush=True)


if __name__ == "__main__":
    analyse_all(read_record(split_lines(sys.stdin.read())), Effort())
