"""Who follows a room from this process, and what each of them is shown: the last step before the outbox.

There are three kinds of viewers, the two seats and the spectators. Each kind that is here has its `View` of the log. A
message for all who see the same is encoded once.
"""

from collections.abc import Sequence
from typing import Protocol

from fairest_protocol.messages.codec import encode
from fairest_protocol.messages.fast_encoding import encode_view
from fairest_protocol.messages.from_server import Placed, Refused
from fairest_server.live.spectator_fanout import Later, SpectatorFanout
from fairest_server.room import view as seen
from fairest_server.room.events import Attached, Detached, Played, SeatFreed
from fairest_server.room.projection import project
from fairest_server.room.state import RoomState
from fairest_server.room.steps import Step
from fairest_server.room.view import ViewCursor


class Subscriber(Protocol):
    """Somebody connected who is shown a room: a player over a link, or a spectator."""

    @property
    def connection_id(self) -> str:
        """The name of this connection, unlike that of any other in any process."""

    @property
    def entry_kind(self) -> str:
        """What it asked for: create, join, resume or watch."""

    @property
    def seen_upto(self) -> ViewCursor:
        """How far this follower has seen the room, which it wants to go on from; nothing asks for a snapshot."""

    def show(self, data: bytes) -> None:
        """Send an encoded message."""

    def replaced(self) -> None:
        """A newer connection speaks for the seat now."""

    def unseated(self) -> None:
        """The seat was freed."""

    def admitted(self, seat: int | None) -> None:
        """It is shown the room from here on, as who has this seat or as a spectator."""

    def entry_refused(self, answer: Refused) -> None:
        """What was asked for is not to be had, and this is said about it."""

    def log_lost(self) -> None:
        """The room that was shown is not the one that the log holds: come again."""

    def unavailable(self) -> None:
        """The room cannot be served here right now: come again, here or elsewhere."""


class Subscribers:
    """The followers of one room. `later` calls something after so many seconds."""

    __slots__ = ("_pending", "_placed_sent", "_seats", "_spectator_view", "_spectators")

    def __init__(self, later: Later) -> None:
        self._seats: dict[int, tuple[Subscriber, seen.View]] = {}
        self._spectators: SpectatorFanout[Subscriber] = SpectatorFanout(later)
        self._spectator_view: seen.View | None = None
        self._pending: dict[str, Subscriber] = {}
        self._placed_sent: tuple[int, int] | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nobody follows the room or is about to."""
        return not (self._seats or self._spectators or self._pending)

    @property
    def is_complete(self) -> bool:
        """Whether both players are shown the room from this process, and nobody else waits for that."""
        return len(self._seats) == 2 and not self._pending

    def add_pending(self, subscriber: Subscriber) -> None:
        """Remember a follower that has asked for the room and is not shown it yet."""
        self._pending[subscriber.connection_id] = subscriber

    def is_pending(self, subscriber: Subscriber) -> bool:
        """Whether the follower still waits to be shown the room: it has not left, nor been shown it meanwhile."""
        return subscriber.connection_id in self._pending

    def shows(self, subscriber: Subscriber) -> bool:
        """Whether this follower is shown the room."""
        return subscriber in self._spectators or any(subscriber is player for player, _ in self._seats.values())

    def admit(self, seat: int | None, subscriber: Subscriber, introduction: seen.Catchup) -> None:
        """Show a follower what it has missed, the last tick's counts among it, and let it follow from here on."""
        del self._pending[subscriber.connection_id]
        subscriber.admitted(seat)
        subscriber.show(introduction.text)
        if self._placed_sent is not None:
            subscriber.show(encode(Placed(placed=self._placed_sent)))
        if seat is not None:
            self._seats[seat] = subscriber, introduction.view
        else:
            # Another spectator's view has come as far: both are functions of the log.
            self._spectator_view = introduction.view
            self._spectators.add(subscriber)

    def refuse_entry(self, subscriber: Subscriber, answer: Refused) -> None:
        """The follower does not get what it asked for."""
        self.forget(subscriber)
        subscriber.entry_refused(answer)

    def forget(self, subscriber: Subscriber) -> None:
        """Show this follower nothing more."""
        self._spectators.discard(subscriber)
        self._pending.pop(subscriber.connection_id, None)
        self._seats = {seat: shown for seat, shown in self._seats.items() if shown[0] is not subscriber}

    def lose(self) -> list[str]:
        """The room is not the one that was shown: everybody has to come again. Returns the links that end with this."""
        subscribers = self._take_all()
        for subscriber in subscribers:
            subscriber.log_lost()
        return [subscriber.connection_id for subscriber in subscribers]

    def send_away(self) -> list[str]:
        """The room cannot be served here right now. Returns the links that end with this."""
        subscribers = self._take_all()
        for subscriber in subscribers:
            subscriber.unavailable()
        return [subscriber.connection_id for subscriber in subscribers]

    def show(self, steps: Sequence[Step]) -> list[Subscriber]:
        """The log has these steps: everybody sees what they may see of them, then followers come and go.

        Returns those who came: who were expected, and have been given a seat.
        """
        told = [project(step) for step in steps]
        for subscriber, view in self._seats.values():
            entries = view.reveal(*told)
            if entries:
                subscriber.show(encode_view(view.position - len(entries) + 1, entries, view.tag))
        if self._spectator_view is not None and self._spectators:
            entries = self._spectator_view.reveal(*told)
            if entries:
                self._spectators.reveal(entries, self._spectator_view.cursor)
        for step in steps:
            if not isinstance(step.event, Played):
                self._reseat(step)
        return self._who_came(steps) if self._pending else []

    def send_placed(self, state: RoomState | None) -> None:
        """The tick: how many cards each player has placed, if that is not what was told before."""
        counts = seen.placed(state) if state else None
        if counts is not None and counts != self._placed_sent:
            data = encode(Placed(placed=counts))
            for player, _ in self._seats.values():
                player.show(data)
            self._spectators.tell(data)
        self._placed_sent = counts

    def _reseat(self, step: Step) -> None:
        """Followers come and go with the links that the log names, so every process agrees on who speaks for a seat."""
        event = step.event
        if isinstance(event, (SeatFreed, Detached)):
            # A lost connection's follower is gone by now: who is detached here left after its race had ended.
            holder = step.before.seats[event.seat] if step.before else None
            subscriber = self._take_away(event.seat, holder.connection_id if holder else None)
            if subscriber is not None and isinstance(event, Detached) and event.lapsed:
                subscriber.unavailable()
            elif subscriber is not None:
                subscriber.unseated()
        elif isinstance(event, Attached):
            shown = self._seats.get(event.seat)
            if shown is not None and shown[0].connection_id != event.link:
                del self._seats[event.seat]
                shown[0].replaced()

    def _who_came(self, steps: Sequence[Step]) -> list[Subscriber]:
        """Those whom the log has given a seat. Who left again right behind that is expected no more."""
        return [
            self._pending[step.event.link]
            for step in steps
            if isinstance(step.event, Attached) and step.event.link in self._pending
        ]

    def _take_all(self) -> list[Subscriber]:
        players = [player for player, _ in self._seats.values()]
        subscribers = [*players, *self._spectators, *self._pending.values()]
        self._seats, self._pending = {}, {}
        for subscriber in subscribers:
            self._spectators.discard(subscriber)
        return subscribers

    def _take_away(self, seat: int, connection_id: str | None) -> Subscriber | None:
        """The follower that spoke for this seat over this link, shown the room already or not."""
        if seat in self._seats and self._seats[seat][0].connection_id == connection_id:
            return self._seats.pop(seat)[0]
        return self._pending.pop(connection_id, None) if connection_id else None
