"""A clock of simulated events, and stations that work in turns on a bounded number of cores. Pure: no time, no chance.

Times are in microseconds. A station takes everything that waits for it into one turn, as an event loop does, and works
on one item after the other; each has its effects when its time is over. A station that sleeps wakes some time after
something has come for it, or when a timer of its own fires. One that has been idle finds less of its data in the caches
of its core, so its next turn takes longer; one whose core was used by another station meanwhile finds nothing there, so
each item of its next turn takes longer.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from heapq import heappop, heappush
from itertools import count
from typing import Final

Action = Callable[[], None]
Begin = Callable[[bool], None]
_Item = tuple[float, float, Action]
"""The cost of an item in microseconds, its units of work, and what follows."""
TICK_US: Final = 1_000.0
"""The resolution of the timers of an event loop. uvloop rounds the wait of a timer to it, libuv compares only whole
milliseconds, and the system is asked to wait whole milliseconds from the end of a turn on.
"""


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
    """The cores that stations share. A turn that finds none free waits for its place.

    A core that becomes free goes to the turn that has waited longest, or, if `stays` says so, to that of a station that
    had this core last, if one waits. `begin` of a turn is told whether another station has used its core since the
    station's own last turn.
    """

    def __init__(self, count: int, stays: Callable[[], bool] = lambda: False) -> None:
        self._stays = stays
        self._users: list[object] = [None] * count
        """The station that has each core, or that had it last."""
        self._free = set(range(count))
        self._waiting: deque[tuple[object, Begin]] = deque()
        self._homes: dict[object, int] = {}
        """The core that each station had last."""

    @property
    def has_free(self) -> bool:
        """Whether a turn would find a core."""
        return bool(self._free)

    def take(self, user: object, begin: Begin) -> None:
        """Call `begin` when a core is free, the one that `user` had last if that is; leave it with `give_back`."""
        home = self._homes.get(user)
        if home in self._free:
            self._start(home, user, begin)
        elif self._free:
            self._start(min(self._free), user, begin)
        else:
            self._waiting.append((user, begin))

    def give_back(self, user: object) -> None:
        """Give the core of `user` to a turn that waits."""
        core = self._homes[user]
        self._free.add(core)
        if not self._waiting:
            return
        chosen = self._waiting[0]
        if self._stays():
            chosen = next((each for each in self._waiting if self._homes.get(each[0]) == core), chosen)
        self._waiting.remove(chosen)
        self._start(core, *chosen)

    def _start(self, core: int, user: object, begin: Begin) -> None:
        is_displaced = self._users[core] is not user
        self._free.discard(core)
        self._users[core], self._homes[user] = user, core
        begin(is_displaced)


@dataclass(frozen=True)
class Cooling:
    """The extra cost of a turn after a long idle time, and the idle time after which half of it is due.

    `displaced_us` is the extra cost of each unit of work on a core that another station has used since the last one,
    and `turn_us` the cost of every turn. `wake_us` is the time that a station which sleeps takes to wake on a core that
    is free; it costs nothing.
    """

    most_us: float
    half_after_us: float
    displaced_us: float = 0.0
    turn_us: float = 0.0
    wake_us: float = 0.0


class Station:
    """A server process, a Redis, or the load: one thread with a queue."""

    def __init__(self, clock: Clock, cores: Cores, cooling: Cooling) -> None:
        self._clock = clock
        self._cores = cores
        self._cooling = cooling
        self._ended = 0.0
        self._ends_at = 0.0
        """When the turn that is at its end will be over."""
        self._timers: list[tuple[float, int, _Item]] = []
        """A heap: the tick at which each timer fires, its number, and its item."""
        self._numbers = count()
        self._sleeps = 0
        """How often a sleep has begun or ended, so that a timer of an earlier one wakes nobody."""
        self._queue: list[_Item] = []
        self._shared_us: float | None = None
        self._is_busy = False
        self.busy_us = 0.0
        """The CPU time so far."""
        self.turns = 0
        self.coldness = 0.0
        """The sum over all turns: 0 for one that follows another at once, up to 1 after a long idle time."""
        self.displaced = 0.0
        """The units of work on a core that was used by another station."""
        self.shared = 0
        """The turns that had an item with a shared cost."""
        self.on_turn_end: Action = lambda: None
        """Called at the end of each turn, after what follows from its items."""

    def put(self, cost_us: float, action: Action, units: float = 0.0, shared_us: float | None = None) -> None:
        """Let an item wait for the next turn; `action` follows when it is done.

        `units` says how much work on data it is. `shared_us` is a cost that all items of a turn that have one share, as
        they share a system call.
        """
        self._queue.append((cost_us, units, action))
        self._shared_us = self._shared_us if shared_us is None else shared_us
        self._wake()

    def put_later(self, wait_us: float, cost_us: float, action: Action, units: float = 0.0) -> None:
        """Let an item wait for the turn in which a timer of `wait_us` fires."""
        tick = self._tick + round(wait_us / TICK_US)
        heappush(self._timers, (tick, next(self._numbers), (cost_us, units, action)))
        self._sleep()

    def go_on(self, cost_us: float, action: Action) -> float:
        """Do one thing more in the turn that is at its end, let `action` follow, and return when. For `on_turn_end`."""
        self._ends_at += cost_us
        self.busy_us += cost_us
        self._clock.at(self._ends_at, action)
        return self._ends_at

    @property
    def _tick(self) -> float:
        return self._clock.now // TICK_US

    @property
    def _has_due_timer(self) -> bool:
        return bool(self._timers) and self._timers[0][0] <= self._tick

    def _wake(self) -> None:
        if not self._is_busy:
            self._is_busy = True
            self._sleeps += 1
            take = partial(self._cores.take, self, self._begin)
            if self._cores.has_free:
                self._clock.at(self._clock.now + self._cooling.wake_us, take)
            else:
                take()

    def _sleep(self) -> None:
        """Sleep until the next timer, unless something comes before it."""
        if self._timers and not self._is_busy:
            self._sleeps += 1
            wait_us = max(0.0, self._timers[0][0] - self._tick) * TICK_US
            self._clock.at(self._clock.now + wait_us, partial(self._end_sleep, self._sleeps))

    def _end_sleep(self, number: int) -> None:
        if number == self._sleeps:
            self._wake()

    def _begin(self, is_displaced: bool) -> None:
        while self._has_due_timer:
            self._queue.append(heappop(self._timers)[2])
        items, self._queue = self._queue, []
        shared_us, self._shared_us = self._shared_us, None
        idle_us = self._clock.now - self._ended
        coldness = idle_us / (idle_us + self._cooling.half_after_us)
        done_at = self._clock.now + self._cooling.turn_us + self._cooling.most_us * coldness + (shared_us or 0.0)
        for cost_us, units, action in items:
            done_at += cost_us
            if is_displaced:
                self.displaced += units
                done_at += units * self._cooling.displaced_us
            self._clock.at(done_at, action)
        self._clock.at(done_at, self._end)
        self.busy_us += done_at - self._clock.now
        self.turns += 1
        self.coldness += coldness
        self.shared += shared_us is not None

    def _end(self) -> None:
        self._ends_at = self._clock.now
        self.on_turn_end()
        if self._ends_at > self._clock.now:
            self._clock.at(self._ends_at, self._leave)
        else:
            self._leave()

    def _leave(self) -> None:
        self._ended = self._clock.now
        self._is_busy = bool(self._queue) or self._has_due_timer
        self._cores.give_back(self)
        if self._is_busy:
            self._cores.take(self, self._begin)
        else:
            self._sleep()
