"""The players and spectators of a room on this process, and what each is shown: the last step before the outbox.

There are three kinds of viewers: the two seats, and the spectators. Each kind that is present has its `View` of the
log. A message that several subscribers get is encoded once.
"""

from collections.abc import Sequence
from enum import Enum
from typing import Protocol

from fairest_protocol.messages.codec import encode
from fairest_protocol.messages.fast_encoding import encode_view
from fairest_protocol.messages.from_server import Accepted, Placed, Refused, Watching
from fairest_server.live.spectator_fanout import Later, SpectatorFanout
from fairest_server.room import view as views
from fairest_server.room.catchup import Catchup
from fairest_server.room.events import Attached, Detached, Played, SeatFreed, SeatTaken
from fairest_server.room.projection import project
from fairest_server.room.state import RoomState
from fairest_server.room.steps import Step
from fairest_server.room.view import ViewCursor


class DropReason(Enum):
    """The reason for which a client is sent away. But for a lost token, it connects again."""

    LOG_LOST = "the log is not the one that was shown"
    UNAVAILABLE = "this process cannot reach Redis"
    DRAINING = "this process drains"
    TOKEN_LOST = "its player has another token now"


class Subscriber(Protocol):
    """A connection that is shown a room, as a player or as a spectator."""

    @property
    def connection_id(self) -> str:
        """The id of the connection, unique among all processes."""

    @property
    def player_id(self) -> str:
        """The id of its player, which is the hash of the player's token."""

    @property
    def entry_kind(self) -> str:
        """The request by which it asked to enter: create, join, resume or watch."""

    @property
    def seen_upto(self) -> ViewCursor:
        """How far it has seen the room: the entries after that are sent; `ORIGIN` asks for a snapshot."""

    def show(self, data: bytes) -> None:
        """Send an encoded message."""

    def admitted(self, seat: int | None, log_length: int, missed: bytes) -> None:
        """Called when it is shown the room from here on, as the player in this seat or as a spectator.

        `missed` is the answer to its request: an encoded message with what it has missed. So many log entries were read
        for it, by itself or together with others.
        """

    def refused(self, answer: Refused) -> None:
        """Called when one of its requests was refused; if it was a request to enter, the subscriber is not admitted."""

    def replaced(self) -> None:
        """Called when a newer connection of the same player has the seat."""

    def unseated(self, *, has_asked: bool) -> None:
        """Called when it is in no room any more: it `has_asked` to leave, its seat was freed by time or the operator,
        or it is a spectator whose player has taken a seat elsewhere.
        """

    def sent_away(self, reason: DropReason) -> None:
        """Called when the room cannot be shown here any more: the client has to reconnect, here or elsewhere."""


class Subscribers:
    """The subscribers of one room in this process. `later` calls a function after a number of seconds."""

    __slots__ = ("_granted", "_pending", "_spectator_view", "latest", "seats", "spectators")

    def __init__(self, later: Later) -> None:
        self.seats: dict[int, tuple[Subscriber, views.View]] = {}
        """The player that is shown each seat, and its view of the log."""
        self.spectators: SpectatorFanout[Subscriber] = SpectatorFanout(later)
        self._spectator_view: views.View | None = None
        self._pending: dict[str, Subscriber] = {}
        """Those that asked to enter and are not shown the room yet, by connection id."""
        self._granted: set[str] = set()
        """The connection ids among them to which the log has given a seat since they asked. The others lose nothing
        when the log takes a seat from their connection: that is about an earlier request of theirs.
        """
        self.latest: dict[str, Placed | Watching] = {}
        """The newest message of each type that has no position; a subscriber is sent them when it is admitted."""

    @property
    def is_empty(self) -> bool:
        """Whether there are no subscribers, neither admitted nor pending."""
        return not (self.seats or self.spectators or self._pending)

    @property
    def is_complete(self) -> bool:
        """Whether both players are shown the room from this process, and no subscriber is pending."""
        return len(self.seats) == 2 and not self._pending

    def add_pending(self, subscriber: Subscriber) -> None:
        """Remember a subscriber that has asked to enter."""
        self._pending[subscriber.connection_id] = subscriber
        self._granted.discard(subscriber.connection_id)

    def is_pending(self, subscriber: Subscriber) -> bool:
        """Return whether the subscriber still waits to be admitted: it neither left nor was admitted meanwhile."""
        return subscriber.connection_id in self._pending

    def shows(self, subscriber: Subscriber) -> bool:
        """Return whether this subscriber is shown the room."""
        return subscriber in self.spectators or any(subscriber is player for player, _ in self.seats.values())

    def admit(self, seat: int | None, subscriber: Subscriber, catchup: Catchup, log_length: int = 0) -> None:
        """Send a subscriber what it has missed and the newest counts, and show it the room from here on."""
        del self._pending[subscriber.connection_id]
        self._granted.discard(subscriber.connection_id)
        subscriber.admitted(seat, log_length, catchup.text)
        for message in self.latest.values():
            subscriber.show(encode(message))
        if seat is not None:
            self.seats[seat] = subscriber, catchup.view
        else:
            # The view of other spectators has come just as far: both are functions of the log.
            self._spectator_view = catchup.view
            self.spectators.add(subscriber)

    def answer(self, subscriber: Subscriber, answer: Refused | Accepted) -> None:
        """Send the answer to a request. A refused request to enter also ends the subscription."""
        if not isinstance(answer, Refused):
            subscriber.show(encode(answer))
            return
        if answer.to in ("create", "join", "resume"):
            self.forget(subscriber)
        subscriber.refused(answer)

    def forget(self, subscriber: Subscriber) -> None:
        """Show this subscriber nothing more."""
        self.spectators.discard(subscriber)
        self._pending.pop(subscriber.connection_id, None)
        self._granted.discard(subscriber.connection_id)
        self.seats = {seat: shown for seat, shown in self.seats.items() if shown[0] is not subscriber}

    def drop_all(self, reason: DropReason) -> list[str]:
        """Send everybody away, to connect again. Returns the ids of the connections that end with this."""
        players = [player for player, _ in self.seats.values()]
        subscribers = [*players, *self.spectators, *self._pending.values()]
        self.seats, self._pending, self._granted = {}, {}, set()
        for subscriber in subscribers:
            self.spectators.discard(subscriber)
            subscriber.sent_away(reason)
        return [subscriber.connection_id for subscriber in subscribers]

    def show(self, steps: Sequence[Step]) -> list[Subscriber]:
        """Show everybody what they may see of these steps of the log; then let subscribers come and go with them.

        Returns the pending subscribers to which the log has given a seat: they are to be admitted.
        """
        projected = list(map(project, steps))
        for subscriber, view in self.seats.values():
            entries = view.reveal(*projected)
            if entries:
                subscriber.show(encode_view(view.position, entries, view.tag))
        if self._spectator_view is not None and self.spectators:
            entries = self._spectator_view.reveal(*projected)
            if entries:
                self.spectators.add_entries(entries, self._spectator_view.cursor)
        for step in steps:
            if not isinstance(step.event, Played):
                self._reseat(step)
        return self._newly_seated(steps) if self._pending else []

    def send_counts(self, message: Placed | Watching) -> None:
        """Send a message without a position, unless it is as the last one of its type."""
        if self.latest.get(message.type) == message:
            return
        self.latest[message.type] = message
        data = encode(message)
        for player, _ in self.seats.values():
            player.show(data)
        self.spectators.add_message(data)

    def _reseat(self, step: Step) -> None:
        """Drop the subscriber whose connection lost its seat by this step, and spectators who have sat down.

        The log names the connections, so all processes agree on which of them speaks for a seat.
        """
        event = step.event
        if isinstance(event, (SeatFreed, Detached)):
            # A lost connection was forgotten before. One that is detached here left the room after its race had ended.
            holder = step.before.seats[event.seat] if step.before else None
            subscriber = self._remove(event.seat, holder.connection_id if holder else None)
            if subscriber is not None and isinstance(event, Detached) and event.lapsed:
                subscriber.sent_away(DropReason.UNAVAILABLE)
            elif subscriber is not None:
                # The seat of a player who leaves after its race has ended is not freed: it is detached.
                subscriber.unseated(has_asked=isinstance(event, Detached) or event.reason == "left")
        elif isinstance(event, Attached):
            if event.link in self._pending:
                self._granted.add(event.link)
            shown = self.seats.get(event.seat)
            if shown is not None and shown[0].connection_id != event.link:
                del self.seats[event.seat]
                shown[0].replaced()
        elif isinstance(event, SeatTaken):
            # In an open room they would show the player the cards ahead.
            for spectator in [each for each in self.spectators if each.player_id == event.player]:
                self.spectators.discard(spectator)
                spectator.unseated(has_asked=False)

    def _newly_seated(self, steps: Sequence[Step]) -> list[Subscriber]:
        """Return the pending subscribers to which these steps gave a seat that they still have after them."""
        return [
            self._pending[step.event.link]
            for step in steps
            if isinstance(step.event, Attached) and step.event.link in self._pending
        ]

    def _remove(self, seat: int, connection_id: str | None) -> Subscriber | None:
        """Remove and return the subscriber that has this seat over this connection, admitted already or pending."""
        if seat in self.seats and self.seats[seat][0].connection_id == connection_id:
            return self.seats.pop(seat)[0]
        if connection_id not in self._granted:
            return None
        self._granted.discard(connection_id)
        return self._pending.pop(connection_id, None)


def send_placed(subscribers: Subscribers, state: RoomState | None) -> None:
    """Send the tick: how many cards each player has placed, if that differs from the last tick."""
    counts = views.placed(state) if state else None
    if counts is None:
        subscribers.latest.pop("placed", None)
    else:
        subscribers.send_counts(Placed(placed=counts))
