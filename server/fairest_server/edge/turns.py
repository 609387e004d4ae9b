"""Turns: connections that have something to do share a small part of each turn of the event loop.

Without that, 64 KiB of empty frames from one client take 25 ms in one go, and two hundred such clients five seconds.
Whatever two hundred clients can make due at the same time takes turns: parsing, handing messages to sessions, reading
after a pause, handshakes, and ends of connections.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final, Protocol

TURN_SECONDS: Final = 0.0002
"""The time in which bytes are parsed in one turn of the event loop, for all connections together."""
TURN_MESSAGES: Final = 2
"""Messages that are handed to sessions in one turn of the event loop: to handle one takes up to 0.1 ms.

A move that arrives meanwhile waits for the rest of this turn, its batch and the reply of Redis for one more each.
"""


class TurnTaker(Protocol):
    """A connection that has something to do."""

    def take_turn(self) -> int:
        """Do one piece of it; return how many messages that costs as much as, besides the time that this call takes."""


class Turns:
    """The connections of a process that have something to do, in the order in which they asked for a turn."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._waiting: OrderedDict[TurnTaker, None] = OrderedDict()
        self._is_scheduled = False

    def add(self, taker: TurnTaker) -> None:
        """Let `taker` take a turn soon, one however often it asks. One that has more to do then adds itself again."""
        self._waiting[taker] = None
        self._schedule()

    def _schedule(self) -> None:
        if self._waiting and not self._is_scheduled:
            self._is_scheduled = True
            asyncio.get_running_loop().call_soon(self._run)

    def _run(self) -> None:
        self._is_scheduled = False
        until, messages = self._clock() + TURN_SECONDS, 0
        try:
            while self._waiting and messages < TURN_MESSAGES and self._clock() < until:
                messages += self._waiting.popitem(last=False)[0].take_turn()
        finally:
            self._schedule()
