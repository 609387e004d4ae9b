"""The timers of open rooms: deadlines, the tick of placed cards, and retries while Redis does not answer.

A timer only reminds a room to look. Its log says what is due, and Redis' clock has the last word. A timer that is lost
does no harm, since the sweep finds the room.
"""

import asyncio
from typing import Final

from fairest_protocol.messages.fields import TICK_SECONDS, Phase
from fairest_server.live.live_room import LiveRoom
from fairest_server.live.proposal import Request
from fairest_server.live.redis_clock import RedisClock
from fairest_server.live.subscribers import send_placed
from fairest_server.room.commands import ExpireDeadline
from fairest_server.room.state import Deadline, RoomState

RETRY_SECONDS: Final = 0.25
"""Between two attempts to reach a Redis that does not answer."""


class Timers:
    """The timers of all rooms of this process: at most one of each kind for a room."""

    def __init__(self, clock: RedisClock) -> None:
        self._clock = clock
        self._deadlines: dict[LiveRoom, tuple[int, asyncio.TimerHandle]] = {}
        self._ticks: dict[LiveRoom, asyncio.TimerHandle] = {}
        self._retries: dict[LiveRoom, asyncio.TimerHandle] = {}

    def set(self, room: LiveRoom) -> None:
        """Set the room's deadline and tick by its state."""
        self._set_deadline(room, room.deadline)
        if room not in self._ticks and room.state and room.state.phase is Phase.RACING:
            self._set_tick(room, room.state)

    def retry(self, room: LiveRoom) -> None:
        """Let the room read its log after RETRY_SECONDS, when Redis may be back."""
        if room not in self._retries:
            loop = asyncio.get_running_loop()
            self._retries[room] = loop.call_later(RETRY_SECONDS, self._try_again, room)

    def drop(self, room: LiveRoom) -> None:
        """Cancel the room's timers."""
        self._set_deadline(room, None)
        for timers in (self._ticks, self._retries):
            if room in timers:
                timers.pop(room).cancel()

    def _set_deadline(self, room: LiveRoom, deadline: Deadline | None) -> None:
        at_ms, timer = self._deadlines.get(room, (None, None))
        wanted_ms = deadline.at_ms if deadline else None
        if at_ms == wanted_ms:
            return
        if timer is not None:
            timer.cancel()
            del self._deadlines[room]
        if deadline is not None:
            # A room that waits for Redis would be reminded over and over of a deadline that has passed.
            earliest = RETRY_SECONDS if room.cursor.is_uncertain else 0.0
            delay = max(earliest, (deadline.at_ms - self._clock.now_ms()) / 1000)
            timer = asyncio.get_running_loop().call_later(delay, self._expire, room, deadline)
            self._deadlines[room] = (deadline.at_ms, timer)

    def _expire(self, room: LiveRoom, deadline: Deadline) -> None:
        del self._deadlines[room]
        room.submit(Request(ExpireDeadline(deadline.at_ms)))

    def _set_tick(self, room: LiveRoom, state: RoomState) -> None:
        """Set the next tick. Ticks count from the start of the race on Redis' clock, so all processes tick together."""
        since_start_ms = self._clock.now_ms() - (state.clocks.started_at_ms or 0)
        delay = TICK_SECONDS - (since_start_ms / 1000) % TICK_SECONDS
        self._ticks[room] = asyncio.get_running_loop().call_later(delay, self._tick, room)

    def _tick(self, room: LiveRoom) -> None:
        del self._ticks[room]
        send_placed(room.subscribers, room.state)
        if room.state and room.state.phase is Phase.RACING:
            self._set_tick(room, room.state)

    def _try_again(self, room: LiveRoom) -> None:
        del self._retries[room]
        room.catch_up()
