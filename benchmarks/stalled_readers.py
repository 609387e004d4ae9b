"""The cost of spectators and a player that never read: latency for the other players, and memory.

Rooms race on one server process, with and without stalled readers in turn. The stalled player sends moves that are
refused and reads no answer. It is cut off when it misses a heartbeat, here of 0.2 seconds, and reconnects at once.
"""

import asyncio
import contextlib
import random
import statistics
import sys
import time
from contextlib import AsyncExitStack
from pathlib import Path

from benchmarks.figure import Figure
from fairest_cli.bots.policies import choose_greedy
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_client import Play, Resume, Watch
from tests.support.processes import redis_process, serving_fleet
from tests.support.stalled import StalledClient, stalled_client
from tests.support.wire_client import WireClient, racing_players

REPEATS = 5
ROOMS = 10
STALLED_SPECTATORS = 20
PACE_SECONDS = 0.02, 0.06
FLOOD_PACE_SECONDS = 0.001


def measure_stalled_readers() -> list[Figure]:
    """The 99th percentile of a move's latency with stalled readers over without; the growth of the server's memory."""
    without, beside, growth_kib, cuts = asyncio.run(_measure())
    p99_without, p99_beside = _p99(without), _p99(beside)
    ratio = p99_beside / p99_without
    holds = ratio <= 1.5 or p99_beside <= p99_without + 2
    return [
        Figure("stalled_readers_p99_ratio", ratio, "", "<= 1.5, or + 2 ms", holds=holds),
        Figure("stalled_readers_p99_ms_without", p99_without, "ms", "(written down)", holds=True),
        Figure("stalled_readers_p99_ms_beside", p99_beside, "ms", "(written down)", holds=True),
        Figure("stalled_readers_median_ms_without", statistics.median(without), "ms", "(written down)", holds=True),
        Figure("stalled_readers_median_ms_beside", statistics.median(beside), "ms", "(written down)", holds=True),
        Figure("stalled_readers_growth_kib", growth_kib, "KiB", "<= 16384", holds=growth_kib <= 16_384),
        Figure("stalled_readers_cuts", cuts, "times", "(written down)", holds=True),
    ]


def _p99(values: list[float]) -> float:
    return sorted(values)[int(len(values) * 0.99)]


async def _measure() -> tuple[list[float], list[float], int, int]:
    without: list[float] = []
    beside: list[float] = []
    cuts = 0
    with redis_process() as redis:
        async with serving_fleet(redis.url) as fleet:
            url = await fleet.start("--heartbeat-seconds", "0.2")
            status = Path(f"/proc/{fleet.processes[url].pid}/status")
            await _race_rooms(url, [])
            before_kib = _resident_kib(status)
            for _ in range(REPEATS):
                await _race_rooms(url, without)
                cuts += await _race_beside_stalled(url, beside)
                print(f"  {len(without)} and {len(beside)} moves ...", file=sys.stderr)
            return without, beside, _resident_kib(status) - before_kib, cuts


def _resident_kib(status: Path) -> int:
    return int(status.read_text().split("VmRSS:")[1].split()[0])


async def _race_rooms(url: str, latencies_ms: list[float], stalled_spectators: int = 0) -> None:
    async with AsyncExitStack() as stack:
        rooms = [await stack.enter_async_context(racing_players(url)) for _ in range(ROOMS)]
        for number in range(stalled_spectators):
            spectator = await stack.enter_async_context(stalled_client(url))
            await spectator.send(Watch(room=rooms[number % ROOMS][0].room))
        players = [player for room in rooms for player in room]
        await asyncio.gather(*(_race(player, latencies_ms) for player in players))


async def _race(player: WireClient, latencies_ms: list[float]) -> None:
    chance = random.Random(player.seat)
    assert player.seat is not None
    while player.scene is not None and player.scene.phase is Phase.RACING:
        own = player.scene.seats[player.seat]
        if own.has_stopped or own.board is None or not any(own.board.legal_moves()):
            await player.receive()
            continue
        await asyncio.sleep(chance.uniform(*PACE_SECONDS))
        since = time.perf_counter()
        await player.play(choose_greedy(own.board, chance).text)
        latencies_ms.append((time.perf_counter() - since) * 1000)


async def _race_beside_stalled(url: str, latencies_ms: list[float]) -> int:
    """Race while a player in another room floods the server and never reads; return how often it was cut off."""
    cuts = 0
    async with racing_players(url) as (first, _):

        async def reconnect_for_ever() -> None:
            nonlocal cuts
            while True:
                async with stalled_client(url, first.token) as silent:
                    await silent.send(Resume(room=first.room, position=0))
                    with contextlib.suppress(OSError):
                        await _flood(silent)
                cuts += 1

        flooding = asyncio.create_task(reconnect_for_ever())
        await _race_rooms(url, latencies_ms, STALLED_SPECTATORS)
        flooding.cancel()
        await asyncio.gather(flooding, return_exceptions=True)
    return cuts


async def _flood(silent: StalledClient) -> None:
    while True:
        await silent.send(Play(number=9_999, move=MOVES["sa"]))
        await asyncio.sleep(FLOOD_PACE_SECONDS)
