"""The way into a room: spectators who ask to watch, and players to whom the log has given a seat."""

from typing import Final

from redis.exceptions import RedisError

from fairest_protocol.calculation.sliced import Sliced, finish
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.options import Spectators
from fairest_protocol.messages.refusals import Refusal
from fairest_server.live.live_room import LiveRoom
from fairest_server.live.redis_clock import RedisClock
from fairest_server.live.registry import RoomRegistry
from fairest_server.live.room_tasks import RoomTasks
from fairest_server.live.slices import Slices
from fairest_server.live.subscribers import Subscriber
from fairest_server.ops.faults import contained
from fairest_server.ops.metrics import Part
from fairest_server.room.catchup import Catchup, catching_up
from fairest_server.room.projection import StepHistory
from fairest_server.room.refusing import refuse
from fairest_server.room.view import ORIGIN

AT_ONCE_STEPS: Final = 50
"""A snapshot of so many steps takes 1 ms; a longer one is made in slices."""
_NOT_ADMITTED: Final = -1
"""In place of a seat: the subscriber is not admitted, or is admitted by another call."""


class NoRoom(LookupError):
    """There is no room with this code."""


class Entrance:
    """Admits subscribers to the room that they enter: each is first sent the entries that it has missed."""

    def __init__(self, registry: RoomRegistry, clock: RedisClock, tasks: RoomTasks, slices: Slices) -> None:
        self._registry = registry
        self._reader = registry.reader
        self._clock = clock
        self._tasks = tasks
        self._slices = slices

    async def watch(self, code: str, subscriber: Subscriber) -> LiveRoom | None:
        """Show a spectator the room with this code. Raises RedisError.

        Returns None if the spectator is not admitted; it has been sent the reason. Safe to cancel.
        """
        registry = self._registry
        room = await registry.open_room(code)
        if room is None or room.state is None:
            subscriber.refused(refuse("watch", Refusal.NO_SUCH_ROOM))
            return None
        if room.state.options.spectators is Spectators.CLOSED:
            subscriber.refused(refuse("watch", Refusal.NO_SPECTATORS))
            registry.on_change(room)
            return None
        room.subscribers.add_pending(subscriber)
        try:
            await self._reader.catch_up_to_end(room)
            await self._read_and_admit(room, subscriber)
        finally:
            if not room.subscribers.shows(subscriber):
                room.unsubscribe(subscriber)
        return room if room.subscribers.shows(subscriber) else None

    async def show_once(self, code: str) -> tuple[bytes, int]:
        """Return the `snapshot` that a spectator of this room would be sent now, and the number of steps behind it.

        The caller does not know who asks. So it is empty for a room that is closed to spectators, and for one that is
        open: its spectators see everything, and its own players must not. Nobody is admitted, and the room is dropped
        if nobody is in it. Raises RedisError, and `NoRoom`. Safe to cancel.
        """
        registry = self._registry
        room = await registry.open_room(code)
        if room is None or room.state is None:
            raise NoRoom(code)
        try:
            if room.state.options.spectators is not Spectators.HORIZON:
                return b"", 0
            await self._reader.catch_up_to_end(room)
            async with self._reader.lock(code):
                if room.recent.steps is None:
                    await self._reader.load_history(room)
                history = room.recent.steps
            if history is None:
                return b"", 0
            catchup = await self._slices.finish(catching_up(code, history, None, ORIGIN, self._clock.now_ms))
            return catchup.text, len(history.steps)
        finally:
            registry.on_change(room)

    def welcome(self, room: LiveRoom, subscriber: Subscriber) -> None:
        """Show a seated player the room: at once if a short history is at hand, otherwise in a task."""
        history = room.recent.steps
        if history is None or history.length_of_scene > AT_ONCE_STEPS:
            self._tasks.start(self._read_and_admit(room, subscriber), room.code)
            return
        with contained(Part.ROOM, room=room.code):
            seat = self._seat_for(room, subscriber)
            if seat is not _NOT_ADMITTED:
                self._admit(room, subscriber, seat, finish(self._catching_up(room, history, seat, subscriber)))

    async def _read_and_admit(self, room: LiveRoom, subscriber: Subscriber) -> None:
        """Read the room's history, then admit the subscriber.

        If the log has entries that the room has not shown yet, the subscriber is shown them with all other subscribers.
        """
        async with self._reader.lock(room.code):
            # Spectators who come at the same moment wait for one read, and are admitted one by one.
            while room.subscribers.is_pending(subscriber):
                if room.recent.steps is None:
                    try:
                        await self._reader.load_history(room)
                    except (RedisError, OSError):
                        # A player has its seat by now, which the report of the disconnect may leave.
                        has_seat = subscriber.entry_kind != "watch"
                        room.disconnect(subscriber)
                        code = Refusal.IN_DOUBT if has_seat else Refusal.TRY_AGAIN
                        subscriber.refused(refuse(subscriber.entry_kind, code))
                        return
                history, seat = room.recent.steps, self._seat_for(room, subscriber)
                if history is None or seat is _NOT_ADMITTED:
                    return
                catchup = await self._slices.finish(self._catching_up(room, history, seat, subscriber))
                # In the meantime the room may have moved on without this history, or given the seat to another.
                if room.recent.steps is history and self._seat_for(room, subscriber) == seat:
                    self._admit(room, subscriber, seat, catchup)

    def _seat_for(self, room: LiveRoom, subscriber: Subscriber) -> int | None:
        """Return the seat at which the subscriber is admitted, None for a spectator; _NOT_ADMITTED if it is not."""
        if not room.subscribers.is_pending(subscriber):
            # The subscriber left, or was admitted, while the log was read.
            return _NOT_ADMITTED
        seat = room.state.seat_of_connection(subscriber.connection_id) if room.state else None
        if seat is None and room.requests.has_entry_of(subscriber):
            # The subscriber left its seat and joined again while the log was read; the second join will admit it.
            return _NOT_ADMITTED
        if subscriber.entry_kind == "watch" and is_seated(room, subscriber):
            room.unsubscribe(subscriber)
            subscriber.refused(refuse("watch", Refusal.ALREADY_SEATED))
            return _NOT_ADMITTED
        if seat is None and subscriber.entry_kind != "watch":
            room.unsubscribe(subscriber)
            subscriber.replaced()
            return _NOT_ADMITTED
        return seat

    def _catching_up(
        self, room: LiveRoom, history: StepHistory, seat: int | None, subscriber: Subscriber
    ) -> Sliced[Catchup]:
        return catching_up(room.code, history, seat, subscriber.seen_upto, self._clock.now_ms)

    def _admit(self, room: LiveRoom, subscriber: Subscriber, seat: int | None, catchup: Catchup) -> None:
        """Send the subscriber what it has missed of a history that goes up to what the room has shown."""
        room.subscribers.admit(seat, subscriber, catchup, room.cursor.length)
        if seat is not None and room.subscribers.is_complete:
            # All who reconnected together are here.
            room.recent.drop()


def is_seated(room: LiveRoom, subscriber: Subscriber) -> bool:
    """Return whether the player of this subscriber has a seat in the room, over any connection or none."""
    state = room.state
    return state is not None and state.phase is not Phase.CLOSED and state.seat_of(subscriber.player_id) is not None
