"""The run of a load: connects its clients, keeps them connected, and ends it in order when its time is over."""

import asyncio
import os
import random
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from fairest_server.load.players import LoadClient, LoadRacer, LoadSpectator
from fairest_server.load.report import Report, Tally, answer_times
from fairest_server.load.websocket_client import Target

CONNECTING: Final = 50
"""Clients that connect at the same time."""
WELCOME_SECONDS: Final = 15.0
"""Time limit for the answers to the opening handshake and to `hello`."""
FIRST_RETRY_SECONDS: Final = 0.2
LONGEST_RETRY_SECONDS: Final = 5.0
ANSWER_SECONDS: Final = 2.0
"""At the end, time for the answers to the last moves, and again for those to `leave`."""
PROGRESS_SECONDS: Final = 5.0
FINAL_STATUS: Final = frozenset({403, 404, 426, 429, 503})
"""HTTP statuses after which a client that was never let in does not try again."""
FIRST_FINAL_CODE: Final = 4000
"""Close codes from here say that connecting again the same way does not help."""


@dataclass(frozen=True)
class Plan:
    """A load: `spectators` to each room, and players that pause for `pace_seconds` at most between two moves."""

    url: str
    target: Target
    rooms: int
    pace_seconds: float
    seconds: float
    spectators: int = 0


class Generator:
    """Runs a load once."""

    def __init__(self, plan: Plan, chance: random.Random, write: Callable[[str], None]) -> None:
        """`write` is called with each line of progress."""
        self._plan = plan
        self._chance = chance
        self._write = write
        self._stop = asyncio.Event()
        self._turn = asyncio.Semaphore(CONNECTING)
        self.tally = Tally()

    def stop(self) -> None:
        """End the load early; `run` then returns the report so far."""
        self._stop.set()

    async def run(self) -> Report:
        """Load the server until the time is over, or until all clients have given up; return the report."""
        plan, since, busy = self._plan, time.monotonic(), time.process_time()
        clients = self._make_clients()
        tasks = [asyncio.create_task(self._keep_connected(client)) for client in clients]
        progress = asyncio.create_task(self._show_progress(since))
        everybody = asyncio.gather(*tasks, return_exceptions=True)
        stopped = asyncio.create_task(self._stop.wait())
        try:
            await asyncio.wait((everybody, stopped), timeout=plan.seconds, return_when=asyncio.FIRST_COMPLETED)
            seconds, cpu_seconds = time.monotonic() - since, time.process_time() - busy
            self._stop.set()
            await self._end([client for client in clients if client.was_welcomed])
        finally:
            for task in (*tasks, progress, stopped):
                task.cancel()
            with suppress(asyncio.CancelledError):
                await everybody
        for fault in (task.exception() for task in tasks if task.done() and not task.cancelled()):
            if fault is not None:
                raise fault
        return Report(self.tally, plan.url, plan.rooms, plan.spectators, plan.pace_seconds, seconds, cpu_seconds)

    def _make_clients(self) -> list[LoadClient]:
        """Make the players and spectators of all rooms. Their names tell an operator whose they are."""
        plan, chance = self._plan, self._chance
        tag, clients = f"load-{chance.randbytes(3).hex()}", list[LoadClient]()
        for _ in range(plan.rooms):
            names = [f"{tag}-{len(clients) + each}" for each in range(2 + plan.spectators)]
            first = LoadRacer(plan.target, chance, None, plan.pace_seconds, names[0])
            second = LoadRacer(plan.target, chance, first, plan.pace_seconds, names[1])
            watching = [LoadSpectator(plan.target, chance, first.room, name=name) for name in names[2:]]
            for client in (first, second, *watching):
                client.start_counting(self.tally)
                client.seconds = self.tally.seconds
                clients.append(client)
        return clients

    async def _keep_connected(self, client: LoadClient) -> None:
        """Connect a client, and again after each disconnect, until the load ends or the client gives up."""
        room = _awaited_room(client)
        if room is not None:
            with suppress(asyncio.CancelledError):
                await asyncio.wait((room,))
            if room.cancelled():
                return
        pause = FIRST_RETRY_SECONDS
        while not self._stop.is_set() and not client.has_given_up:
            if await self._connect_once(client):
                pause = FIRST_RETRY_SECONDS
            if client.has_given_up or self._stop.is_set():
                break
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), pause * self._chance.uniform(0.5, 1.0))
            pause = min(2 * pause, LONGEST_RETRY_SECONDS)

    async def _connect_once(self, client: LoadClient) -> bool:
        """Connect a client and wait for the end of the connection; return whether it was welcomed."""
        tally = self.tally
        client.welcomed.clear()
        async with self._turn:
            if self._stop.is_set():
                return False
            try:
                await client.connect()
            except OSError as reason:
                tally.errors[f"cannot connect: {_describe_error(reason)}"] += 1
                return False
            closed, is_welcomed = client.socket.closed, asyncio.create_task(client.welcomed.wait())
            await asyncio.wait((closed, is_welcomed), timeout=WELCOME_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            is_welcomed.cancel()
            if not client.welcomed.is_set() and not closed.done():
                tally.errors[f"no welcome within {WELCOME_SECONDS:g} s"] += 1
                client.socket.abort()
        end = await closed
        tally.is_open -= client.welcomed.is_set()
        if end.http_status:
            tally.turned_away[f"HTTP {end.http_status}"] += 1
            if end.http_status in FINAL_STATUS and not client.was_welcomed:
                client.give_up()
        elif not self._stop.is_set() and not client.has_given_up:
            tally.disconnects[end.code] += 1
            if end.code >= FIRST_FINAL_CODE:
                client.give_up()
        return client.welcomed.is_set()

    async def _end(self, clients: Sequence[LoadClient]) -> None:
        """Wait for the last answers, let every client leave its room, and close the connections."""
        racers = [client for client in clients if isinstance(client, LoadRacer)]
        for racer in racers:
            racer.end()
        here = [client for client in clients if client.welcomed.is_set() and not client.socket.closed.done()]
        last_answers = [racer.is_done for racer in racers if racer in here and racer.sent_at is not None]
        if last_answers:
            await asyncio.wait(last_answers, timeout=ANSWER_SECONDS)
        for client in here:
            if not client.socket.closed.done():
                client.leave()
        with suppress(TimeoutError):
            async with asyncio.timeout(ANSWER_SECONDS):
                for client in here:
                    await asyncio.wait(
                        (asyncio.ensure_future(client.has_left.wait()), client.socket.closed),
                        return_when=asyncio.FIRST_COMPLETED,
                    )
        for client in here:
            client.socket.close()

    async def _show_progress(self, since: float) -> None:
        tally = self.tally
        while True:
            await asyncio.sleep(PROGRESS_SECONDS)
            times = answer_times(tally.seconds[-10_000:])
            seconds = time.monotonic() - since
            trouble = sum(tally.disconnects.values()) + sum(tally.refusals.values()) + sum(tally.turned_away.values())
            self._write(
                f"{seconds:.0f} of {self._plan.seconds:g} s: {tally.is_open} connections, {tally.racing} rooms racing, "
                f"{len(tally.seconds)} moves, answers in {times['p50']} ms (99 %: {times['p99']} ms), "
                f"{trouble + sum(tally.errors.values())} troubles"
            )


def _awaited_room(client: LoadClient) -> "asyncio.Future[str] | None":
    """Return the room whose code a client needs before it connects; None for the player who creates it."""
    match client:
        case LoadSpectator(room=room):
            return room
        case LoadRacer(other=LoadRacer(room=room)):
            return room
        case _:
            return None


def _describe_error(reason: OSError) -> str:
    """Return the error without the address that asyncio adds to it."""
    if isinstance(reason, ConnectionError) and reason.errno:
        return os.strerror(reason.errno)
    return reason.strerror or repr(reason)
