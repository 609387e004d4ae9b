"""The CPU of Redis for an append by how many there are a second, of many processes that each send one at a time."""

import random
import select
import socket
import time
from dataclasses import dataclass

import redis as plain_redis

from benchmarks.figure import Figure, written_down
from benchmarks.under_load import cpu_seconds
from fairest_protocol.calculation.moves import REDEAL
from fairest_server.room.events import Played
from fairest_server.store.appends import Append, commands_of, words_of
from fairest_server.store.keys import of_room
from fairest_server.store.redis.batch_connection import pack
from fairest_server.store.redis.scripts import Script
from tests.support.processes import redis_process

SCRIPT = Script("append.lua", head="local publish, count = 'PUBLISH', 'NUMSUB'\n")
"""As `channel_commands` has it for a Redis that is no Cluster."""
CONNECTIONS = 112
"""As many processes as the simulated deployment of a million players has (`benchmarks.deployment`)."""
RATES = (500, 2_500, 6_000, 18_000)
"""Appends a second; then as many as Redis can answer."""
ROOMS = 20
"""Of each process."""
FIRST_SECONDS = 0.5
"""Not measured."""
SECONDS = 2.0
SEED = 1


@dataclass
class _Room:
    """A room and the end of its log."""

    code: str
    length: int = 0
    tag: str = ""


def measure_dense_appends() -> list[Figure]:
    """Return the CPU of Redis for an append at each rate, and at the highest that it reaches."""
    figures = list[Figure]()
    for rate in (*RATES, None):
        per_second, each_us = _measure(rate)
        name = "most" if rate is None else str(rate)
        figures += [
            written_down(f"append_us_at_{name}", each_us, "us"),
            written_down(f"appends_per_second_at_{name}", per_second, "/s"),
        ]
    return figures


def _measure(rate: int | None) -> tuple[float, float]:
    """Append for `SECONDS` at a rate, None for the highest; return the rate that was reached and the CPU of each."""
    chance = random.Random(SEED)
    with redis_process("--appendonly", "yes") as redis, select.epoll() as answered:
        with plain_redis.Redis.from_url(redis.url, protocol=2) as client:
            client.script_load(SCRIPT.text)
        sockets = [_connect(redis.url) for _ in range(CONNECTIONS)]
        by_number = {each.fileno(): each for each in sockets}
        rooms = {
            each: [_Room(f"R{number:03}{room:02}") for room in range(ROOMS)] for number, each in enumerate(sockets)
        }
        for each in sockets:
            answered.register(each, select.EPOLLIN)
        idle, count, busy_seconds = list(sockets), 0, 0.0
        next_at = time.perf_counter()
        begin_at, end_at = next_at + FIRST_SECONDS, next_at + FIRST_SECONDS + SECONDS
        has_begun = False
        while (now := time.perf_counter()) < end_at:
            if not has_begun and now >= begin_at:
                has_begun, count, busy_seconds = True, 0, cpu_seconds(redis.pid)
            if now >= next_at and idle:
                sender = idle.pop(chance.randrange(len(idle)))
                sender.send(_command(chance.choice(rooms[sender]), chance))
                next_at = now if rate is None else next_at + chance.expovariate(rate)
            for number, _ in answered.poll(0):
                reply = by_number[number].recv(4096)
                assert reply.startswith(b"$13"), reply
                idle.append(by_number[number])
                count += 1
        busy_seconds = cpu_seconds(redis.pid) - busy_seconds
        for each in sockets:
            each.close()
    return count / SECONDS, busy_seconds / count * 1e6


def _connect(url: str) -> socket.socket:
    connected = socket.socket(socket.AF_UNIX)
    connected.connect(url.removeprefix("unix://"))
    return connected


def _command(room: _Room, chance: random.Random) -> bytes:
    """Return an append of a move to a room that no other process has open, as a process sends it that is not alone."""
    append = Append(
        room=room.code,
        expected=room.length,
        expected_tag=room.tag,
        tag=f"{chance.getrandbits(32):08x}",
        events=(Played(0, REDEAL),),
        own_subscriptions=1,
    )
    (command,) = commands_of(SCRIPT, [words_of(of_room(room.code), append)], 1)
    room.length, room.tag = room.length + 1, append.tag
    return pack(command)
