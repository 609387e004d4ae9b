"""A player of this process who waits for an opponent: its ticket, where it is, and its way into a room."""

from dataclasses import dataclass
from typing import Final, Literal, Protocol

from fairest_protocol.calculation.distance import PROCEDURE
from fairest_protocol.messages.codec import encode
from fairest_protocol.messages.from_client import Create, Join, Leave, Queue
from fairest_protocol.messages.from_server import Queued
from fairest_protocol.messages.options import RoomOptions
from fairest_server.edge.room_entry import EnteringClient
from fairest_server.live.pairing import Position
from fairest_server.live.proposal import Request
from fairest_server.room.commands import PlayerRequest
from fairest_server.store.players import Player
from fairest_server.store.tickets import Ticket

READY_SECONDS: Final = 60
"""The time to get ready in a room of the queue: both players are at their keyboards."""


class WaitingClient(EnteringClient, Protocol):
    """A client whose player waits for an opponent."""

    player: Player | None

    async def ask_for(self, entry: Create | Join, asked_by: Queue) -> None:
        """Ask for a seat as `entry` does, in answer to `asked_by`."""


@dataclass
class Seeker:
    """A waiting player of this process. `ticket` is as this process wrote it last."""

    client: WaitingClient
    message: Queue
    ticket: Ticket
    is_entering: bool = False
    is_leaving: bool = False
    """Whether it leaves a room to which no opponent came."""
    is_open: bool = False
    """Whether a program may join the room that it has asked for last. Its ticket waits on for a person meanwhile."""
    shown: int = 0
    """The number of waiting players that it was shown."""

    def show_waiting(self, count: int, request_id: str | None = None) -> None:
        """Show the player how many wait for its rules: as the answer to a request, or if the number has changed."""
        if request_id is not None or (count and count != self.shown and self.position is Position.OUTSIDE):
            self.shown = count
            ticket = self.ticket
            queued = Queued(id=request_id, rules=ticket.rules, since_ms=ticket.since_ms, waiting=count)
            self.client.show(encode(queued))

    @property
    def position(self) -> Position:
        """Where the player is by now."""
        room = self.client.room
        if self.is_entering or self.is_leaving:
            return Position.ON_THE_WAY
        if room is None:
            return Position.OUTSIDE
        if room.state is None or room.state.seat_of_connection(self.client.connection_id) is None:
            return Position.ON_THE_WAY
        if all(room.state.seats):
            return Position.TOGETHER
        return Position.OPEN if self.is_open else Position.ALONE

    @property
    def has_opponent(self) -> bool:
        """Whether the player is in a room, and so is an opponent."""
        room = self.client.room
        return room is not None and room.state is not None and all(room.state.seats)

    def rival_is_due(self, now_ms: int) -> bool:
        """Return whether the player has waited so long that a program may become the opponent."""
        seconds = self.message.rival_after_seconds
        return seconds is not None and not self.ticket.partner and now_ms - self.ticket.since_ms >= seconds * 1000

    def options_with(self, partner: Ticket) -> RoomOptions:
        """Return the options of a room with a partner: distance is credited if both clients know that."""
        return options_for(self.message, has_credit=self.ticket.has_credit and partner.has_credit)

    def create_for_rival(self) -> Create:
        """Return the request for a room in which a program may take the other seat at once; ours know the credit."""
        options = options_for(self.message, has_credit=self.ticket.has_credit)
        return Create(options=options, rival_after_seconds=0, rival_level=self.message.rival_level)

    async def enter(self, entry: Create | Join) -> None:
        """Ask for a seat. Until the room is asked, the player is on the way."""
        self.is_entering, self.is_open = True, isinstance(entry, Create) and entry.rival is not None
        try:
            await self.client.ask_for(entry, self.message)
        finally:
            self.is_entering = False

    def leave_room(self) -> None:
        """Leave the room, also if an earlier request was lost because Redis was away.

        A player to whom an opponent has come after all stays: leaving a race would lose it.
        """
        room = self.client.room
        if room is None or self.has_opponent:
            self.is_leaving = False
        elif not room.is_busy:
            room.submit(Request(PlayerRequest(self.client.connection_id, Leave())))

    def give_up_room(self) -> None:
        """Leave the room for a player who waits no more, unless an opponent has come.

        A seat that were kept for the player would be one to which the queue leads nobody.
        """
        room = self.client.room
        if room is not None and not self.has_opponent:
            room.submit(Request(PlayerRequest(self.client.connection_id, Leave())))


def options_for(message: Queue, *, has_credit: bool = False) -> RoomOptions:
    """Return the options of a room for a player that waits. The rules may be none that anybody plays."""
    credit: Literal[1] | None = PROCEDURE if has_credit else None
    return RoomOptions(rules=message.rules, listed=True, ready_seconds=READY_SECONDS, credit=credit)
