"""A clock of simulated events, and stations that work in turns on a bounded number of cores. Pure: no time, no chance.

Times are in microseconds. A station takes everything that waits for it into one turn, as an event loop does, and works
on one item after the other; each has its effects when its time is over. A station that has been idle finds less of its
data in the caches of its core, so its next turn takes longer.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from heapq import heappop, heappush

Action = Callable[[], None]


class Clock:
    """The events of a simulation, in the order of their times; those of the same time in the order of the calls."""

    def __init__(self) -> None:
        self.now = 0.0
        self._events: list[tuple[float, int, Action]] = []
        self._number = 0

    def at(self, time: float, action: Action) -> None:
        """Call `action` at `time`."""
        self._number += 1
        heappush(self._events, (time, self._number, action))

    def run(self, until: float = float("inf")) -> None:
        """Let all events up to a time happen, or all that there are."""
        while self._events and self._events[0][0] <= until:
            self.now, _, action = heappop(self._events)
            action()


class Cores:
    """The cores that stations share. A turn that finds none free waits for its place, first come, first served."""

    def __init__(self, count: int) -> None:
        self._free = count
        self._waiting: deque[Action] = deque()

    def take(self, begin: Action) -> None:
        """Call `begin` when a core is free, and leave it with `give_back`."""
        if self._free:
            self._free -= 1
            begin()
        else:
            self._waiting.append(begin)

    def give_back(self) -> None:
        """Give a core to the turn that has waited longest."""
        if self._waiting:
            self._waiting.popleft()()
        else:
            self._free += 1


@dataclass(frozen=True)
class Cooling:
    """The extra cost of a turn after a long idle time, and the idle time after which half of it is due."""

    most_us: float
    half_after_us: float


class Station:
    """A server process, a Redis, or the load: one thread with a queue."""

    def __init__(self, clock: Clock, cores: Cores, cooling: Cooling) -> None:
        self._clock = clock
        self._cores = cores
        self._cooling = cooling
        self._ended = 0.0
        self._queue: list[tuple[float, Action]] = []
        self._shared_us: float | None = None
        self._is_busy = False
        self.busy_us = 0.0
        """The CPU time so far."""
        self.coldness = 0.0
        """The sum over all turns: 0 for one that follows another at once, up to 1 after a long idle time."""
        self.shared = 0
        """The turns that had an item with a shared cost."""
        self.on_turn_end: Action = lambda: None
        """Called at the end of each turn, after what follows from its items."""

    def put(self, cost_us: float, action: Action, shared_us: float | None = None) -> None:
        """Let an item wait for the next turn; `action` follows when it is done.

        `shared_us` is a cost that all items of a turn that have one share, as they share a system call.
        """
        self._queue.append((cost_us, action))
        self._shared_us = self._shared_us if shared_us is None else shared_us
        if not self._is_busy:
            self._is_busy = True
            self._cores.take(self._begin)

    def _begin(self) -> None:
        items, self._queue = self._queue, []
        shared_us, self._shared_us = self._shared_us, None
        idle_us = self._clock.now - self._ended
        coldness = idle_us / (idle_us + self._cooling.half_after_us)
        done_at = self._clock.now + self._cooling.most_us * coldness + (shared_us or 0.0)
        for cost_us, action in items:
            done_at += cost_us
            self._clock.at(done_at, action)
        self._clock.at(done_at, self._end)
        self.busy_us += done_at - self._clock.now
        self.coldness += coldness
        self.shared += shared_us is not None

    def _end(self) -> None:
        self.on_turn_end()
        self._ended = self._clock.now
        self._is_busy = bool(self._queue)
        self._cores.give_back()
        if self._is_busy:
            self._cores.take(self._begin)
