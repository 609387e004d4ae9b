"""A crowd of players who queue, leave, drop and come back over several processes, of which some are killed."""

import asyncio
import time
from collections import Counter
from dataclasses import dataclass, field
from random import Random

from websockets.exceptions import ConnectionClosed, InvalidHandshake

from fairest_protocol.messages.from_client import Hello, Leave, LeaveQueue, Queue, Resume
from fairest_protocol.messages.from_server import Left, LeftQueue, Queued, Refused, Snapshot, View, Welcome
from tests.support.processes import Fleet
from tests.support.waiting import until
from tests.support.wire_client import WireClient, open_raw_client

OPTIONS = ("--connections-per-address", "2000", "--players-per-address", "5000", "--rooms-per-address", "5000")
TOTAL_SECONDS = 240.0
AWAY = (ConnectionClosed, InvalidHandshake, OSError, TimeoutError)


@dataclass
class Crowd:
    """The outcome for the crowd: for each player its room and partner, and how long each waited at last."""

    seated: dict[int, tuple[str, frozenset[str]]] = field(default_factory=dict)
    waited_seconds: list[float] = field(default_factory=list)
    happened: Counter[str] = field(default_factory=Counter)

    async def until_seated(self, count: int) -> None:
        """Wait until so many players have an opponent."""

        async def are_seated() -> bool:
            return len(self.seated) >= count

        await until(are_seated, f"{count} players have an opponent", TOTAL_SECONDS)


async def run_crowd(fleet: Fleet, *, players: int, processes: int, kills: int, seed: int) -> Crowd:
    """Let `players` queue on `processes` until everybody has an opponent; kill a process and start another one `kills`
    times meanwhile. Raises TimeoutError if somebody waits for longer than TOTAL_SECONDS.
    """
    urls = [await fleet.start(*OPTIONS) for _ in range(processes)]
    crowd, chance = Crowd(), Random(seed)
    async with asyncio.timeout(TOTAL_SECONDS), asyncio.TaskGroup() as tasks:
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
                        await all_seated.wait()
                        return
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
                    if isinstance(message, Snapshot) and welcome.rooms:
                        # The opponent of this room was lost with its process.
                        await client.send(Leave())
                case _:
                    pass

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
