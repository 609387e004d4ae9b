"""A quarter of an hour of rooms, cut connections and kills, after which every resource must be back where it was.

Bots race in rooms that live for a few seconds. A worker is killed now and then, connections are cut all the time. When
no client is left, memory, tasks, file descriptors and keys of Redis are compared with those after the first minute.
"""

import asyncio
import contextlib
import os
import random
import re
import signal
import sys
import tempfile
import time
import urllib.request
from asyncio.subprocess import DEVNULL, PIPE
from collections import Counter
from pathlib import Path

from redis.asyncio import Redis

from benchmarks.figure import Figure
from fairest_protocol.messages.options import RoomOptions
from tests.support.bots import Match, start_match
from tests.support.ports import free_port
from tests.support.processes import SERVER_COMMAND, redis_process

SECONDS = float(os.environ.get("SOAK_SECONDS", "900"))
WORKERS = 2
RACES_AT_ONCE = 8
PACE_SECONDS = 0.02
BETWEEN_CUTS_SECONDS = 0.5
BETWEEN_KILLS_SECONDS = 60.0
CLOSED_ROOM_SECONDS = 5
QUIET_SECONDS = 45.0
"""Longer than the grace period, the idle time of an empty room and the lifetime of a closed room's log together."""
OPTIONS = RoomOptions(countdown_seconds=0, grace_seconds=5, idle_seconds=5, listed=True)
LASTING = re.compile(
    r"fairest:(record|player|name|opened):.*|fairest:key|fairest:\{processes\}:(alive|beat|pauses)"
    r"|fairest:\{rounds\}:(chain|writer)|fairest:\{\d+\}:rounds"
)
"""Keys that Redis may hold when no client is connected."""


class Soak:
    """The server under test and the counts of what was done to it."""

    def __init__(self, supervisor: int, redis_url: str, admin_port: int) -> None:
        self.supervisor = supervisor
        self.redis_url = redis_url
        self.admin_port = admin_port
        self.races = 0
        self.cuts = 0
        self.kills = 0
        self.live: set[Match] = set()

    def workers(self) -> list[int]:
        children = Path(f"/proc/{self.supervisor}/task/{self.supervisor}/children").read_text()
        return [int(child) for child in children.split()]

    async def measure(self) -> Counter[str]:
        """Return memory in KiB, descriptors, tasks and rooms of all workers, and how many keys should be gone.

        Connections to Redis are counted separately.
        """
        sizes: Counter[str] = Counter()
        for worker in self.workers():
            sizes["kib"] += int(Path(f"/proc/{worker}/status").read_text().split("VmRSS:")[1].split()[0])
            sizes["descriptors"] += len(list(Path(f"/proc/{worker}/fd").iterdir()))
        for place in range(WORKERS + 1):
            with contextlib.suppress(OSError):
                url = f"http://127.0.0.1:{self.admin_port + place}/metrics"
                text = (await asyncio.to_thread(urllib.request.urlopen, url)).read().decode()
                for name in ("rooms", "connections", "tasks"):
                    sizes[name] += int(float(re.search(rf"^fairest_{name} (\S+)", text, re.MULTILINE)[1]))  # type: ignore[index]
                sizes["faults"] += sum(
                    int(float(n)) for n in re.findall(r"^fairest_faults_total\S* (\S+)", text, re.MULTILINE)
                )
        async with Redis.from_url(self.redis_url, protocol=2) as redis:
            # Each worker keeps as many connections to Redis as it once needed at a time, 16 at most: not a leak.
            sizes["to_redis"] = len(await redis.client_list()) - 1
            sizes["descriptors"] -= sizes["to_redis"]
            async for key in redis.scan_iter(count=1000):
                if not LASTING.fullmatch(key.decode()):
                    sizes["keys"] += 1
                    print(f"  left: {key.decode()}", file=sys.stderr) if not self.live else None
        return sizes


def measure_soak() -> list[Figure]:
    """Every resource at the end beside its value after the first minute, both times without clients."""
    soak, before, after = asyncio.run(_measure())
    growth = (after["kib"] - before["kib"]) / max(1, WORKERS)
    return [
        Figure("soak_races", soak.races, "races", "(written down)", holds=True),
        Figure("soak_cuts", soak.cuts, "cuts", "(written down)", holds=True),
        Figure("soak_kills", soak.kills, "kills", "(written down)", holds=True),
        Figure("soak_kib_before", before["kib"] / WORKERS, "KiB", "(a worker)", holds=True),
        Figure("soak_growth_kib", growth, "KiB", "<= 8192 (a worker)", holds=growth <= 8_192),
        Figure("soak_rooms_left", after["rooms"], "rooms", "0", holds=after["rooms"] == 0),
        Figure("soak_connections_left", after["connections"], "", "0", holds=after["connections"] == 0),
        Figure(
            "soak_tasks_more", after["tasks"] - before["tasks"], "", "<= 0", holds=after["tasks"] <= before["tasks"]
        ),
        Figure(
            "soak_descriptors_more",
            after["descriptors"] - before["descriptors"],
            "",
            "<= 4",
            holds=after["descriptors"] <= before["descriptors"] + 4,
        ),
        Figure("soak_keys_left", after["keys"], "keys", "0", holds=after["keys"] == 0),
        Figure("soak_faults", after["faults"], "", "0", holds=after["faults"] == 0),
    ]


async def _measure() -> tuple[Soak, Counter[str], Counter[str]]:
    # Worker N listens on the port `admin_port` + N, so a few ports behind it must be free as well.
    admin_port = free_port()
    with redis_process("--appendonly", "yes") as redis, tempfile.TemporaryDirectory() as folder:
        command = [*SERVER_COMMAND, "--port", "0", "--workers", str(WORKERS), "--redis-url", redis.url]
        command += ["--admin-port", str(admin_port), "--closed-room-seconds", str(CLOSED_ROOM_SECONDS)]
        command += ["--players-per-address", "1000000", "--data-dir", folder]
        command += ["--rooms-per-address", "1000000", "--rounds-per-address", "1000000"]
        supervisor = await asyncio.create_subprocess_exec(*command, stdout=PIPE, stderr=DEVNULL)
        assert supervisor.stdout is not None
        url = (await supervisor.stdout.readline()).decode().strip()
        soak = Soak(supervisor.pid, redis.url, admin_port)
        await _storm(soak, url, min(60.0, SECONDS / 4))
        await asyncio.sleep(QUIET_SECONDS)
        before = await soak.measure()
        print(f"  before: {dict(before)}", file=sys.stderr)
        await _storm(soak, url, SECONDS)
        await asyncio.sleep(QUIET_SECONDS)
        after = await soak.measure()
        print(f"  after: {dict(after)}", file=sys.stderr)
        supervisor.terminate()
        await supervisor.wait()
    return soak, before, after


async def _storm(soak: Soak, url: str, seconds: float) -> None:
    until = time.monotonic() + seconds
    async with asyncio.TaskGroup() as tasks:
        faults = [tasks.create_task(_cut(soak)), tasks.create_task(_kill(soak))]
        playing = [tasks.create_task(_play(soak, url, number, until)) for number in range(RACES_AT_ONCE)]
        await asyncio.wait(playing)
        for fault in faults:
            fault.cancel()


async def _play(soak: Soak, url: str, seed: int, until: float) -> None:
    while time.monotonic() < until:
        seed += RACES_AT_ONCE
        match = await start_match((url,), OPTIONS, seed, PACE_SECONDS, spectators=1)
        soak.live.add(match)
        await match.end()
        soak.live.discard(match)
        soak.races += 1
        if soak.races % 100 == 0:
            print(f"  {soak.races} races, {soak.cuts} cuts, {soak.kills} kills ...", file=sys.stderr)


async def _cut(soak: Soak) -> None:
    chance = random.Random(1)
    while True:
        await asyncio.sleep(BETWEEN_CUTS_SECONDS)
        if soak.live:
            match = chance.choice(list(soak.live))
            chance.choice([*match.players, *match.spectators]).connection.cut()
            soak.cuts += 1


async def _kill(soak: Soak) -> None:
    """Kill the youngest worker at intervals, so that the memory of the oldest one is measured over the whole time."""
    while True:
        await asyncio.sleep(BETWEEN_KILLS_SECONDS)
        os.kill(max(soak.workers()), signal.SIGKILL)
        soak.kills += 1
