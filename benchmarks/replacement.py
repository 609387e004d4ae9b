"""The longest wait for the answer to a move while all workers are replaced under 50 races, by SIGHUP and by `drain`.

Real workers on one port, real clients with their own reconnection. After the races, every acknowledged move of a
player must stand in its record once, in order.
"""

import asyncio
import math
import os
import random
import signal
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.figure import Figure
from benchmarks.kill_recovery import Recovery, compare_moves
from benchmarks.under_load import serving_workers
from fairest_cli.session.connection import Connection, Update
from fairest_cli.session.identity import Identity
from fairest_cli.session.websocket import EntryRequest
from fairest_protocol.calculation.moves import Move
from fairest_protocol.messages.from_client import Create, Join
from fairest_protocol.messages.options import RoomOptions
from tests.support.bots import Bot
from tests.support.processes import SERVER_COMMAND
from tests.support.waiting import until

RACES = 50
WORKERS = 2
PACE_SECONDS = 0.5
"""Between two moves of a player: that of a quick person."""
OPTIONS = RoomOptions(rules="senior", redeals=2, countdown_seconds=0)
SETTLE_SECONDS = 5.0
LAG_CHECK_SECONDS = 0.02
LAG_LIMIT_SECONDS = 0.1
"""A wait is clear if this process, with all the clients, did not get to run for less than this within it."""


class TimedConnection(Connection):
    """A connection that notes when each move was made."""

    made_at: dict[int, float]

    async def play(self, move: Move) -> None:
        """Note the time under the move's number, and send it."""
        self.made_at[self.model.next_play(move).number] = time.monotonic()
        await super().play(move)


@dataclass
class TimedBot(Bot):
    """A bot that knows how long each of its moves waited for its answer, however often it was sent."""

    waits: list[tuple[float, float]] = field(default_factory=list)
    """For each answered move, when it was made, and the seconds until its answer."""

    def _note(self, update: Update) -> None:
        super()._note(update)
        assert isinstance(self.connection, TimedConnection)
        now, made_at = time.monotonic(), self.connection.made_at
        own = self.connection.model.own
        answered = own.moves if own is not None else 0
        for number in [number for number in made_at if number <= answered]:
            since = made_at.pop(number)
            self.waits.append((since, now - since))


@dataclass
class Replacement:
    """The result of one run: the longest waits before, and during and after the replacement; and what was lost."""

    before: float
    during: float
    net: float
    """The longest wait, without the time in which this process, with all the clients, did not get to run meanwhile.

    A lower bound: an answer that was late within that time is not seen to be.
    """
    clear: list[float]
    """The clear waits, whole: nothing is taken off."""
    over_a_second: int
    lag: float
    """The longest time for which this process did not get to run."""
    seconds: float
    moves: int
    compared: Recovery


def measure_replacement() -> list[Figure]:
    """The longest wait of all moves of all players, for SIGHUP and for `drain --all`; moves lost and doubled."""
    figures = []
    for name, replace_workers in (("sighup", _hang_up), ("drain", _drain)):
        result = asyncio.run(_measure(replace_workers))
        lost, doubled = result.compared.lost, result.compared.doubled
        longest_clear = max(result.clear, default=math.inf)
        figures += [
            Figure(f"{name}_longest_wait_before_s", result.before, "s", "(written down)", holds=True),
            Figure(f"{name}_longest_wait_with_lag_s", result.during, "s", "(written down)", holds=True),
            Figure(f"{name}_longest_wait_s", result.net, "s", "<= 1", holds=result.net <= 1),
            Figure(f"{name}_longest_clear_wait_s", longest_clear, "s", "<= 1", holds=longest_clear <= 1),
            Figure(f"{name}_clear_waits", len(result.clear), "moves", "(written down)", holds=True),
            Figure(f"{name}_waits_over_1_s", result.over_a_second, "moves", "0", holds=not result.over_a_second),
            Figure(f"{name}_clients_lag_s", result.lag, "s", "(written down)", holds=True),
            Figure(f"{name}_replacement_s", result.seconds, "s", "(written down)", holds=True),
            Figure(f"{name}_moves", result.moves, "moves", "(written down)", holds=True),
            Figure(f"{name}_moves_lost", lost, "moves", "0", holds=lost == 0),
            Figure(f"{name}_moves_doubled", doubled, "moves", "0", holds=doubled == 0),
        ]
    return figures


async def _measure(replace_workers: Callable[[int, Path], Awaitable[None]]) -> Replacement:
    async with serving_workers(WORKERS) as (url, supervisor, data_dir):
        return await _race(url, supervisor, data_dir, replace_workers)


async def _race(
    url: str, supervisor: int, folder: Path, replace_workers: Callable[[int, Path], Awaitable[None]]
) -> Replacement:
    bots: list[TimedBot] = []
    playing: list[asyncio.Task[None]] = []
    for number in range(RACES):
        first = _bot(url, Create(options=OPTIONS), 2 * number)
        playing.append(asyncio.create_task(first.race()))
        second = _bot(url, Join(room=await first.connection.entered()), 2 * number + 1)
        playing.append(asyncio.create_task(second.race()))
        bots += [first, second]
    await asyncio.sleep(SETTLE_SECONDS)
    print(f"  {RACES} races of {sum(bool(bot.acknowledged) for bot in bots)} players ...", file=sys.stderr)
    lags: list[tuple[float, float]] = []
    watching = asyncio.create_task(_watch_lag(lags))
    since = time.monotonic()
    await replace_workers(supervisor, folder)
    seconds = time.monotonic() - since
    racing = sum(not task.done() for task in playing)
    print(f"  replaced after {seconds:.1f} s, {racing} players race on ...", file=sys.stderr)
    await asyncio.gather(*playing)
    watching.cancel()
    compared = Recovery()
    for bot in bots:
        bot.verify()
        compare_moves(bot, compared)
    waits = [each for bot in bots for each in bot.waits]
    during = [(made_at, wait) for made_at, wait in waits if made_at + wait >= since]
    lag_within = [_lag_within(lags, made_at, made_at + wait) for made_at, wait in during]
    net = [wait - lag for (_, wait), lag in zip(during, lag_within, strict=True)]
    return Replacement(
        before=max(wait for made_at, wait in waits if made_at + wait < since),
        during=max(wait for _, wait in during),
        net=max(net),
        clear=[wait for (_, wait), lag in zip(during, lag_within, strict=True) if lag < LAG_LIMIT_SECONDS],
        over_a_second=sum(wait > 1 for wait in net),
        lag=max((lag for _, lag in lags), default=0.0),
        seconds=seconds,
        moves=len(waits),
        compared=compared,
    )


def _bot(url: str, entry_request: EntryRequest, seed: int) -> TimedBot:
    connection = TimedConnection(url, Identity(), entry_request)
    connection.made_at = {}
    # One proof takes longer than many moves, and the other clients would wait for it.
    return TimedBot(connection, random.Random(seed), PACE_SECONDS, verifies_at_once=False)


async def _watch_lag(lags: list[tuple[float, float]]) -> None:
    """Note by how much this event loop is late, until cancelled."""
    while True:
        since = time.monotonic()
        await asyncio.sleep(LAG_CHECK_SECONDS)
        lag = time.monotonic() - since - LAG_CHECK_SECONDS
        if lag > LAG_CHECK_SECONDS:
            lags.append((since, lag))


def _lag_within(lags: list[tuple[float, float]], start: float, end: float) -> float:
    """Return how much of this time the event loop was late: since when, and by how many seconds, is in `lags`."""
    spans = ((at + LAG_CHECK_SECONDS, at + LAG_CHECK_SECONDS + lag) for at, lag in lags)
    return sum(max(0.0, min(late_end, end) - max(late_start, start)) for late_start, late_end in spans)


async def _hang_up(supervisor: int, _: Path) -> None:
    """Replace all workers by SIGHUP, and wait until the old ones have ended."""
    old = _workers(supervisor)
    os.kill(supervisor, signal.SIGHUP)

    async def have_ended() -> bool:
        return not _workers(supervisor) & old

    await until(have_ended, "the old workers have ended")


async def _drain(_: int, folder: Path) -> None:
    """Replace all workers by `drain --all`, and wait until the old ones have ended."""
    command = await asyncio.create_subprocess_exec(*SERVER_COMMAND, "drain", "--all", "--data-dir", str(folder))
    if await command.wait():
        raise RuntimeError("drain --all has failed")


def _workers(supervisor: int) -> set[int]:
    children = Path(f"/proc/{supervisor}/task/{supervisor}/children").read_text().split()
    found = set()
    for child in children:
        with suppress(FileNotFoundError, ProcessLookupError):
            if b"FAIREST_REUSE_PORT=" in Path(f"/proc/{child}/environ").read_bytes():
                found.add(int(child))
    return found
