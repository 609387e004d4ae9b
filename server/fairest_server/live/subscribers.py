"""Who follows a room from this process, and what each of them is shown: the last step before the outbox.

There are three kinds of viewers, the two seats and the spectators. Each kind that is here has its `View` of the log. A
message for all who see the same is encoded once.
"""

from collections.abc import Sequence
from typing import Protocol

from fairest_protocol.messages.codec import encode
from fairest_protocol.messages.fast_encoding import encode_view
from fairest_protocol.messages.from_server import Placed, Refused
from fairest_server.live.spectator_fanout import Crowd, Later
from fairest_server.room import view as seen
from fairest_server.room.events import Attached, Detached, Played, SeatFreed
from fairest_server.room.news import Step, tell
from fairest_server.room.state import RoomState
from fairest_server.room.view import Mark


class Follower(Protocol):
    """Somebody connected who is shown a room: a player over a link, or a spectator."""

    @property
    def link(self) -> str:
        """The name of this connection, unlike that of any other in any process."""

    @property
    def errand(self) -> str:
        """What it asked for: create, join, resume or watch."""

    @property
    def seen_upto(self) -> Mark:
        """How far this follower has seen the room, which it wants to go on from; nothing asks for a snapshot."""

    def show(self, data: bytes) -> None:
        """Send an encoded message."""

    def replaced(self) -> None:
        """A newer connection speaks for the seat now."""

    def unseated(self) -> None:
        """The seat was freed."""

    def introduced(self, seat: int | None) -> None:
        """It is shown the room from here on, as who has this seat or as a spectator."""

    def turned_away(self, answer: Refused) -> None:
        """What was asked for is not to be had, and this is said about it."""

    def lost(self) -> None:
        """The room that was shown is not the one that the log holds: come again."""

    def sent_away(self) -> None:
        """The room cannot be served here right now: come again, here or elsewhere."""


class Audience:
    """The followers of one room. `later` calls something after so many seconds."""

    __slots__ = ("_crowd", "_crowd_view", "_expected", "_seats", "_told_placed")

    def __init__(self, later: Later) -> None:
        self._seats: dict[int, tuple[Follower, seen.View]] = {}
        self._crowd: Crowd[Follower] = Crowd(later)
        self._crowd_view: seen.View | None = None
        self._expected: dict[str, Follower] = {}
        self._told_placed: tuple[int, int] | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nobody follows the room or is about to."""
        return not (self._seats or self._crowd or self._expected)

    @property
    def is_complete(self) -> bool:
        """Whether both players are shown the room from this process, and nobody else waits for that."""
        return len(self._seats) == 2 and not self._expected

    def expect(self, follower: Follower) -> None:
        """Remember a follower that has asked for the room and is not shown it yet."""
        self._expected[follower.link] = follower

    def is_expected(self, follower: Follower) -> bool:
        """Whether the follower still waits to be shown the room: it has not left, nor been shown it meanwhile."""
        return follower.link in self._expected

    def shows(self, follower: Follower) -> bool:
        """Whether this follower is shown the room."""
        return follower in self._crowd or any(follower is player for player, _ in self._seats.values())

    def introduce(self, seat: int | None, follower: Follower, introduction: seen.Introduction) -> None:
        """Show a follower what it has missed, the last tick's counts among it, and let it follow from here on."""
        del self._expected[follower.link]
        follower.introduced(seat)
        follower.show(introduction.text)
        if self._told_placed is not None:
            follower.show(encode(Placed(placed=self._told_placed)))
        if seat is not None:
            self._seats[seat] = follower, introduction.view
        else:
            # Another spectator's view has come as far: both are functions of the log.
            self._crowd_view = introduction.view
            self._crowd.add(follower)

    def turn_away(self, follower: Follower, answer: Refused) -> None:
        """The follower does not get what it asked for."""
        self.forget(follower)
        follower.turned_away(answer)

    def forget(self, follower: Follower) -> None:
        """Show this follower nothing more."""
        self._crowd.discard(follower)
        self._expected.pop(follower.link, None)
        self._seats = {seat: shown for seat, shown in self._seats.items() if shown[0] is not follower}

    def lose(self) -> list[str]:
        """The room is not the one that was shown: everybody has to come again. Returns the links that end with this."""
        followers = self._take_all()
        for follower in followers:
            follower.lost()
        return [follower.link for follower in followers]

    def send_away(self) -> list[str]:
        """The room cannot be served here right now. Returns the links that end with this."""
        followers = self._take_all()
        for follower in followers:
            follower.sent_away()
        return [follower.link for follower in followers]

    def show(self, steps: Sequence[Step]) -> list[Follower]:
        """The log has these steps: everybody sees what they may see of them, then followers come and go.

        Returns those who came: who were expected, and have been given a seat.
        """
        told = [tell(step) for step in steps]
        for follower, view in self._seats.values():
            entries = view.see(*told)
            if entries:
                follower.show(encode_view(view.position - len(entries) + 1, entries, view.tag))
        if self._crowd_view is not None and self._crowd:
            entries = self._crowd_view.see(*told)
            if entries:
                self._crowd.see(entries, self._crowd_view.mark)
        for step in steps:
            if not isinstance(step.event, Played):
                self._reseat(step)
        return self._who_came(steps) if self._expected else []

    def tell_placed(self, state: RoomState | None) -> None:
        """The tick: how many cards each player has placed, if that is not what was told before."""
        counts = seen.placed(state) if state else None
        if counts is not None and counts != self._told_placed:
            data = encode(Placed(placed=counts))
            for player, _ in self._seats.values():
                player.show(data)
            self._crowd.tell(data)
        self._told_placed = counts

    def _reseat(self, step: Step) -> None:
        """Followers come and go with the links that the log names, so every process agrees on who speaks for a seat."""
        event = step.event
        if isinstance(event, (SeatFreed, Detached)):
            # A lost connection's follower is gone by now: who is detached here left after its race had ended.
            holder = step.before.seats[event.seat] if step.before else None
            follower = self._take_away(event.seat, holder.link if holder else None)
            if follower is not None and isinstance(event, Detached) and event.lapsed:
                follower.sent_away()
            elif follower is not None:
                follower.unseated()
        elif isinstance(event, Attached):
            shown = self._seats.get(event.seat)
            if shown is not None and shown[0].link != event.link:
                del self._seats[event.seat]
                shown[0].replaced()

    def _who_came(self, steps: Sequence[Step]) -> list[Follower]:
        """Those whom the log has given a seat. Who left again right behind that is expected no more."""
        return [
            self._expected[step.event.link]
            for step in steps
            if isinstance(step.event, Attached) and step.event.link in self._expected
        ]

    def _take_all(self) -> list[Follower]:
        players = [player for player, _ in self._seats.values()]
        followers = [*players, *self._crowd, *self._expected.values()]
        self._seats, self._expected = {}, {}
        for follower in followers:
            self._crowd.discard(follower)
        return followers

    def _take_away(self, seat: int, link: str | None) -> Follower | None:
        """The follower that spoke for this seat over this link, shown the room already or not."""
        if seat in self._seats and self._seats[seat][0].link == link:
            return self._seats.pop(seat)[0]
        return self._expected.pop(link, None) if link else None
