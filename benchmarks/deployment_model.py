"""Rooms, server processes and Redis masters as queues: the CPU and the latency of moves in a simulated deployment.

A move goes through the load, a process, a master, the same process, and the load again. A process has append queues,
each of which sends one batch at a time and waits for the next one as those of our server do; moves of both players of a
room that wait for the same batch are one append. If the players of a room are on two processes, each move is work for
both, and an append behind one that its process does not know yet is a conflict, which is decided again.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from benchmarks.queueing import Clock, Cooling, Cores, Station
from fairest_server.load.clients import SHORTEST_PAUSE_SHARE
from fairest_server.store.append_queue import BATCH_SECONDS, MAX_BATCH

SERVER_COOLS_US = 1_000.0
"""The idle time after which half of what a process had in the caches is gone. It was chosen, as that of the load, so
that the model comes close to all of the measured loads (`benchmarks.loads`).
"""
REDIS_COOLS_US = 350.0
"""As `benchmarks.dense_appends` tells: an append costs four to eight times as much at 500 a second as when Redis is
busy. 200 to 500 change no deviation of Redis by more than three points.
"""
LOAD_COOLS_US = 250.0
ROOM_COOLS_US = 100_000.0
"""The time since the last append of a room after which half of what its master had of it in the caches is gone. It was
chosen as those above. With 20,000 to 200,000 Redis is within 7 % at all loads of the run that was in view.
"""
LONG_AGO_US = -1e9
BUILDING_SHARE = 0.5
"""The part of an append's CPU that comes before its batch is sent. In a sample with py-spy it was 0.5, and 0.6 with the
sending.
"""
STAYING = 0.9
"""The chance that a core which becomes free goes to a station that had it last, and not to the one that has waited
longest. It was chosen as those above. Of two saturated processes, one was on the core of the load and the other one on
that of Redis in 84 % of samples.
"""


@dataclass(frozen=True)
class Costs:
    """CPU in microseconds.

    `..._turn` is what each turn takes besides its items, `..._cold` what it takes more after a long idle time, and
    `..._displaced` what a move, or an append of a master, takes more on a core that another station has used since the
    last one. A move costs a process `server_move` for the player's frames, and its append, which is shared if both
    players of a room move at once, `server_append` to decide, fold and show it. A turn in which entries of other
    processes arrive takes `server_notice` more. An append of a process that is not alone takes `redis_count` more,
    since the master counts the room's subscribers, and one of a room on two processes `redis_publish`; one of a room
    that was left alone for a long time takes `redis_room_cold` more. `wake` is the time that each of them takes to
    wake, which is no CPU.
    """

    server_cold: float
    server_move: float
    server_append: float
    redis_cold: float
    redis_append: float
    redis_count: float = 0.0
    server_turn: float = 0.0
    server_displaced: float = 0.0
    server_notice: float = 0.0
    redis_turn: float = 0.0
    redis_displaced: float = 0.0
    redis_publish: float = 0.0
    redis_room_cold: float = 0.0
    load_cold: float = 0.0
    load_turn: float = 0.0
    load_move: float = 0.0
    load_displaced: float = 0.0
    wake: float = 0.0


@dataclass(frozen=True)
class Shape:
    """A deployment and its load. Each player makes `moves` moves, with pauses up to `pace_seconds` between them.

    A process has `queues` append queues: one for a single Redis, one for each bucket on a Cluster. `apart` says that
    each player comes to any process; otherwise both players of a room are on the same one. Without `cores`, every
    station has one for itself. `has_timers` says that the pauses of players are timers of the load's event loop, which
    count milliseconds; people make their moves at any time.
    """

    rooms: int
    pace_seconds: float
    moves: int
    processes: int = 1
    masters: int = 1
    queues: int = 1
    apart: bool = False
    cores: int | None = None
    has_timers: bool = False


@dataclass
class Simulated:
    """The results of a run: CPU and turns for each move, rate, latencies in ms, the part of time that each is busy."""

    server_us: float
    redis_us: float
    load_us: float
    server_parts: dict[str, float]
    redis_parts: dict[str, float]
    load_parts: dict[str, float]
    """The amount for each move of everything that has a cost, by the name of the cost."""
    per_second: float
    p50_ms: float
    p99_ms: float
    busiest_server: float


@dataclass
class _Room:
    """A room: the append queue that it waits in, the length of its log, and how much of it is known in each process."""

    queue: int
    processes: tuple[int, int]
    length: int = 0
    appended_us: float = LONG_AGO_US
    """When its last append was sent."""
    known: dict[int, int] = field(default_factory=dict)


class Deployment:
    """One run. `costs` are those of its stations; `chance` decides pauses, places and cores."""

    def __init__(self, shape: Shape, costs: Costs, chance: random.Random) -> None:
        self._shape, self._costs, self._chance = shape, costs, chance
        self._clock = Clock()
        stations = shape.processes + shape.masters + 1
        cores = Cores(shape.cores or stations, lambda: chance.random() < STAYING)
        cooling = Cooling(costs.load_cold, LOAD_COOLS_US, costs.load_displaced, costs.load_turn, costs.wake)
        self._load = Station(self._clock, cores, cooling)
        cooling = Cooling(costs.redis_cold, REDIS_COOLS_US, costs.redis_displaced, costs.redis_turn, costs.wake)
        self._masters = [Station(self._clock, cores, cooling) for _ in range(shape.masters)]
        cooling = Cooling(costs.server_cold, SERVER_COOLS_US, costs.server_displaced, costs.server_turn, costs.wake)
        self._processes = [
            _Process(Station(self._clock, cores, cooling), number, self) for number in range(shape.processes)
        ]
        self._rooms = [self._make_room(number) for number in range(shape.rooms)]
        self._left = [shape.moves] * (2 * shape.rooms)
        self._sent_at = [0.0] * (2 * shape.rooms)
        self._latencies: list[float] = []
        self.appends = 0
        self.counted = 0
        """Appends of processes that are not alone."""
        self.published = 0
        self.cold_rooms = 0.0
        """The sum over all appends: 0 for one that follows another of its room at once, up to 1 after a long time."""
        self.played = 0.0
        """Moves that the load worked on. To send one, and to take its answer, is half of the work."""
        self.handled = 0.0
        """Moves that processes worked on; one that two processes work on, or that is decided twice, counts twice."""
        self.folded = 0.0
        """Appends that processes worked on."""

    def run(self) -> Simulated:
        """Let every player make its moves."""
        pace_us = self._shape.pace_seconds * 1e6
        for player in range(len(self._left)):
            self._send_after(self._chance.uniform(0, pace_us), player)
        self._clock.run()
        return self._summarise()

    @property
    def now(self) -> float:
        """The time in microseconds."""
        return self._clock.now

    def append(self, process: "_Process", batch: dict[int, list[int]]) -> None:
        """Send a batch to the master of its rooms: moves of players by room."""
        master = self._masters[self._rooms[next(iter(batch))].queue % self._shape.masters]
        positions = {room: self._rooms[room].known.get(process.number, 0) for room in batch}
        counted = len(batch) if self._shape.processes > 1 else 0
        cost = self._costs.redis_append * len(batch) + self._costs.redis_count * counted
        published = sum(len(set(self._rooms[room].processes)) > 1 for room in batch)
        cold_rooms = sum(map(self._cool, batch))
        cost += self._costs.redis_publish * published + self._costs.redis_room_cold * cold_rooms
        self.appends += len(batch)
        self.counted += counted
        self.published += published
        self.cold_rooms += cold_rooms
        master.put(cost, partial(self._appended, process, batch, positions), len(batch))

    def queue_of(self, room: int) -> int:
        return self._rooms[room].queue

    def deliver(self, player: int) -> None:
        """Send a player the answer to its move. Without a pause the player sends the next one in the same turn."""
        share = 0.5 if self._shape.pace_seconds else 1.0
        self._load.put(self._load_us(share), partial(self._answered, player), share)

    def work_us(self, moves: float, appends: float) -> float:
        """Return the CPU of a process for this many moves and appends, and count them."""
        self.handled += moves
        self.folded += appends
        return self._costs.server_move * moves + self._costs.server_append * appends

    @property
    def notice_us(self) -> float:
        return self._costs.server_notice

    def _appended(self, process: "_Process", batch: dict[int, list[int]], positions: dict[int, int]) -> None:
        accepted: dict[int, list[int]] = {}
        refused: dict[int, list[int]] = {}
        for number, players in batch.items():
            room = self._rooms[number]
            if room.length != positions[number]:
                # The answer of Redis says what was missed.
                refused[number] = players
                room.known[process.number] = room.length
                continue
            room.length += len(players)
            room.known[process.number] = room.length
            accepted[number] = players
            for other in set(room.processes) - {process.number}:
                self._processes[other].notice(room, room.length, len(players))
        process.replied(self.queue_of(next(iter(batch))), accepted, refused)

    def _load_us(self, moves: float) -> float:
        """Return the CPU of the load for this many moves, and count them."""
        self.played += moves
        return self._costs.load_move * moves

    def _cool(self, number: int) -> float:
        """Note an append of a room; return which part of its data has left the master's caches since the last one."""
        room = self._rooms[number]
        idle_us, room.appended_us = self.now - room.appended_us, self.now
        return idle_us / (idle_us + ROOM_COOLS_US)

    def _make_room(self, number: int) -> _Room:
        first = self._chance.randrange(self._shape.processes)
        second = self._chance.randrange(self._shape.processes) if self._shape.apart else first
        return _Room(number % self._shape.queues, (first, second))

    def _send_after(self, pause_us: float, player: int) -> None:
        cost_us, arrive = self._load_us(0.5), partial(self._arrive, player)
        if self._shape.has_timers:
            self._load.put_later(pause_us, cost_us, arrive, 0.5)
        else:
            self._clock.at(self._clock.now + pause_us, lambda: self._load.put(cost_us, arrive, 0.5))

    def _arrive(self, player: int) -> None:
        self._sent_at[player] = self._clock.now
        room = player // 2
        self._processes[self._rooms[room].processes[player % 2]].receive(room, player)

    def _answered(self, player: int) -> None:
        self._latencies.append(self._clock.now - self._sent_at[player])
        self._left[player] -= 1
        if not self._left[player]:
            return
        if self._shape.pace_seconds:
            longest_us = self._shape.pace_seconds * 1e6
            pause_us = self._chance.uniform(longest_us * SHORTEST_PAUSE_SHARE, longest_us)
            self._send_after(pause_us, player)
        else:
            self._arrive(player)

    def _summarise(self) -> Simulated:
        moves, lasted_us = len(self._latencies), self._clock.now
        ordered = sorted(self._latencies)
        servers = [process.station for process in self._processes]

        def each(stations: list[Station], value: Callable[[Station], float]) -> float:
            return sum(map(value, stations)) / moves

        def parts(name: str, stations: list[Station]) -> dict[str, float]:
            return {
                f"{name}_cold": each(stations, lambda station: station.coldness),
                f"{name}_turn": each(stations, lambda station: station.turns),
                f"{name}_displaced": each(stations, lambda station: station.displaced),
            }

        server, redis, load = parts("server", servers), parts("redis", self._masters), parts("load", [self._load])
        server |= {"server_move": self.handled / moves, "server_append": self.folded / moves}
        server["server_notice"] = each(servers, lambda station: station.shared)
        redis |= {"redis_append": self.appends / moves, "redis_count": self.counted / moves}
        redis |= {"redis_publish": self.published / moves, "redis_room_cold": self.cold_rooms / moves}
        load["load_move"] = self.played / moves
        return Simulated(
            server_us=each(servers, lambda station: station.busy_us),
            redis_us=each(self._masters, lambda station: station.busy_us),
            load_us=self._load.busy_us / moves,
            server_parts=server,
            redis_parts=redis,
            load_parts=load,
            per_second=moves / lasted_us * 1e6,
            p50_ms=ordered[moves // 2] / 1000,
            p99_ms=ordered[int(moves * 0.99)] / 1000,
            busiest_server=max(station.busy_us for station in servers) / lasted_us,
        )


class _Process:
    """A server process: the moves that wait in each of its append queues, and the batches under way."""

    def __init__(self, station: Station, number: int, deployment: Deployment) -> None:
        self.station, self.number, self._deployment = station, number, deployment
        self._waiting: dict[int, dict[int, list[int]]] = {}
        self._under_way: set[int] = set()
        self._due_us: dict[int, float] = {}
        """When the next batch of a queue may be sent."""
        self._timed: set[int] = set()
        """The queues for which a timer waits until then."""
        self._due: set[int] = set()
        """Those whose timer has fired."""
        station.on_turn_end = self._send_batches

    def receive(self, room: int, player: int) -> None:
        """Take a move from a player's socket."""
        self.station.put(self._deployment.work_us(0.5, 0), partial(self._wait, room, player), 0.5)

    def notice(self, room: _Room, length: int, moves: int) -> None:
        """Take the moves of a wake-up, fold and show them, and send them to our player of the room."""

        def know() -> None:
            room.known[self.number] = max(room.known.get(self.number, 0), length)

        self.station.put(self._deployment.work_us(moves / 2, 1), know, moves / 2, self._deployment.notice_us)

    def replied(self, queue: int, accepted: dict[int, list[int]], refused: dict[int, list[int]]) -> None:
        """Take the replies to a batch of a queue: answer the players, and decide again what met a conflict."""
        self.station.put(0.0, partial(self._under_way.discard, queue))
        for players in accepted.values():
            self._follow(players, self._deployment.deliver)
        for room, players in refused.items():
            self._follow(players, partial(self._wait, room))

    def _follow(self, players: list[int], action: Callable[[int], None]) -> None:
        def follow() -> None:
            for player in players:
                action(player)

        self.station.put(self._deployment.work_us(len(players) / 2, 1 - BUILDING_SHARE), follow, len(players) / 2)

    def _wait(self, room: int, player: int) -> None:
        waiting = self._waiting.setdefault(self._deployment.queue_of(room), {})
        waiting.setdefault(room, []).append(player)

    def _send_batches(self) -> None:
        for queue in [each for each in self._waiting if each not in self._under_way | self._timed]:
            due_us = self._due_us.get(queue, 0.0)
            if self._deployment.now < due_us and queue not in self._due:
                self._timed.add(queue)
                self.station.put_later(due_us - self._deployment.now, 0.0, partial(self._fire, queue))
                continue
            self._due.discard(queue)
            waiting = self._waiting.pop(queue)
            batch = {room: waiting.pop(room) for room in list(waiting)[:MAX_BATCH]}
            if waiting:
                self._waiting[queue] = waiting
            self._under_way.add(queue)
            building_us = self._deployment.work_us(0, BUILDING_SHARE * len(batch))
            sent_us = self.station.go_on(building_us, partial(self._deployment.append, self, batch))
            self._due_us[queue] = sent_us + (0.0 if waiting else BATCH_SECONDS * 1e6)

    def _fire(self, queue: int) -> None:
        """Let the batch of a queue be sent at the end of this turn."""
        self._timed.discard(queue)
        self._due.add(queue)
