"""A process that loads a server with players that race, with clients of an echo, with idle guests or with spectators.

Started by `benchmarks.under_load`. It prints "ready" when all clients are connected, then reads commands, one a line:
`move COUNT` lets every client make COUNT moves, each as soon as the last one was answered, and waits for the end;
`start COUNT` does not wait; `rest SECONDS` waits; `resume` connects every player again. After each command it prints
its measurements as JSON.
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

from benchmarks.websocket_client import WebSocketClient, frame
from fairest_protocol.calculation.seal import commit_entropy

MOVES = 48
"""Every card of the stock to the first pile: legal in every deal of classic, and the longest race of equal moves."""
CONNECTING = 50
"""Clients that connect at the same time at first. `resume` connects all of them at the same moment."""


@dataclass(frozen=True)
class Load:
    """The clients that connect: `spectators` to each room, or to the room `code`, of which `stalled` in all never read.

    `pace_seconds` is the longest time between two moves of a player, and a third of it the shortest; 0 for no pause.
    """

    port: int
    rooms: int
    pace_seconds: float = 0.0
    spectators: int = 0
    stalled: int = 0
    code: str = ""


class Sender:
    """A client that sends its next message when the last one was answered."""

    def __init__(self, load: Load, chance: random.Random) -> None:
        self.load = load
        self.chance = chance
        self.seconds: list[float] = []
        self.is_done = asyncio.get_running_loop().create_future()
        self._number = 0
        self._upto = 0
        self._sent_at = 0.0
        self._frames = self.make_frames()

    async def connect(self) -> None:
        """Connect to the server."""
        self.is_ready = asyncio.get_running_loop().create_future()
        self.socket = WebSocketClient(self.on_open, self.on_text)
        await asyncio.get_running_loop().create_connection(lambda: self.socket, "127.0.0.1", self.load.port)

    def on_open(self) -> None:
        """Begin to talk: the handshake is done."""

    def on_text(self, payload: bytes) -> None:
        """Handle a text frame."""

    def make_frames(self) -> list[bytes]:
        """Return all messages of this client, as frames."""
        return []

    def begin(self, count: int) -> None:
        """Send the next `count` messages, the first of them at a random time within a first pause."""
        self.is_done = asyncio.get_running_loop().create_future()
        self._upto = min(self._number + count, len(self._frames))
        if self._number == self._upto:
            self.is_done.set_result(None)
            return
        asyncio.get_running_loop().call_later(self.chance.uniform(0, self.load.pace_seconds), self._send_next)

    def on_answer(self) -> None:
        """Note the latency of the last message and send the next one, after a pause if there is a pace."""
        self.seconds.append(time.perf_counter() - self._sent_at)
        self._number += 1
        if self._number >= self._upto:
            if not self.is_done.done():
                self.is_done.set_result(None)
        elif self.load.pace_seconds:
            pause = self.chance.uniform(self.load.pace_seconds / 3, self.load.pace_seconds)
            asyncio.get_running_loop().call_later(pause, self._send_next)
        else:
            self._send_next()

    def _send_next(self) -> None:
        if self.socket.closed.done():
            return
        self._sent_at = time.perf_counter()
        self.socket.send_frame(self._frames[self._number])


def _play(number: int) -> bytes:
    return b'{"type":"play","number":%d,"move":"sa"}' % number


class Echoed(Sender):
    """A client of an echo or a relay, which answers a message by the message itself."""

    def on_open(self) -> None:
        """Be ready: no message has to come before the first move."""
        self.is_ready.set_result(None)

    def on_text(self, payload: bytes) -> None:
        """Count an answer; a notice of the other client's message begins with `!` and is not one."""
        if not payload.startswith(b"!"):
            self.on_answer()

    def make_frames(self) -> list[bytes]:
        """Return the text of moves, so that the frames have the same size."""
        return [frame(_play(number + 1)) for number in range(MOVES)]


class Guest(Sender):
    """A client that sends hello and nothing more."""

    def on_open(self) -> None:
        """Send hello."""
        self._send(type="hello")

    def on_text(self, payload: bytes) -> None:  # noqa: ARG002
        """Be ready with the first message, which is the welcome."""
        if not self.is_ready.done():
            self.is_ready.set_result(None)

    def _send(self, **message: Any) -> None:
        self.socket.send_frame(frame(json.dumps(message).encode()))


class Spectator(Guest):
    """A spectator of the room that `room` resolves to; if `is_stalled`, it stops reading once it has a snapshot."""

    def __init__(self, load: Load, chance: random.Random, room: "asyncio.Future[str]", is_stalled: bool) -> None:
        super().__init__(load, chance)
        self.frames = 0
        self._room = room
        self._is_stalled = is_stalled

    def on_text(self, payload: bytes) -> None:
        """Ask for the room, wait for its snapshot, then count frames."""
        if self.is_ready.done():
            self.frames += 1
        elif payload.startswith(b'{"type":"welcome"'):
            self._send(type="watch", room=self._room.result())
        else:
            assert payload.startswith(b'{"type":"snapshot"'), payload
            self.is_ready.set_result(None)
            if self._is_stalled:
                self.socket.stop_reading()


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

    def on_open(self) -> None:
        """Send hello, with our token if we have one."""
        self._send(type="hello", **({"token": self._token} if self._token else {}))

    def make_frames(self) -> list[bytes]:
        """Return the moves that lay every card onto the first pile."""
        return [frame(_play(number + 1)) for number in range(MOVES)]

    def on_text(self, payload: bytes) -> None:
        """Prepare the race; once it is on, take our own moves as answers and skip all other messages."""
        if self._is_racing:
            if not self.is_ready.done():
                self._resume(payload)
                return
            if payload.startswith(b'{"type":"view"'):
                self._last_view = payload
            if self._mine in payload:
                self.on_answer()
            assert not payload.startswith((b'{"type":"refused"', b'{"type":"error"')), payload
            return
        message = json.loads(payload)
        if message["type"] == "welcome":
            self._token = message["token"]
        match message["type"]:
            case "welcome" if self._other:
                self._other.room.add_done_callback(lambda room: self._send(type="join", room=room.result()))
            case "welcome":
                self._send(type="create", options={"countdown_seconds": 0})
            case "snapshot":
                self.room.set_result(message["room"])
                seats = message["scene"]["seats"]
                self._ready = {seat for seat in (0, 1) if seats[seat]["entropy_hash"]}
                if message["scene"]["round"]:
                    self._follow([{"type": "round_opened", **message["scene"]}])
            case "view":
                self._follow(message["entries"])
            case "refused" | "error":
                raise AssertionError(message)

    def _follow(self, entries: list[dict[str, Any]]) -> None:
        for entry in entries:
            match entry["type"]:
                case "round_opened":
                    self._round = entry["round"]
                    sealed = commit_entropy(bytes.fromhex(self._round), self._seat, self._entropy)
                    self._send(type="ready", round=self._round, entropy_hash=sealed.hex())
                case "player_ready":
                    self._ready.add(entry["seat"])
                    if len(self._ready) == 2:
                        self._send(type="reveal", round=self._round, entropy=self._entropy.hex())
                case "turned" if entry["seat"] == self._seat:
                    self._is_racing = True
                    self.is_ready.set_result(None)

    def _resume(self, payload: bytes) -> None:
        """Resume at our position, as a client does that has kept its entries."""
        if payload.startswith(b'{"type":"welcome"'):
            seen = json.loads(self._last_view)
            position = seen["position"] + len(seen["entries"]) - 1
            self._send(type="resume", room=self.room.result(), position=position, tag=seen["tag"])
        else:
            assert payload.startswith((b'{"type":"view"', b'{"type":"placed"')), payload
            self.is_ready.set_result(None)


async def load_server(load: Load, kind: str) -> None:
    """Connect all clients, then obey the commands on standard input."""
    chance = random.Random(load.port)
    senders: list[Sender] = []
    spectators: list[Spectator] = []
    match kind:
        case "race":
            for _ in range(load.rooms):
                first = Racer(load, chance, None)
                senders += [first, Racer(load, chance, first)]
                spectators += [
                    Spectator(load, chance, first.room, len(spectators) < load.stalled) for _ in range(load.spectators)
                ]
        case "spectators":
            room = asyncio.get_running_loop().create_future()
            room.set_result(load.code)
            spectators = [Spectator(load, chance, room, number < load.stalled) for number in range(load.spectators)]
        case "echo":
            senders.extend(Echoed(load, chance) for _ in range(2 * load.rooms))
        case _:
            senders.extend(Guest(load, chance) for _ in range(2 * load.rooms))
    await _connect_all(senders)
    await _connect_all(spectators)
    print("ready", flush=True)
    while command := (await asyncio.to_thread(sys.stdin.readline)).split():
        for sender in senders:
            sender.seconds = []
        since, busy = time.perf_counter(), time.process_time()
        match command:
            case ["move", count]:
                for sender in senders:
                    sender.begin(int(count))
                await asyncio.gather(*(_or_closed(sender, sender.is_done) for sender in senders))
            case ["start", count]:
                for sender in senders:
                    sender.begin(int(count))
            case ["rest", seconds]:
                await asyncio.sleep(float(seconds))
            case _:
                await _connect_all(senders, at_once=len(senders))
        # Without any message, the whole time counts as one message.
        latencies = sorted(second for sender in senders for second in sender.seconds) or [0.0]
        measured = {
            "messages": len(latencies),
            "seconds": time.perf_counter() - since,
            "load_cpu_seconds": time.process_time() - busy,
            "p50_ms": latencies[len(latencies) // 2] * 1000,
            "p99_ms": latencies[int(len(latencies) * 0.99)] * 1000,
            "spectator_frames": sum(spectator.frames for spectator in spectators),
            "code": next((sender.room.result() for sender in senders if isinstance(sender, Racer)), ""),
        }
        print(json.dumps(measured), flush=True)
    for sender in (*senders, *spectators):
        sender.socket.close()


async def _connect_all(senders: Sequence[Sender], at_once: int = CONNECTING) -> None:
    """Connect the clients, `at_once` at a time, in order, so that rooms fill one after the other."""
    for start in range(0, len(senders), at_once):
        group = senders[start : start + at_once]
        await asyncio.gather(*(sender.connect() for sender in group))
        await asyncio.gather(*(_or_closed(sender, sender.is_ready) for sender in group))


async def _or_closed(sender: Sender, awaited: "asyncio.Future[None]") -> None:
    await asyncio.wait((awaited, sender.socket.closed), return_when=asyncio.FIRST_COMPLETED)
    assert not sender.socket.closed.done(), f"the server closed a connection: {sender.socket.closed.result()}"


def main() -> None:
    """Read the load from the command line and run it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=["race", "echo", "idle", "spectators"])
    parser.add_argument("port", type=int)
    parser.add_argument("rooms", type=int)
    parser.add_argument("--pace", type=float, default=0.0)
    parser.add_argument("--spectators", type=int, default=0)
    parser.add_argument("--stalled", type=int, default=0)
    parser.add_argument("--code", default="")
    options = parser.parse_args()
    gc.freeze()
    gc.set_threshold(50_000)
    uvloop.run(
        load_server(
            Load(options.port, options.rooms, options.pace, options.spectators, options.stalled, options.code),
            options.kind,
        )
    )


if __name__ == "__main__":
    main()
