"""kill -9 of the processes that serve both players, in the middle of races: how long until both have moved again?

Real workers on one port, real clients with their own reconnection. After each race its record is proved, and every move
that was acknowledged to a player has to stand in it, once, in order.
"""

import asyncio
import os
import random
import signal
import statistics
import sys
import tempfile
import time
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.figure import Figure
from client_cli.bots import choose_greedy
from client_cli.connection import Connection
from client_cli.identity import Identity
from client_cli.verify import verify_record
from protocol.calculation.record import Record, RecordedMove
from protocol.messages.entries import Moved
from protocol.messages.fields import Phase
from protocol.messages.from_client import Create, Join
from protocol.messages.from_server import MatchRecord, View
from protocol.messages.options import RoomOptions

KILLS = 200
WORKERS = 3
BETWEEN_SECONDS = 0.3, 1.0
"""From the moment when all workers are there again to the next kill."""
PACE_SECONDS = 0.05
"""Between two moves of a player."""
OPTIONS = RoomOptions(rules="senior", redeals=2, countdown_seconds=0)


@dataclass
class Player:
    """A bot in a seat, and what was acknowledged to it: when, and which moves of its own."""

    connection: Connection
    chance: random.Random
    has_moved: asyncio.Event = field(default_factory=asyncio.Event)
    acknowledged: list[str] = field(default_factory=list)
    record: Record | None = None

    async def play(self) -> None:
        """Race once, through whatever happens."""
        async with aclosing(self.connection.updates()) as updates:
            async for update in updates:
                self._note(update.message)
                model = update.model
                if isinstance(update.message, MatchRecord):
                    self.record, checks = verify_record("".join(f"{line}\n" for line in update.message.lines))
                    list(checks)
                    return
                if update.message is None or model.scene is None or model.own is None:
                    continue
                if model.phase is Phase.READY and not model.own.entropy_hash:
                    await self.connection.get_ready()
                elif model.phase is Phase.FINISHED:
                    await self.connection.ask_record()
                elif model.may_move and model.board is not None and any(model.board.legal_moves()):
                    await asyncio.sleep(PACE_SECONDS * self.chance.uniform(0.5, 1.5))
                    await self.connection.play(choose_greedy(model.board, self.chance))

    def _note(self, message: object) -> None:
        for entry in message.entries if isinstance(message, View) else ():
            if isinstance(entry, Moved) and entry.seat == self.connection.model.seat:
                self.has_moved.set()
                self.acknowledged.append(entry.move.text)


@dataclass
class Tally:
    """What the kills led to."""

    seconds: list[float] = field(default_factory=list)
    races: int = 0
    lost: int = 0
    doubled: int = 0


def measure_kill_recovery() -> list[Figure]:
    """Median and 99th percentile of the time to both players' next moves; moves lost and doubled."""
    tally = asyncio.run(_measure())
    ordered = sorted(tally.seconds)
    p99 = ordered[max(0, int(len(ordered) * 0.99) - 1)]
    return [
        Figure("kill_recovery_median_s", statistics.median(ordered), "s", "(written down)", holds=True),
        Figure("kill_recovery_s", p99, "s", "<= 1 (p99)", holds=p99 <= 1),
        Figure("kill_recovery_kills", len(ordered), "kills", f">= {KILLS}", holds=len(ordered) >= KILLS),
        Figure("kill_recovery_races", tally.races, "races", "(written down)", holds=True),
        Figure("kill_recovery_moves_lost", tally.lost, "moves", "0", holds=tally.lost == 0),
        Figure("kill_recovery_moves_doubled", tally.doubled, "moves", "0", holds=tally.doubled == 0),
    ]


async def _measure() -> Tally:
    tally, chance = Tally(), random.Random(1)
    async with _serving() as (url, keeper):
        while len(tally.seconds) < KILLS:
            await _race(url, keeper, tally, chance)
            print(f"  {len(tally.seconds)} kills in {tally.races} races ...", file=sys.stderr)
    return tally


@asynccontextmanager
async def _serving() -> AsyncIterator[tuple[str, int]]:
    with tempfile.TemporaryDirectory(prefix="fairest-") as folder:
        command = [sys.executable, "-m", "server", "--workers", str(WORKERS), "--port", "0", "--data-dir", folder]
        keeper = await asyncio.create_subprocess_exec(*command, stdout=PIPE, stderr=DEVNULL)
        assert keeper.stdout is not None
        url = (await keeper.stdout.readline()).decode().strip()
        try:
            yield url, keeper.pid
        finally:
            keeper.terminate()
            await keeper.wait()


async def _race(url: str, keeper: int, tally: Tally, chance: random.Random) -> None:
    first = Player(Connection(url, Identity(), Create(options=OPTIONS)), random.Random(chance.random()))
    hosting = asyncio.create_task(first.play())
    joins = Join(room=await first.connection.entered())
    second = Player(Connection(url, Identity(), joins), random.Random(chance.random()))
    playing = [hosting, asyncio.create_task(second.play())]
    while not any(task.done() for task in playing):
        await asyncio.wait(playing, timeout=chance.uniform(*BETWEEN_SECONDS), return_when=asyncio.FIRST_COMPLETED)
        if len(_workers(keeper)) == WORKERS and _both_race(first, second) and len(tally.seconds) < KILLS:
            await _kill(keeper, (first, second), playing, tally)
    await asyncio.gather(*playing)
    tally.races += 1
    for player in (first, second):
        _compare(player, tally)


def _both_race(*players: Player) -> bool:
    """Whether both have moved and have moves left for long enough."""
    return all(
        player.acknowledged
        and player.connection.model.own is not None
        and not player.connection.model.own.has_stopped
        and player.connection.model.board is not None
        and player.connection.model.board.stock > 10
        for player in players
    )


async def _kill(keeper: int, players: tuple[Player, Player], playing: list[asyncio.Task[None]], tally: Tally) -> None:
    """Kill every worker that serves one of them, and wait for both to move."""
    victims = {pid for player in players if (pid := _server_of(player, _workers(keeper)))}
    if not victims or len(victims) == WORKERS:
        return
    for victim in victims:
        os.kill(victim, signal.SIGKILL)
    since = time.monotonic()
    for player in players:
        player.has_moved.clear()
    moving = asyncio.create_task(_both_moved(players))
    await asyncio.wait((moving, *playing), timeout=30, return_when=asyncio.FIRST_COMPLETED)
    if not moving.done():
        for task in playing:
            if task.done():
                task.result()
        raise TimeoutError(f"no move after a kill: {[player.connection.model for player in players]}")
    tally.seconds.append(time.monotonic() - since)


async def _both_moved(players: tuple[Player, Player]) -> None:
    await asyncio.gather(*(player.has_moved.wait() for player in players))


def _compare(player: Player, tally: Tally) -> None:
    """What was acknowledged stands in the record, once and in this order."""
    assert player.record is not None
    seat = player.connection.model.seat
    (played,) = player.record.rounds
    moves = [each.move.text for each in played.events if isinstance(each, RecordedMove) and each.seat == seat]
    # A snapshot in place of a view acknowledges without naming each move: what was heard is a part, in order.
    remaining = iter(moves)
    tally.lost += sum(move not in remaining for move in player.acknowledged)
    tally.doubled += max(0, len(player.acknowledged) - len(moves))


def _workers(keeper: int) -> list[int]:
    children = Path(f"/proc/{keeper}/task/{keeper}/children").read_text().split()
    return [int(child) for child in children if "--reuse-port" in Path(f"/proc/{child}/cmdline").read_text()]


def _server_of(player: Player, workers: list[int]) -> int | None:
    """The worker at the other end of a player's connection, by the kernel's tables."""
    ours = player.connection.local_port
    if ours is None:
        return None
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    inodes = {row[9] for row in rows if int(row[2].split(":")[1], 16) == ours}
    for worker in workers:
        with suppress(FileNotFoundError, PermissionError):
            for link in Path(f"/proc/{worker}/fd").iterdir():
                with suppress(FileNotFoundError):
                    if any(str(link.readlink()) == f"socket:[{inode}]" for inode in inodes):
                        return worker
    return None
