"""Thinking in a worker process that is killed, overtaken and left alone; real processes."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from fairest_cli.bots.evaluation import evaluate
from fairest_cli.bots.levels import Level, decide
from fairest_cli.bots.thinking import Thinker
from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.rules import choose_rules
from tests.support.bot_boards import board_after
from tests.support.waiting import PATIENCE_SECONDS

CLASSIC = choose_rules("classic")


@pytest.fixture
def thinker() -> Iterator[Thinker]:
    thinker = Thinker()
    yield thinker
    thinker.close()


@pytest.fixture
def board() -> Board:
    """A board with a choice between four piles, early in a game."""
    boards = (board_after(CLASSIC, seed, 20) for seed in range(100))
    return next(board for board in boards if not any(move.places for move in board.legal_moves()))


async def test_the_worker_decides_as_this_process_would(thinker: Thinker, board: Board) -> None:
    assert await thinker.decide(Level.CLUB, board, CLASSIC, 5) == decide(Level.CLUB, board, CLASSIC, 5)


async def test_the_worker_evaluates_as_this_process_would(thinker: Thinker, board: Board) -> None:
    assert await thinker.evaluate(board, CLASSIC, 5, 40) == evaluate(board, CLASSIC, 5, 40)


async def test_a_level_that_does_not_look_ahead_needs_no_worker(thinker: Thinker, board: Board) -> None:
    await thinker.decide(Level.LEARNER, board, CLASSIC, 5)
    assert thinker.worker_id is None


async def test_a_killed_worker_is_replaced_and_the_decision_is_the_same(thinker: Thinker, board: Board) -> None:
    await thinker.decide(Level.CLUB, board, CLASSIC, 5)
    thinking = asyncio.create_task(thinker.decide(Level.STRONG, board, CLASSIC, 6))
    await asyncio.sleep(0)
    assert thinker.worker_id is not None
    os.kill(thinker.worker_id, signal.SIGKILL if sys.platform != "win32" else signal.SIGTERM)
    assert await thinking == decide(Level.STRONG, board, CLASSIC, 6)


async def test_the_event_loop_goes_on_while_an_expert_thinks(thinker: Thinker, board: Board) -> None:
    """Each round of the loop is one of the callbacks that a connection needs; thinking here would allow none."""
    thinking = asyncio.create_task(thinker.decide(Level.EXPERT, board, CLASSIC, 6))
    rounds = 0
    while not thinking.done():
        await asyncio.sleep(0)
        rounds += 1
    assert rounds > 1000


async def test_a_cancelled_search_leaves_the_worker_to_the_next_one(thinker: Thinker, board: Board) -> None:
    search = asyncio.create_task(thinker.evaluate(board, CLASSIC, 1, 1_000_000))
    await thinker.decide(Level.CLUB, board, CLASSIC, 5)
    search.cancel()
    await asyncio.gather(search, return_exceptions=True)
    async with asyncio.timeout(20):
        assert await thinker.decide(Level.CLUB, board, CLASSIC, 5) == decide(Level.CLUB, board, CLASSIC, 5)


PROGRAM = """
import asyncio, sys
from fairest_cli.bots.search import Search
from fairest_cli.bots.thinking import SHARED
SHARED.prepare()
asyncio.run(SHARED.finish(Search((), 0, [], [])))
while SHARED.worker_id is None:
    pass
print(SHARED.worker_id, flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no os.kill that only asks")
def test_the_worker_of_a_killed_program_ends() -> None:
    command = [sys.executable, "-c", PROGRAM]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        assert program.stdout is not None
        worker = int(program.stdout.readline())
        program.kill()
    deadline = time.monotonic() + PATIENCE_SECONDS
    while is_running(worker):
        assert time.monotonic() < deadline, f"the worker {worker} still runs after its program was killed"
        time.sleep(0.01)


def is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
