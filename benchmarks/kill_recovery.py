"""The time until both players move again after kill -9 of the processes that serve them, in the middle of races.

Real workers on one port, real clients with their own reconnection. After each race its record is verified, and every
acknowledged move of a player must stand in it once, in order.
"""

import asyncio
import os
import random
import signal
import statistics
import sys
import time
from collections.abc import Set
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.figure import Figure
from benchmarks.under_load import serving_workers
from fairest_protocol.calculation.record import RecordedMove
from fairest_protocol.messages.options import RoomOptions
from tests.support.bots import Bot, Match, start_match

KILLS = 200
WORKERS = 3
BETWEEN_SECONDS = 0.3, 1.0
"""From the moment at which all workers run again to the next kill."""
PACE_SECONDS = 0.05
"""Between two moves of a player."""
LISTENING = "0A"
"""The state of a listening socket in the kernel's table."""
OPTIONS = RoomOptions(rules="senior", redeals=2, countdown_seconds=0)


@dataclass
class Recovery:
    """The results of the kills."""

    seconds: list[float] = field(default_factory=list)
    races: int = 0
    lost: int = 0
    doubled: int = 0


def measure_kill_recovery() -> list[Figure]:
    """Median and 99th percentile of the time to both players' next moves; moves lost and doubled."""
    recovery = asyncio.run(_measure())
    ordered = sorted(recovery.seconds)
    p99 = ordered[max(0, int(len(ordered) * 0.99) - 1)]
    return [
        Figure("kill_recovery_median_s", statistics.median(ordered), "s", "(written down)", holds=True),
        Figure("kill_recovery_s", p99, "s", "<= 1 (p99)", holds=p99 <= 1),
        Figure("kill_recovery_kills", len(ordered), "kills", f">= {KILLS}", holds=len(ordered) >= KILLS),
        Figure("kill_recovery_races", recovery.races, "races", "(written down)", holds=True),
        Figure("kill_recovery_moves_lost", recovery.lost, "moves", "0", holds=recovery.lost == 0),
        Figure("kill_recovery_moves_doubled", recovery.doubled, "moves", "0", holds=recovery.doubled == 0),
    ]


async def _measure() -> Recovery:
    recovery, chance = Recovery(), random.Random(1)
    async with serving_workers(WORKERS) as (url, supervisor, _):
        while len(recovery.seconds) < KILLS:
            await _race(url, supervisor, recovery, chance)
            print(f"  {len(recovery.seconds)} kills in {recovery.races} races ...", file=sys.stderr)
    return recovery


async def _race(url: str, supervisor: int, recovery: Recovery, chance: random.Random) -> None:
    match = await start_match((url,), OPTIONS, chance.randrange(2**32), PACE_SECONDS, spectators=0)
    while not match.playing.done():
        await asyncio.wait([match.playing], timeout=chance.uniform(*BETWEEN_SECONDS))
        if len(_workers(supervisor)) == WORKERS and _both_race(*match.players) and len(recovery.seconds) < KILLS:
            await _kill(supervisor, match, recovery)
    await match.end()
    recovery.races += 1
    for player in match.players:
        compare_moves(player, recovery)


def _both_race(*players: Bot) -> bool:
    """Whether both players have moved and have enough moves left."""
    return all(
        player.acknowledged
        and player.connection.model.own is not None
        and not player.connection.model.own.has_stopped
        and player.connection.model.board is not None
        and player.connection.model.board.stock > 10
        for player in players
    )


async def _kill(supervisor: int, match: Match, recovery: Recovery) -> None:
    """Kill every worker that serves one of the players, and wait until both have moved. Raises TimeoutError."""
    victims = {pid for player in match.players if (pid := _find_worker(player, _workers(supervisor)))}
    if not victims or len(victims) == WORKERS:
        return
    for victim in victims:
        os.kill(victim, signal.SIGKILL)
    since = time.monotonic()
    for player in match.players:
        player.has_moved.clear()
    moving = asyncio.create_task(_both_moved(match.players))
    await asyncio.wait((moving, match.playing), timeout=30, return_when=asyncio.FIRST_COMPLETED)
    if not moving.done():
        if match.playing.done():
            # The other player won before this one had moved again: there is nothing to measure.
            match.playing.result()
            return
        raise TimeoutError(f"no move after a kill: {[player.connection.model for player in match.players]}")
    recovery.seconds.append(time.monotonic() - since)


async def _both_moved(players: tuple[Bot, Bot]) -> None:
    await asyncio.gather(*(player.has_moved.wait() for player in players))


def compare_moves(player: Bot, recovery: Recovery) -> None:
    """Count acknowledged moves that the record lacks, or has twice."""
    assert player.record is not None
    seat = player.connection.model.seat
    (played,) = player.record.rounds
    moves = [each.move.text for each in played.events if isinstance(each, RecordedMove) and each.seat == seat]
    # A snapshot in the place of a view does not name each move, so the acknowledged moves are a part of all, in order.
    remaining = iter(moves)
    recovery.lost += sum(move not in remaining for move in player.acknowledged)
    recovery.doubled += max(0, len(player.acknowledged) - len(moves))


def _workers(supervisor: int) -> list[int]:
    """Return the workers that accept connections. One that was started just now needs a second until it does."""
    children = Path(f"/proc/{supervisor}/task/{supervisor}/children").read_text().split()
    workers = [
        int(child) for child in children if b"FAIREST_REUSE_PORT=" in Path(f"/proc/{child}/environ").read_bytes()
    ]
    listening = {row[9] for row in _tcp_sockets() if row[3] == LISTENING}
    return [worker for worker in workers if _has_one_of(worker, listening)]


def _find_worker(player: Bot, workers: list[int]) -> int | None:
    """Return the worker at the other end of a player's connection, by the kernel's tables; None if there is none."""
    ours = player.connection.local_port
    if ours is None:
        return None
    inodes = {row[9] for row in _tcp_sockets() if int(row[2].split(":")[1], 16) == ours}
    return next((worker for worker in workers if _has_one_of(worker, inodes)), None)


def _tcp_sockets() -> list[list[str]]:
    """Return the columns of the kernel's table of TCP sockets."""
    return [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]


def _has_one_of(process: int, inodes: Set[str]) -> bool:
    """Return whether a process has a socket with one of these inodes open."""
    with suppress(FileNotFoundError, PermissionError):
        for link in Path(f"/proc/{process}/fd").iterdir():
            with suppress(FileNotFoundError):
                if str(link.readlink()).removeprefix("socket:[").removesuffix("]") in inodes:
                    return True
    return False
