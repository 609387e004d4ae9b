"""The return of all clients whose processes died at once, with the waits of the client. Pure: chance is an argument.

Each attempt goes to one of the processes that are left, which does the work of a resume, and to the master of the room,
which reads its log. Moves of the other players go on meanwhile, so that work takes longer by their share of the core.
A client that is not served within `OPEN_SECONDS` gives up, and the work is done in vain.
"""

import random
from dataclasses import dataclass
from functools import partial
from math import ceil

from benchmarks.queueing import Clock
from fairest_cli.session.backoff import STEADY_SECONDS, Backoff
from fairest_cli.session.websocket import OPEN_SECONDS
from fairest_protocol.messages.options import RoomOptions

LONGEST_SECONDS = float(RoomOptions().grace_seconds)
"""A seat is freed after this time."""
MOST = 0.99


@dataclass(frozen=True)
class Fleet:
    """A deployment before processes die: CPU in us of a player's return, and the shares of a core that moves take."""

    players: int
    processes: int
    masters: int
    limit: int
    resume_us: float
    redis_us: float
    server_busy: float
    redis_busy: float


@dataclass(frozen=True)
class Storm:
    """The return of the clients. Seconds count from the death of the processes."""

    clients: int
    first_second: int
    """Attempts in the first second."""
    per_second: float
    """Clients that came back a second, until `MOST` of them were back."""
    server_busy: float
    redis_busy: float
    """The shares of a core that returns and moves took until then, of all processes and of all masters."""
    turned_away: int
    """Attempts at a process whose limit of connections was reached."""
    gave_up_waiting: int
    half_back_seconds: float
    most_back_seconds: float
    """Until half of the races, and `MOST` of them, went on; infinite if it takes longer than `LONGEST_SECONDS`."""
    never_back: int
    """Clients that were not back within `LONGEST_SECONDS`."""


class _Queue:
    """A server that works on one thing after the other, and whose core is in use by moves for a share of the time."""

    def __init__(self, busy: float) -> None:
        self._slower = 1 / (1 - busy) if busy < 1 else float("inf")
        self._free_at = 0.0

    def finish_at(self, now: float, cost_us: float) -> float:
        """Return the time at which work that comes now is done."""
        self._free_at = max(now, self._free_at) + cost_us * self._slower
        return self._free_at


class _Return:
    """One run of a storm."""

    def __init__(self, fleet: Fleet, dying: int, chance: random.Random) -> None:
        self._fleet, self._chance, self._clock = fleet, chance, Clock()
        self.clients = 2 * round(fleet.players * dying / fleet.processes / 2)
        self._left = fleet.processes - dying
        self._servers = [_Queue(fleet.server_busy) for _ in range(self._left)]
        self._masters = [_Queue(fleet.redis_busy) for _ in range(fleet.masters)]
        self._connections = [round(fleet.players / fleet.processes)] * self._left
        self._backoffs = [Backoff() for _ in range(self.clients)]
        self.attempts_at: list[float] = []
        self.back_at = [float("inf")] * self.clients
        """For each client, the second at which it was back. Clients 2 n and 2 n + 1 are of one room."""
        self.turned_away = self.gave_up_waiting = 0

    def run(self) -> None:
        for client in range(self.clients):
            self._retry(client, 2 * STEADY_SECONDS)
        self._clock.run(LONGEST_SECONDS * 1e6)

    def _retry(self, client: int, lasted_seconds: float) -> None:
        wait = self._backoffs[client].next_wait(lasted_seconds, self._chance, has_gone_on=False)
        self._clock.at(self._clock.now + wait * 1e6, partial(self._attempt, client))

    def _attempt(self, client: int) -> None:
        now, process = self._clock.now, self._chance.randrange(self._left)
        self.attempts_at.append(now / 1e6)
        if self._connections[process] >= self._fleet.limit:
            self.turned_away += 1
            self._retry(client, 0.0)
            return
        self._connections[process] += 1
        # The players of a room have the same master.
        read_at = self._masters[client // 2 % len(self._masters)].finish_at(now, self._fleet.redis_us)
        self._clock.at(read_at, partial(self._resume, client, process, now + OPEN_SECONDS * 1e6))

    def _resume(self, client: int, process: int, deadline: float) -> None:
        done_at = self._servers[process].finish_at(self._clock.now, self._fleet.resume_us)
        if done_at > deadline:
            self._clock.at(max(self._clock.now, deadline), partial(self._give_up, client, process))
        else:
            self.back_at[client] = done_at / 1e6

    def _give_up(self, client: int, process: int) -> None:
        self._connections[process] -= 1
        self.gave_up_waiting += 1
        self._retry(client, 0.0)


def simulate_storm(fleet: Fleet, share: float, chance: random.Random) -> Storm:
    """Let a share of the processes die at once, and return how their clients come back."""
    dying = max(1, round(fleet.processes * share))
    run = _Return(fleet, dying, chance)
    run.run()
    most_back, half_back = _time_of(run, MOST), _time_of(run, 0.5)
    lasted = min(most_back, LONGEST_SECONDS)
    attempts = sum(at <= lasted for at in run.attempts_at) - run.turned_away
    left = fleet.processes - dying
    return Storm(
        clients=run.clients,
        first_second=sum(at <= 1 for at in run.attempts_at),
        per_second=sum(at <= lasted for at in run.back_at) / lasted,
        server_busy=min(1.0, fleet.server_busy + attempts * fleet.resume_us / 1e6 / left / lasted),
        redis_busy=min(1.0, fleet.redis_busy + attempts * fleet.redis_us / 1e6 / fleet.masters / lasted),
        turned_away=run.turned_away,
        gave_up_waiting=run.gave_up_waiting,
        half_back_seconds=half_back,
        most_back_seconds=most_back,
        never_back=sum(at > LONGEST_SECONDS for at in run.back_at),
    )


def _time_of(run: _Return, share: float) -> float:
    """Return the seconds until this share of the races went on, with both of their players."""
    races = sorted(max(pair) for pair in zip(run.back_at[::2], run.back_at[1::2], strict=True))
    return races[ceil(len(races) * share) - 1]
