"""A process that loads a server: pairs of players that race, or clients of an echo, each with one message under way.

Started by `benchmarks.move_cost`. It prints "ready" when everybody may begin, begins when it reads a line, and prints
what it measured as JSON.
"""

import argparse
import asyncio
import json
import random
import sys
import time
from dataclasses import dataclass
from typing import Any

import uvloop

from benchmarks.wire import Wire, frame
from protocol.calculation.seal import commit_entropy

MOVES = 48
"""Every card of the stock to the first pile: legal in every deal of classic, and the most that a player does alike."""
DIALLING = 50
"""So many connect at once: a server's backlog has a limit."""


@dataclass(frozen=True)
class Load:
    """What to do: `pace_seconds` is the longest time that somebody thinks, a third of it the shortest; 0 for none."""

    port: int
    rooms: int
    pace_seconds: float
    moves: int


class Mover:
    """Somebody who sends the next message when the last one was answered."""

    def __init__(self, load: Load, chance: random.Random) -> None:
        self.load = load
        self.chance = chance
        self.seconds: list[float] = []
        self.is_done = asyncio.get_running_loop().create_future()
        self.is_ready = asyncio.get_running_loop().create_future()
        self._number = 0
        self._sent_at = 0.0
        self.wire = Wire(self.opened, self.heard)

    async def dial(self) -> None:
        """Connect to the server."""
        await asyncio.get_running_loop().create_connection(lambda: self.wire, "127.0.0.1", self.load.port)

    def opened(self) -> None:
        """The handshake is done."""

    def heard(self, payload: bytes) -> None:
        """A text frame came."""

    def words(self) -> list[bytes]:
        """What is said, as frames."""
        return []

    def begin(self) -> None:
        """Say the first of the words, some time within a first pause."""
        self._frames = self.words()
        asyncio.get_running_loop().call_later(self.chance.uniform(0, self.load.pace_seconds), self._say)

    def answered(self) -> None:
        """The last word was answered."""
        self.seconds.append(time.perf_counter() - self._sent_at)
        self._number += 1
        if self._number >= self.load.moves:
            if not self.is_done.done():
                self.is_done.set_result(None)
        elif self.load.pace_seconds:
            pause = self.chance.uniform(self.load.pace_seconds / 3, self.load.pace_seconds)
            asyncio.get_running_loop().call_later(pause, self._say)
        else:
            self._say()

    def _say(self) -> None:
        self._sent_at = time.perf_counter()
        self.wire.send_frame(self._frames[self._number])


def _play(number: int) -> bytes:
    return b'{"type":"play","number":%d,"move":"sa"}' % number


class Echoed(Mover):
    """A client of an echo, or of a relay: what comes back is an answer if it is our own."""

    def opened(self) -> None:
        """Nothing has to be said before."""
        self.is_ready.set_result(None)

    def heard(self, payload: bytes) -> None:
        """Ours comes back; a notice of somebody else's message says so."""
        if not payload.startswith(b"!"):
            self.answered()

    def words(self) -> list[bytes]:
        """The same text as a move, so that the frames have the same size."""
        return [frame(_play(number + 1)) for number in range(self.load.moves)]


class Racer(Mover):
    """A player. The first of a pair creates a room, and `room` is its code; the second one joins it."""

    def __init__(self, load: Load, chance: random.Random, other: "Racer | None") -> None:
        super().__init__(load, chance)
        self.room: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._other = other
        self._seat = 0 if other is None else 1
        self._mine = b'"moved","seat":%d' % self._seat
        self._round = ""
        self._entropy = chance.randbytes(32)
        self._ready: set[int] = set()
        self._is_racing = False

    def opened(self) -> None:
        """Say hello."""
        self._tell(type="hello")

    def words(self) -> list[bytes]:
        """Every card to the first pile."""
        return [frame(_play(number + 1)) for number in range(self.load.moves)]

    def heard(self, payload: bytes) -> None:
        """In a race, only our own moves matter."""
        if self._is_racing:
            if self._mine in payload:
                self.answered()
            assert not payload.startswith((b'{"type":"refused"', b'{"type":"error"')), payload
            return
        message = json.loads(payload)
        match message["type"]:
            case "welcome" if self._other:
                self._other.room.add_done_callback(lambda room: self._tell(type="join", room=room.result()))
            case "welcome":
                self._tell(type="create", options={"countdown_seconds": 0})
            case "snapshot":
                self.room.set_result(message["room"])
                self._look((message["scene"].get("round") and [{"type": "round_opened", **message["scene"]}]) or [])
            case "view":
                self._look(message["entries"])
            case "refused" | "error":
                raise AssertionError(message)

    def _look(self, entries: list[dict[str, Any]]) -> None:
        for entry in entries:
            match entry["type"]:
                case "round_opened":
                    self._round = entry["round"]
                    sealed = commit_entropy(bytes.fromhex(self._round), self._seat, self._entropy)
                    self._tell(type="ready", round=self._round, entropy_hash=sealed.hex())
                case "player_ready":
                    self._ready.add(entry["seat"])
                    if len(self._ready) == 2:
                        self._tell(type="reveal", round=self._round, entropy=self._entropy.hex())
                case "turned" if entry["seat"] == self._seat:
                    self._is_racing = True
                    self.is_ready.set_result(None)

    def _tell(self, **message: Any) -> None:
        self.wire.send_frame(frame(json.dumps(message).encode()))


async def load_server(load: Load, kind: str) -> None:
    """Connect everybody, wait for the word, measure."""
    chance = random.Random(load.port)
    movers: list[Mover] = []
    if kind == "race":
        for _ in range(load.rooms):
            first = Racer(load, chance, None)
            movers += [first, Racer(load, chance, first)]
    else:
        movers.extend(Echoed(load, chance) for _ in range(2 * load.rooms))
    for start in range(0, len(movers), DIALLING):
        group = movers[start : start + DIALLING]
        await asyncio.gather(*(mover.dial() for mover in group))
        await asyncio.gather(*(_or_closed(mover, mover.is_ready) for mover in group))
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    since, busy = time.perf_counter(), time.process_time()
    for mover in movers:
        mover.begin()
    await asyncio.gather(*(_or_closed(mover, mover.is_done) for mover in movers))
    elapsed, busy = time.perf_counter() - since, time.process_time() - busy
    latencies = sorted(second for mover in movers for second in mover.seconds)
    measured = {
        "messages": len(latencies),
        "seconds": elapsed,
        "load_cpu_seconds": busy,
        "p50_ms": latencies[len(latencies) // 2] * 1000,
        "p99_ms": latencies[int(len(latencies) * 0.99)] * 1000,
    }
    print(json.dumps(measured), flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    for mover in movers:
        mover.wire.close()


async def _or_closed(mover: Mover, awaited: "asyncio.Future[None]") -> None:
    await asyncio.wait((awaited, mover.wire.closed), return_when=asyncio.FIRST_COMPLETED)
    assert not mover.wire.closed.done(), f"the server closed a connection: {mover.wire.closed.result()}"


def main() -> None:
    """Read what to do from the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=["race", "echo"])
    parser.add_argument("port", type=int)
    parser.add_argument("rooms", type=int)
    parser.add_argument("--pace", type=float, default=0.0)
    parser.add_argument("--moves", type=int, default=MOVES)
    wanted = parser.parse_args()
    uvloop.run(load_server(Load(wanted.port, wanted.rooms, wanted.pace, wanted.moves), wanted.kind))


if __name__ == "__main__":
    main()
