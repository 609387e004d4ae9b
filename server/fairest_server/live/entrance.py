"""The way into a room: spectators who ask to watch, and players to whom the log has given a seat."""

from redis.exceptions import RedisError

from fairest_protocol.messages.options import Spectators
from fairest_protocol.messages.refusals import Refusal
from fairest_server.live.live_room import LiveRoom
from fairest_server.live.redis_clock import RedisClock
from fairest_server.live.registry import RoomRegistry
from fairest_server.live.room_tasks import RoomTasks
from fairest_server.live.subscribers import Subscriber
from fairest_server.ops.faults import contained
from fairest_server.ops.metrics import Part
from fairest_server.room.decide import refuse
from fairest_server.room.projection import StepHistory
from fairest_server.room.view import make_catchup


class Entrance:
    """Admits subscribers to the room that they enter: each is first sent the entries that it has missed."""

    def __init__(self, registry: RoomRegistry, clock: RedisClock, tasks: RoomTasks) -> None:
        self._registry = registry
        self._reader = registry.reader
        self._clock = clock
        self._tasks = tasks

    async def watch(self, code: str, subscriber: Subscriber) -> LiveRoom | None:
        """Show a spectator the room with this code. Raises RedisError.

        Returns None if the spectator is not admitted; it has been sent the reason. Safe to cancel.
        """
        registry = self._registry
        room = await registry.open_room(code)
        if room is None or room.state is None:
            subscriber.entry_refused(refuse("watch", Refusal.NO_SUCH_ROOM))
            return None
        if room.state.options.spectators is Spectators.CLOSED:
            subscriber.entry_refused(refuse("watch", Refusal.NO_SPECTATORS))
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

    def welcome(self, room: LiveRoom, subscriber: Subscriber) -> None:
        """Show a seated player the room: at once if its history is at hand, otherwise in a task that reads it."""
        if room.recent.steps is None:
            self._tasks.start(self._read_and_admit(room, subscriber), room.code)
        else:
            with contained(Part.ROOM, room=room.code):
                self._admit(room, room.recent.steps, subscriber)

    async def _read_and_admit(self, room: LiveRoom, subscriber: Subscriber) -> None:
        """Read the room's history, then admit the subscriber.

        If the log has entries that the room has not shown yet, the subscriber is shown them with all other subscribers.
        """
        async with self._reader.lock(room.code):
            # Spectators who come at the same moment wait for one read, and are admitted one by one.
            if room.recent.steps is None and room.subscribers.is_pending(subscriber):
                try:
                    await self._reader.load_history(room)
                except (RedisError, OSError):
                    room.disconnect(subscriber)
                    subscriber.entry_refused(refuse(subscriber.entry_kind, Refusal.TRY_AGAIN))
                    return
            if room.recent.steps is not None:
                self._admit(room, room.recent.steps, subscriber)

    def _admit(self, room: LiveRoom, history: StepHistory, subscriber: Subscriber) -> None:
        """Send the subscriber what it has missed of a history that goes up to what the room has shown."""
        if not room.subscribers.is_pending(subscriber):
            # The subscriber left, or was admitted, while the log was read.
            return
        seat = room.state.seat_of_connection(subscriber.connection_id) if room.state else None
        if seat is None and room.requests.has_entry_of(subscriber):
            # The subscriber left its seat and joined again while the log was read; the second join will admit it.
            return
        if seat is None and subscriber.entry_kind != "watch":
            room.unsubscribe(subscriber)
            subscriber.replaced()
            return
        catchup = make_catchup(room.code, history, seat, subscriber.seen_upto, self._clock.now_ms())
        room.subscribers.admit(seat, subscriber, catchup)
        if seat is not None and room.subscribers.is_complete:
            # All who reconnected together are here.
            room.recent.drop()
