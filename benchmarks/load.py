"""A process that loads a server with players that race, with clients of an echo, with idle guests or with spectators.

Started by `benchmarks.under_load`. It prints "ready" when all clients are connected, then reads commands, one a line:
`move COUNT` lets every client make COUNT moves, each as soon as the last one was answered, and waits for the end;
`start COUNT` does not wait; `rest SECONDS` waits; `resume` connects every player again; `watch COUNT` connects COUNT
more spectators to each room, which note when they are shown each move. After each command it prints its measurements
as JSON.
"""

import argparse
import asyncio
import gc
import json
import random
import sys
import time
from array import array
from collections.abc import Sequence
from dataclasses import dataclass

import uvloop

from benchmarks.delivery import PageSpectator, TimedRacer, delays_ms
from benchmarks.random_games import RandomEchoed, RandomRacer
from fairest_server.load.clients import MOVES, Guest, Racer, Sender, play
from fairest_server.load.websocket_client import Target, frame

CONNECTING = 50
"""Clients that connect at the same time at first. `resume` connects all of them at the same moment."""


@dataclass(frozen=True)
class Load:
    """The clients that connect: `spectators` to each room, or to each room of `code`, of which `stalled` never read.

    `code` has codes of rooms with commas between them.

    `pace_seconds` is the longest time between two moves of a player, and a third of it the shortest; 0 for no pause.
    `games` is `first-pile` for races in which every card goes to the first pile, or `random` for random legal games.
    """

    port: int
    rooms: int
    pace_seconds: float = 0.0
    spectators: int = 0
    stalled: int = 0
    code: str = ""
    games: str = "first-pile"

    @property
    def target(self) -> Target:
        return Target("127.0.0.1", self.port)


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
        return [frame(play(number + 1)) for number in range(MOVES)]


async def load_server(load: Load, kind: str) -> None:
    """Connect all clients, then obey the commands on standard input."""
    chance = random.Random(load.port)
    senders: list[Sender] = []
    spectators: list[PageSpectator] = []
    racers: list[TimedRacer] = []
    is_random = load.games == "random"
    racer_kind, echoed_kind = (RandomRacer, RandomEchoed) if is_random else (TimedRacer, Echoed)
    match kind:
        case "race":
            for _ in range(load.rooms):
                first = racer_kind(load.target, chance, None, load.pace_seconds)
                racers += [first, racer_kind(load.target, chance, first, load.pace_seconds)]
                spectators += [
                    PageSpectator(load.target, chance, first.room, len(spectators) < load.stalled)
                    for _ in range(load.spectators)
                ]
            senders += racers
        case "spectators":
            for code in load.code.split(","):
                room = asyncio.get_running_loop().create_future()
                room.set_result(code)
                spectators += [
                    PageSpectator(load.target, chance, room, number < load.stalled) for number in range(load.spectators)
                ]
        case "echo":
            # A balancer hashes the path, so two clients with the same one come to one process. A control makes a room
            # of each two that come to it.
            targets = [load.target.at_room(str(number // 2)) for number in range(2 * load.rooms)]
            senders.extend(echoed_kind(target, chance, load.pace_seconds) for target in targets)
        case _:
            senders.extend(Guest(load.target, chance) for _ in range(2 * load.rooms))
    await _connect_all(senders)
    await _connect_all(spectators)
    print("ready", flush=True)
    while command := (await asyncio.to_thread(sys.stdin.readline)).split():
        for sender in senders:
            sender.seconds = array("d")
        for racer in racers:
            racer.received_bytes = 0
        since, busy = time.perf_counter(), time.process_time()
        match command:
            case ["move", count]:
                for sender in senders:
                    sender.begin(int(count))
                await asyncio.gather(*(_or_closed(sender, sender.is_done) for sender in senders))
            case ["start", count]:
                for sender in senders:
                    sender.begin(int(count))
            case ["watch", count]:
                rooms = [racer.room for racer in racers if racer.other is None]
                added = [
                    PageSpectator(load.target, chance, room, is_timed=True) for room in rooms for _ in range(int(count))
                ]
                for racer in racers:
                    racer.is_timed = True
                await _connect_all(added)
                spectators += added
            case ["rest", seconds]:
                await asyncio.sleep(float(seconds))
            case _:
                await _connect_all(senders, at_once=len(senders))
        # Without any message, the whole time counts as one message.
        latencies = sorted(second for sender in senders for second in sender.seconds) or [0.0]
        delays = delays_ms(racers, spectators) or [0.0]
        measured = {
            "messages": len(latencies),
            "seconds": time.perf_counter() - since,
            "load_cpu_seconds": time.process_time() - busy,
            "p50_ms": latencies[len(latencies) // 2] * 1000,
            "p90_ms": latencies[int(len(latencies) * 0.9)] * 1000,
            "p99_ms": latencies[int(len(latencies) * 0.99)] * 1000,
            "p999_ms": latencies[int(len(latencies) * 0.999)] * 1000,
            "received_bytes": sum(racer.received_bytes for racer in racers),
            "spectator_frames": sum(spectator.received for spectator in spectators),
            "code": ",".join(racer.room.result() for racer in racers if racer.other is None),
            "delivery_p50_ms": delays[len(delays) // 2],
            "delivery_p99_ms": delays[int(len(delays) * 0.99)],
        }
        print(json.dumps(measured), flush=True)
    for sender in (*senders, *spectators):
        sender.socket.abort()


async def _connect_all(senders: Sequence[Sender], at_once: int = CONNECTING) -> None:
    """Connect the clients, `at_once` at a time, in order, so that rooms fill one after the other."""
    for start in range(0, len(senders), at_once):
        group = senders[start : start + at_once]
        await asyncio.gather(*(_connect(sender) for sender in group))
        await asyncio.gather(*(_or_closed(sender, sender.is_ready) for sender in group))


async def _connect(sender: Sender) -> None:
    """Connect a client; one that joins a room waits for the room's code, and connects at its address."""
    if isinstance(sender, Racer) and sender.other is not None:
        await asyncio.shield(sender.other.room)
    await sender.connect()


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
    parser.add_argument("--games", choices=["first-pile", "random"], default="first-pile")
    options = parser.parse_args()
    gc.freeze()
    gc.set_threshold(50_000)
    load = Load(
        options.port, options.rooms, options.pace, options.spectators, options.stalled, options.code, options.games
    )
    uvloop.run(load_server(load, options.kind))


if __name__ == "__main__":
    main()
