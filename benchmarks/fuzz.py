"""A million hostile frames for the codec, and 20,000 for a server beside a race: nothing may break.

The server's log may not hold a traceback, its memory and its file descriptors may not grow, and the race beside the
attack must end with a right history.
"""

import asyncio
import contextlib
import random
import sys
import time
from asyncio.subprocess import PIPE
from pathlib import Path

from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

from benchmarks.figure import Figure
from fairest_protocol.messages.codec import ProtocolViolation, decode_from_client, encode
from fairest_protocol.messages.from_client import Hello
from fairest_server.store.log import Log
from fairest_server.store.redis.clients import make_client
from tests.support.bots import start_match
from tests.support.history import check_history
from tests.support.hostile import make_frame
from tests.support.processes import SERVER_COMMAND, redis_process
from tests.support.wire_client import QUICK

CODEC_FRAMES = 1_000_000
SERVER_FRAMES = 20_000
AT_ONCE = 20
PACE_SECONDS = 0.3


def measure_fuzz() -> list[Figure]:
    """The frames that were neither understood nor refused, and the growth of the server."""
    wrong, understood, seconds = _fuzz_codec()
    figures = [
        Figure("fuzz_codec_frames", CODEC_FRAMES, "frames", f"{CODEC_FRAMES}", holds=True),
        Figure("fuzz_codec_wrong", wrong, "frames", "0", holds=wrong == 0),
        Figure("fuzz_codec_understood", understood, "frames", "(written down)", holds=True),
        Figure("fuzz_codec_us", seconds * 1e6 / CODEC_FRAMES, "us", "(a frame, made and read)", holds=True),
    ]
    return figures + asyncio.run(_fuzz_server())


def _fuzz_codec() -> tuple[int, int, float]:
    chance, wrong, understood, since = random.Random(1), 0, 0, time.monotonic()
    for _ in range(CODEC_FRAMES):
        frame = make_frame(chance)
        try:
            decode_from_client(frame)
            understood += 1
        except ProtocolViolation:
            pass
        except Exception as reason:
            wrong += 1
            print(f"  {frame!r}: {reason!r}", file=sys.stderr)
    return wrong, understood, time.monotonic() - since


async def _fuzz_server() -> list[Figure]:
    with redis_process() as redis:
        command = [*SERVER_COMMAND, "--port", "0", "--admin-port", "0", "--redis-url", redis.url]
        limits = ["--connections-per-address", "1000", "--players-per-address", "1000000"]
        limits += ["--rooms-per-address", "1000000", "--rounds-per-address", "1000000"]
        limits += ["--misses-per-address", "1000000"]
        process = await asyncio.create_subprocess_exec(*command, *limits, stdout=PIPE, stderr=PIPE)
        assert process.stdout is not None and process.stderr is not None
        url = (await process.stdout.readline()).decode().strip()
        log: list[bytes] = []
        reading = asyncio.create_task(_collect(process.stderr, log))
        chance = random.Random(2)
        match = await start_match((url,), QUICK, 1, PACE_SECONDS, spectators=2)
        half = SERVER_FRAMES // AT_ONCE // 2
        await asyncio.gather(*(_attack(url, chance, half) for _ in range(AT_ONCE)))
        # The first half brings the server to the memory that it needs; growth after that would go on for ever.
        before = _measure_process(process.pid)
        await asyncio.gather(*(_attack(url, chance, half) for _ in range(AT_ONCE)))
        growth = [after - old for after, old in zip(_measure_process(process.pid), before, strict=True)]
        await match.end()
        async with make_client(redis.url) as client:
            problems = check_history(match.room, await Log(client).read(match.room), match.transcripts)
        process.terminate()
        await process.wait()
        await reading
    tracebacks = sum(b"Traceback" in line or b"fault" in line for line in log)
    return [
        Figure("fuzz_server_frames", SERVER_FRAMES, "frames", f"{SERVER_FRAMES}", holds=True),
        Figure("fuzz_server_faults", tracebacks, "lines", "0", holds=tracebacks == 0),
        Figure("fuzz_server_exit_code", process.returncode or 0, "", "0", holds=process.returncode == 0),
        Figure("fuzz_server_race_problems", len(problems), "problems", "0", holds=not problems),
        Figure("fuzz_server_growth_kib", growth[0], "KiB", "<= 2048", holds=growth[0] <= 2_048),
        Figure("fuzz_server_descriptors", growth[1], "more", "<= 10", holds=growth[1] <= 10),
    ]


async def _collect(stream: asyncio.StreamReader, lines: list[bytes]) -> None:
    lines.extend([line async for line in stream])


def _measure_process(pid: int) -> tuple[int, int]:
    """Resident memory in KiB, and open file descriptors."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]), len(list(Path(f"/proc/{pid}/fd").iterdir()))


async def _attack(url: str, chance: random.Random, frames: int) -> None:
    """Send hostile frames, most of them after a proper hello, on a new connection whenever the server closes one."""
    sent = 0
    while sent < frames:
        with contextlib.suppress(WebSocketException, OSError):
            async with connect(url, proxy=None, compression=None, close_timeout=1) as socket:
                if chance.random() < 0.8:
                    await socket.send(encode(Hello()).decode())
                    await socket.recv()
                while sent < frames:
                    sent += 1
                    frame = make_frame(chance)
                    await socket.send(frame, text=chance.random() < 0.95)
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout(0.05):
                            await socket.recv()
