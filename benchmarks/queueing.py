"""A clock of simulated events, and stations that work in turns on a bounded number of cores. Pure: no time, no chance.

Times are in microseconds. A station takes everything that waits for it into one turn, as an event loop does, and works
on it for a fixed time (the wake-up) and a time for each item. An item has its effects at the end of the turn.
A station that has been idle finds less of its data in the caches of its core, so a wake-up takes longer then.
"""

from collections import deque
from collections.abc import Callable
from heapq import heappop, heappush

Action = Callable[[], None]
COLD_AFTER_US = 500.0
"""The idle time after which half of what a station had in the caches is gone: an assumption, not a measurement."""


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


class Station:
    """A server process, a Redis, or the load: one thread with a queue."""

    def __init__(self, clock: Clock, cores: Cores, wake_us: float, cold_us: float = 0.0) -> None:
        """`wake_us` is what a turn takes besides its items, and `cold_us` what it takes more after a long idle time."""
        self._clock = clock
        self._cores = cores
        self._wake_us = wake_us
        self._cold_us = cold_us
        self._ended = 0.0
        self._queue: list[tuple[float, Action]] = []
        self._is_busy = False
        self.busy_us = 0.0
        """The CPU time so far."""
        self.turns = 0
        self.coldness = 0.0
        """The sum over all turns: 0 for one that follows another at once, up to 1 after a long idle time."""
        self.on_turn_end: Action = lambda: None
        """Called at the end of each turn, after what follows from its items."""

    def put(self, cost_us: float, action: Action) -> None:
        """Let an item wait for the next turn; `action` follows at the end of that turn."""
        self._queue.append((cost_us, action))
        if not self._is_busy:
            self._is_busy = True
            self._cores.take(self._begin)

    def _begin(self) -> None:
        items, self._queue = self._queue, []
        idle_us = self._clock.now - self._ended
        coldness = idle_us / (idle_us + COLD_AFTER_US)
        lasts_us = self._wake_us + self._cold_us * coldness + sum(cost_us for cost_us, _ in items)
        self.coldness += coldness
        self.busy_us += lasts_us
        self.turns += 1
        self._clock.at(self._clock.now + lasts_us, lambda: self._end(items))

    def _end(self, items: list[tuple[float, Action]]) -> None:
        for _, action in items:
            action()
        self.on_turn_end()
        self._ended = self._clock.now
        self._is_busy = bool(self._queue)
        self._cores.give_back()
        if self._is_busy:
            self._cores.take(self._begin)
