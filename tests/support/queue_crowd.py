"""A crowd of players who queue, leave, drop and come back over several processes, of which some are killed."""

import asyncio
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random

from websockets.exceptions import ConnectionClosed, InvalidHandshake

from fairest_protocol.messages.from_client import Hello, Leave, LeaveQueue, Queue, Resume
from fairest_protocol.messages.from_server import Left, LeftQueue, Queued, Refused, Snapshot, View, Welcome
from fairest_server.store.log import Log
from fairest_server.store.redis.batching_client import BatchingRedis
from tests.support.history import read_room
from tests.support.processes import Fleet
from tests.support.waiting import until
from tests.support.wire_client import WireClient, open_raw_client

LIMITS = ("connections-per-address", "players-per-address", "rooms-per-address", "rooms-per-player")
OPTIONS = tuple(part for limit in LIMITS for part in (f"--{limit}", "5000"))
TOTAL_SECONDS = 30.0
AWAY = (ConnectionClosed, InvalidHandshake, OSError, TimeoutError)


@dataclass
class Crowd:
    """The outcome for the crowd: for each player its room and partner, and how long each waited at last."""

    seated: dict[int, tuple[str, frozenset[str]]] = field(default_factory=dict)
    waited_seconds: list[float] = field(default_factory=list)
    happened: Counter[str] = field(default_factory=Counter)
    last: dict[int, list[str]] = field(default_factory=dict)
    """The last messages that each player received."""

    async def until_seated(self, count: int) -> None:
        """Wait until so many players have an opponent."""

        async def are_seated() -> bool:
            return len(self.seated) >= count

        try:
            await until(are_seated, f"{count} players have an opponent", TOTAL_SECONDS)
        except AssertionError as reason:
            raise AssertionError(f"{reason}; the last that each of the others received: {self.unseated()}") from reason

    def unseated(self) -> dict[int, list[str]]:
        """Return the last messages that each player without an opponent received."""
        return {number: last for number, last in self.last.items() if number not in self.seated}


async def run_crowd(fleet: Fleet, *, players: int, processes: int, kills: int, seed: int) -> Crowd:
    """Let `players` queue on `processes` until everybody has an opponent; kill a process and start another one `kills`
    times meanwhile. Raises AssertionError if players wait for longer than TOTAL_SECONDS.
    """
    urls = [await fleet.start(*OPTIONS) for _ in range(processes)]
    crowd, chance = Crowd(), Random(seed)
    async with asyncio.TaskGroup() as tasks:
        all_seated = asyncio.Event()
        members = [_Member(number, crowd, urls, Random(f"{seed} {number}")) for number in range(players)]
        for member in members:
            tasks.create_task(member.run(all_seated))
        for kill in range(1, kills + 1):
            await crowd.until_seated(players * kill // (kills + 1))
            place = chance.randrange(processes)
            dead, urls[place] = urls[place], await fleet.start(*OPTIONS)
            await fleet.kill(dead)
            crowd.happened["killed"] += 1
        await crowd.until_seated(players)
        all_seated.set()
    return crowd


async def seats_elsewhere(redis: BatchingRedis, crowd: Crowd) -> list[tuple[str, str]]:
    """Return room and player of each seat with a connection that is not in the room where the player is, by the logs.

    A seat that was given by a process which was killed may be unknown to its player. It has no connection once the
    process has lapsed, and is free when its time to come is over.
    """
    own = {f"crowd-{number}": room for number, (room, _) in crowd.seated.items()}
    codes = await Log(redis).indexed_rooms()
    states = {code: await read_room(redis, code) for code in codes}
    return [
        (code, seat.name)
        for code, state in states.items()
        for seat in state.seats
        if seat is not None and seat.connection_id and own[seat.name] != code
    ]


class _Member:
    """One player of the crowd, which leaves the queue, or drops its socket, a few times before it stays."""

    def __init__(self, number: int, crowd: Crowd, urls: list[str], chance: Random) -> None:
        self._number = number
        self._crowd = crowd
        self._urls = urls
        self._chance = chance
        # It drops or leaves at most three times.
        self._whims = [chance.choice(("leave", "drop", "stay")) for _ in range(3)]
        self._token: str | None = None
        self._began: float | None = None

    async def run(self, all_seated: asyncio.Event) -> None:
        """Queue until there is an opponent, and keep the seat until everybody has one."""
        while not all_seated.is_set():
            try:
                async with open_raw_client(self._chance.choice(self._urls)) as client:
                    await client.send(Hello(token=self._token, name=f"crowd-{self._number}"))
                    welcome = await client.receive_a(Welcome)
                    self._token = welcome.token or self._token
                    if await self._seek(client, welcome):
                        await self._stay(client, all_seated)
            except AWAY:
                self._crowd.seated.pop(self._number, None)
                self._crowd.happened["cut off"] += 1

    async def _seek(self, client: WireClient, welcome: Welcome) -> bool:
        """Return whether the player has an opponent on this socket; False after a whim to drop it."""
        if welcome.rooms:
            await client.send(Resume(room=welcome.rooms[0], position=0))
        else:
            await client.send(Queue(id="asked"))
        while True:
            message = await client.receive()
            self._crowd.last[self._number] = client.frames[-5:]
            match message:
                case Queued(id="asked"):
                    self._began = time.monotonic()
                    whim = self._whims.pop() if self._whims else "stay"
                    self._crowd.happened[whim] += 1
                    if whim == "drop":
                        client.socket.transport.abort()
                        return False
                    if whim == "leave":
                        await client.send(LeaveQueue(id="asked"))
                case LeftQueue() | Left() | Refused(to="resume" | "queue"):
                    await client.send(Queue(id="asked"))
                case Snapshot() | View():
                    if self._is_paired(client):
                        return True
                    if isinstance(message, Snapshot) and message.room in (welcome.rooms or ()):
                        # The opponent of this room was lost with its process.
                        await client.send(Leave())
                case _:
                    pass

    async def _stay(self, client: WireClient, all_seated: asyncio.Event) -> None:
        """Keep the seat until everybody has an opponent, or until the opponent leaves: its time to come may be over."""
        ends = [asyncio.create_task(all_seated.wait()), asyncio.create_task(self._until_alone(client))]
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            if not all_seated.is_set():
                self._crowd.seated.pop(self._number, None)
                self._crowd.happened["left alone"] += 1
        finally:
            for end in ends:
                end.cancel()
            await asyncio.gather(*ends, return_exceptions=True)

    async def _until_alone(self, client: WireClient) -> None:
        while client.scene is not None and None not in [seat.name for seat in client.scene.seats]:
            with suppress(TimeoutError):
                await client.receive()

    def _is_paired(self, client: WireClient) -> bool:
        assert client.scene is not None
        names = [seat.name for seat in client.scene.seats]
        if None in names:
            return False
        self._crowd.seated[self._number] = client.room, frozenset(name for name in names if name is not None)
        if self._began is not None:
            self._crowd.waited_seconds.append(time.monotonic() - self._began)
            self._began = None
        return True
