"""The full-screen client on a pseudo-terminal: time from a key to the card on our board, and CPU of an idle race.

The client is a process of its own on a terminal of 120 by 40, the server another one, and a link between them adds
100 ms to every round trip. A key counts as drawn when the client has written the card in its new place to the terminal.
The other player makes no move, so that an idle race screen draws only its clock.

The drawing time is measured in this process: CPU time from a board that differs in most cards to the bytes that a
terminal of 200 by 60 is sent for it.
"""

import asyncio
import fcntl
import os
import pty
import re
import struct
import subprocess
import tempfile
import termios
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import pyte

from benchmarks.figure import Figure, written_down
from benchmarks.screen_drawing import drawing_times_ms
from fairest_protocol.messages.from_client import Join
from tests.support.faulty_link import faulty_link
from tests.support.processes import CLIENT_COMMAND, redis_process, serving_fleet
from tests.support.wire_client import open_client

LATENCY_SECONDS = 0.05
"""One way; a round trip takes 100 ms."""
RACES = 5
IDLE_SECONDS = 30.0
TIMEOUT_SECONDS = 20.0
DECK = 52
SIZE = (120, 40)
"""Columns and lines of the terminal."""
ESCAPE_SEQUENCE = re.compile(rb"\x1b\[[0-9;?<>=]*[a-zA-Z$]|\x1b\][^\x07]*\x07")
NOTICE = re.compile(b"on pile a")
"""The notice of a move onto pile a, which is drawn in the same frame as the pile."""
STOCK = re.compile(r"(\d+) to come")
"""The number of cards in the stock, on the screen: it falls by one with each card that is turned."""


def measure_full_screen() -> list[Figure]:
    """Return the time from a key press to the drawn board, the CPU share of an idle race, and the time to draw."""
    times_ms, share = asyncio.run(_measure())
    drawing_ms = asyncio.run(drawing_times_ms())
    p99, middle, drawn = percentile(times_ms, 0.99), percentile(times_ms, 0.5), percentile(drawing_ms, 0.5)
    return [
        Figure("key_to_board_ms", p99, "ms", "< 50 (p99)", holds=p99 < 50),
        Figure("key_to_board_median_ms", middle, "ms", "(written down)", holds=True),
        Figure("idle_screen_cpu", share * 100, "%", "< 2", holds=share < 0.02),
        Figure("draw_200x60_cpu_ms", drawn, "ms", "<= 16 (median)", holds=drawn <= 16),
        written_down("draw_200x60_cpu_p99_ms", percentile(drawing_ms, 0.99), "ms"),
    ]


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which this share of `values` lies."""
    return sorted(values)[int(len(values) * share)]


class TerminalClient:
    """The client in a process on a pseudo-terminal."""

    def __init__(self, home: Path, *arguments: str) -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", SIZE[1], SIZE[0], 0, 0))
        places = {f"XDG_{name}_HOME": str(home / name) for name in ("DATA", "CONFIG", "STATE")}
        environment = {**os.environ, **places, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
        command = [*CLIENT_COMMAND, *arguments]
        self.process = subprocess.Popen(
            command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, start_new_session=True
        )
        os.close(theirs)
        os.set_blocking(self._ours, False)
        self._written = bytearray()
        self._undrawn = bytearray()
        """The text that was written and is not on `_screen` yet. It is put there only where no time is measured."""
        self._screen = pyte.Screen(*SIZE)
        self._stream = pyte.ByteStream(self._screen)
        self._has_data = asyncio.Event()
        asyncio.get_running_loop().add_reader(self._ours, self._read)

    def _read(self) -> None:
        chunk = os.read(self._ours, 65_536)
        self._written += chunk
        self._undrawn += chunk
        self._has_data.set()

    async def wait_for(self, wanted: re.Pattern[bytes]) -> re.Match[bytes]:
        """Wait until the client has written `wanted` since the last key; return the match. Raises TimeoutError."""
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while True:
                found = wanted.search(ESCAPE_SEQUENCE.sub(b"", bytes(self._written)))
                if found:
                    return found
                self._has_data.clear()
                await self._has_data.wait()

    async def cards_to_come(self, below: int) -> int:
        """Wait until the screen shows a stock of fewer than `below` cards; return their number. Raises TimeoutError."""
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while True:
                self._stream.feed(bytes(self._undrawn))
                self._undrawn.clear()
                found = STOCK.search("\n".join(self._screen.display))
                if found and int(found[1]) < below:
                    return int(found[1])
                self._has_data.clear()
                await self._has_data.wait()

    def type(self, keys: bytes) -> None:
        self._written.clear()
        os.write(self._ours, keys)

    def cpu_seconds(self) -> float:
        """Return the user and system time of the process so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        asyncio.get_running_loop().remove_reader(self._ours)
        self.process.kill()
        self.process.wait()
        os.close(self._ours)


async def _measure() -> tuple[list[float], float]:
    times_ms: list[float] = []
    with redis_process() as redis, tempfile.TemporaryDirectory() as folder:
        async with serving_fleet(redis.url) as fleet:
            url = await fleet.start()
            address = urlsplit(url)
            async with faulty_link((address.hostname or "", address.port or 0)) as link:
                link.latency_seconds = LATENCY_SECONDS
                for number in range(RACES):
                    arguments = ("create", "--server", f"ws://127.0.0.1:{link.port}", "--countdown", "0")
                    with closing(TerminalClient(Path(folder), *arguments, "--limit", "7200")) as client:
                        idle = await _race(url, client, times_ms, is_last=number == RACES - 1)
    return times_ms, idle


async def _race(url: str, client: TerminalClient, times_ms: list[float], *, is_last: bool) -> float:
    """Lay forty cards onto one pile, key by key; before that, in the last race, measure the idle screen."""
    room = (await client.wait_for(re.compile(rb"fairest join ([a-z-]+)")))[1].decode()
    async with open_client(url) as rival:
        await rival.enter(Join(room=room))
        await client.wait_for(re.compile(rb"Press Enter"))
        client.type(b"\r")
        await rival.take_part_in_deal()
        to_come = await client.cards_to_come(below=DECK)
        idle = await _idle(client) if is_last else 0.0
        for _ in range(40):
            since = time.perf_counter()
            client.type(b"a")
            await client.wait_for(NOTICE)
            times_ms.append((time.perf_counter() - since) * 1000)
            to_come = await client.cards_to_come(below=to_come)
    return idle


async def _idle(client: TerminalClient) -> float:
    before, since = client.cpu_seconds(), time.monotonic()
    await asyncio.sleep(IDLE_SECONDS)
    return (client.cpu_seconds() - before) / (time.monotonic() - since)
