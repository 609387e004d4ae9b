"""A process that loads a server: pairs of players that race, perhaps watched; clients of an echo; guests; or a crowd.

Started by `benchmarks.under_load`. It prints "ready" when everybody is there, then does what it reads, line by line:
`move` has everybody make so many moves, each when the last one was answered, and waits for the end; `start` does not
wait; `rest` waits for so many seconds; `resume` connects every player again. After each it prints what it measured.
"""

import argparse
import asyncio
import gc
import json
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import uvloop

from benchmarks.wire import Wire, frame
from fairest_protocol.calculation.seal import commit_entropy

MOVES = 48
"""Every card of the stock to the first pile: legal in every deal of classic, and the most that a player does alike."""
DIALLING = 50
"""So many connect at once at first. Who comes back comes at the same moment as everybody else."""


@dataclass(frozen=True)
class Load:
    """Who connects: `watchers` to each room, or to the room with this code, of whom `deaf` in all never read.
    `pace_seconds` is the longest time that somebody thinks, a third of it the shortest; 0 for none.
    """

    port: int
    rooms: int
    pace_seconds: float = 0.0
    watchers: int = 0
    deaf: int = 0
    code: str = ""


class Mover:
    """Somebody who sends the next message when the last one was answered."""

    def __init__(self, load: Load, chance: random.Random) -> None:
        self.load = load
        self.chance = chance
        self.seconds: list[float] = []
        self.is_done = asyncio.get_running_loop().create_future()
        self._number = 0
        self._upto = 0
        self._sent_at = 0.0
        self._frames = self.words()

    async def dial(self) -> None:
        """Connect to the server."""
        self.is_ready = asyncio.get_running_loop().create_future()
        self.wire = Wire(self.opened, self.heard)
        await asyncio.get_running_loop().create_connection(lambda: self.wire, "127.0.0.1", self.load.port)

    def opened(self) -> None:
        """The handshake is done."""

    def heard(self, payload: bytes) -> None:
        """A text frame came."""

    def words(self) -> list[bytes]:
        """What is said, as frames."""
        return []

    def begin(self, count: int) -> None:
        """Say the next so many of the words, the first of them some time within a first pause."""
        self.is_done = asyncio.get_running_loop().create_future()
        self._upto = min(self._number + count, len(self._frames))
        if self._number == self._upto:
            self.is_done.set_result(None)
            return
        asyncio.get_running_loop().call_later(self.chance.uniform(0, self.load.pace_seconds), self._say)

    def answered(self) -> None:
        """The last word was answered."""
        self.seconds.append(time.perf_counter() - self._sent_at)
        self._number += 1
        if self._number >= self._upto:
            if not self.is_done.done():
                self.is_done.set_result(None)
        elif self.load.pace_seconds:
            pause = self.chance.uniform(self.load.pace_seconds / 3, self.load.pace_seconds)
            asyncio.get_running_loop().call_later(pause, self._say)
        else:
            self._say()

    def _say(self) -> None:
        if self.wire.closed.done():
            return
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
        return [frame(_play(number + 1)) for number in range(MOVES)]


class Guest(Mover):
    """Somebody who says hello and nothing more."""

    def opened(self) -> None:
        """Say hello."""
        self._tell(type="hello")

    def heard(self, payload: bytes) -> None:  # noqa: ARG002
        """Welcome is all that there is to hear."""
        if not self.is_ready.done():
            self.is_ready.set_result(None)

    def _tell(self, **message: Any) -> None:
        self.wire.send_frame(frame(json.dumps(message).encode()))


class Watcher(Guest):
    """A spectator of a room that somebody opens; a deaf one reads nothing once it is there."""

    def __init__(self, load: Load, chance: random.Random, room: "asyncio.Future[str]", is_deaf: bool) -> None:
        super().__init__(load, chance)
        self.frames = 0
        self._room = room
        self._is_deaf = is_deaf

    def heard(self, payload: bytes) -> None:
        """Count what comes."""
        if self.is_ready.done():
            self.frames += 1
        elif payload.startswith(b'{"type":"welcome"'):
            self._tell(type="watch", room=self._room.result())
        else:
            assert payload.startswith(b'{"type":"snapshot"'), payload
            self.is_ready.set_result(None)
            if self._is_deaf:
                self.wire.stop_reading()


class Racer(Guest):
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
        self._token: str | None = None
        self._last_view = b""

    def opened(self) -> None:
        """Say hello, as who we are."""
        self._tell(type="hello", **({"token": self._token} if self._token else {}))

    def words(self) -> list[bytes]:
        """Every card to the first pile."""
        return [frame(_play(number + 1)) for number in range(MOVES)]

    def heard(self, payload: bytes) -> None:
        """In a race, only our own moves matter."""
        if self._is_racing:
            if not self.is_ready.done():
                self._come_back(payload)
                return
            if payload.startswith(b'{"type":"view"'):
                self._last_view = payload
            if self._mine in payload:
                self.answered()
            assert not payload.startswith((b'{"type":"refused"', b'{"type":"error"')), payload
            return
        message = json.loads(payload)
        if message["type"] == "welcome":
            self._token = message["token"]
        match message["type"]:
            case "welcome" if self._other:
                self._other.room.add_done_callback(lambda room: self._tell(type="join", room=room.result()))
            case "welcome":
                self._tell(type="create", options={"countdown_seconds": 0})
            case "snapshot":
                self.room.set_result(message["room"])
                seats = message["scene"]["seats"]
                self._ready = {seat for seat in (0, 1) if seats[seat]["entropy_hash"]}
                if message["scene"]["round"]:
                    self._look([{"type": "round_opened", **message["scene"]}])
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

    def _come_back(self, payload: bytes) -> None:
        """Resume where we were, as a client does that has kept what it saw."""
        if payload.startswith(b'{"type":"welcome"'):
            seen = json.loads(self._last_view)
            position = seen["position"] + len(seen["entries"]) - 1
            self._tell(type="resume", room=self.room.result(), position=position, tag=seen["tag"])
        else:
            assert payload.startswith((b'{"type":"view"', b'{"type":"placed"')), payload
            self.is_ready.set_result(None)


async def load_server(load: Load, kind: str) -> None:
    """Connect everybody, then do what is asked for."""
    chance = random.Random(load.port)
    movers: list[Mover] = []
    watchers: list[Watcher] = []
    match kind:
        case "race":
            for _ in range(load.rooms):
                first = Racer(load, chance, None)
                movers += [first, Racer(load, chance, first)]
                watchers += [Watcher(load, chance, first.room, len(watchers) < load.deaf) for _ in range(load.watchers)]
        case "crowd":
            room = asyncio.get_running_loop().create_future()
            room.set_result(load.code)
            watchers = [Watcher(load, chance, room, number < load.deaf) for number in range(load.watchers)]
        case "echo":
            movers.extend(Echoed(load, chance) for _ in range(2 * load.rooms))
        case _:
            movers.extend(Guest(load, chance) for _ in range(2 * load.rooms))
    await _dial(movers)
    await _dial(watchers)
    print("ready", flush=True)
    while command := (await asyncio.to_thread(sys.stdin.readline)).split():
        for mover in movers:
            mover.seconds = []
        since, busy = time.perf_counter(), time.process_time()
        match command:
            case ["move", count]:
                for mover in movers:
                    mover.begin(int(count))
                await asyncio.gather(*(_or_closed(mover, mover.is_done) for mover in movers))
            case ["start", count]:
                for mover in movers:
                    mover.begin(int(count))
            case ["rest", seconds]:
                await asyncio.sleep(float(seconds))
            case _:
                await _dial(movers, at_once=len(movers))
        # Nothing at all counts as one message: what it cost is its cost.
        latencies = sorted(second for mover in movers for second in mover.seconds) or [0.0]
        measured = {
            "messages": len(latencies),
            "seconds": time.perf_counter() - since,
            "load_cpu_seconds": time.process_time() - busy,
            "p50_ms": latencies[len(latencies) // 2] * 1000,
            "p99_ms": latencies[int(len(latencies) * 0.99)] * 1000,
            "frames_watched": sum(watcher.frames for watcher in watchers),
            "code": next((mover.room.result() for mover in movers if isinstance(mover, Racer)), ""),
        }
        print(json.dumps(measured), flush=True)
    for mover in (*movers, *watchers):
        mover.wire.close()


async def _dial(movers: Sequence[Mover], at_once: int = DIALLING) -> None:
    """In pairs, so that rooms fill one after the other."""
    for start in range(0, len(movers), at_once):
        group = movers[start : start + at_once]
        await asyncio.gather(*(mover.dial() for mover in group))
        await asyncio.gather(*(_or_closed(mover, mover.is_ready) for mover in group))


async def _or_closed(mover: Mover, awaited: "asyncio.Future[None]") -> None:
    await asyncio.wait((awaited, mover.wire.closed), return_when=asyncio.FIRST_COMPLETED)
    assert not mover.wire.closed.done(), f"the server closed a connection: {mover.wire.closed.result()}"


def main() -> None:
    """Read what to do from the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=["race", "echo", "idle", "crowd"])
    parser.add_argument("port", type=int)
    parser.add_argument("rooms", type=int)
    parser.add_argument("--pace", type=float, default=0.0)
    parser.add_argument("--watchers", type=int, default=0)
    parser.add_argument("--deaf", type=int, default=0)
    parser.add_argument("--code", default="")
    asked = parser.parse_args()
    gc.freeze()
    gc.set_threshold(50_000)
    uvloop.run(
        load_server(Load(asked.port, asked.rooms, asked.pace, asked.watchers, asked.deaf, asked.code), asked.kind)
    )


if __name__ == "__main__":
    main()
