"""The full-screen client on a pseudo-terminal: time from a key to the card on our board, and CPU of an idle race.

The client is a process of its own on a terminal of 120 by 40, the server another one, and a link between them adds
100 ms to every round trip. A key counts as drawn when the client has written the card in its new place to the terminal.
The other player makes no move, so that an idle race screen draws only its clock.
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
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.figure import Figure
from fairest_protocol.messages.from_client import Join
from tests.support.faulty_link import faulty_link
from tests.support.processes import CLIENT_COMMAND, redis_process, serving_fleet
from tests.support.wire_client import open_client

LATENCY_SECONDS = 0.05
"""One way; a round trip takes 100 ms."""
RACES = 5
IDLE_SECONDS = 30.0
TIMEOUT_SECONDS = 20.0
ESCAPE_SEQUENCE = re.compile(rb"\x1b\[[0-9;?<>=]*[a-zA-Z$]|\x1b\][^\x07]*\x07")
NOTICE = re.compile(b"on pile a")
TURNED = re.compile(rb"\d+ to come")
"""The number of cards in the stock, which is written again with each card that is turned."""
NEXT = re.compile(NOTICE.pattern + rb".*" + TURNED.pattern, re.DOTALL)
"""The next card is turned: its number comes in a later frame than the notice, which stands at the end of its own."""


def measure_full_screen() -> list[Figure]:
    """Milliseconds from a key press to the drawn board, and the share of a core that an idle race screen takes."""
    times_ms, share = asyncio.run(_measure())
    ordered = sorted(times_ms)
    p99, middle = ordered[int(len(ordered) * 0.99)], ordered[len(ordered) // 2]
    return [
        Figure("key_to_board_ms", p99, "ms", "< 50 (p99)", holds=p99 < 50),
        Figure("key_to_board_median_ms", middle, "ms", "(written down)", holds=True),
        Figure("idle_screen_cpu", share * 100, "%", "< 2", holds=share < 0.02),
    ]


class TerminalClient:
    """The client in a process on a pseudo-terminal."""

    def __init__(self, home: Path, *arguments: str) -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        places = {f"XDG_{name}_HOME": str(home / name) for name in ("DATA", "CONFIG", "STATE")}
        environment = {**os.environ, **places, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
        command = [*CLIENT_COMMAND, *arguments]
        self.process = subprocess.Popen(
            command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, start_new_session=True
        )
        os.close(theirs)
        os.set_blocking(self._ours, False)
        self._written = bytearray()
        self._has_data = asyncio.Event()
        asyncio.get_running_loop().add_reader(self._ours, self._read)

    def _read(self) -> None:
        self._written += os.read(self._ours, 65_536)
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
        await client.wait_for(TURNED)
        idle = await _idle(client) if is_last else 0.0
        for _ in range(40):
            # The notice names the card on its pile, and is drawn in the same frame as the pile.
            since = time.perf_counter()
            client.type(b"a")
            await client.wait_for(NOTICE)
            times_ms.append((time.perf_counter() - since) * 1000)
            await client.wait_for(NEXT)
    return idle


async def _idle(client: TerminalClient) -> float:
    before, since = client.cpu_seconds(), time.monotonic()
    await asyncio.sleep(IDLE_SECONDS)
    return (client.cpu_seconds() - before) / (time.monotonic() - since)
