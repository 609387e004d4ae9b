"""The requests of a live room: those that wait to be decided, and those whose append is in flight."""

from collections.abc import Sequence

from fairest_server.live.proposal import Request
from fairest_server.live.subscribers import Subscriber
from fairest_server.room.commands import CreateRoom, Disconnect, ExpireDeadline, TakeSeat


class RequestQueue:
    """The requests of one room, in the order in which they came."""

    __slots__ = ("in_flight", "waiting")

    def __init__(self) -> None:
        self.waiting: list[Request] = []
        """Those that the next poll decides."""
        self.in_flight: Sequence[Request] = ()
        """Those that are being decided, or whose events Redis has been sent."""

    def take(self) -> bool:
        """Put in flight what is decided next: an expired deadline alone, otherwise everything that waits.

        All other requests are judged on the state that the deadline leads to. Returns whether it is a deadline.
        """
        waiting = self.waiting
        for place, request in enumerate(waiting):
            if isinstance(request.command, ExpireDeadline):
                del waiting[place]
                self.in_flight = [request]
                return True
        self.in_flight, self.waiting = waiting, []
        return False

    def put_back(self, *first: Request) -> None:
        """Let the requests in flight wait again, after `first`, and before all that came later."""
        self.waiting = [*first, *self.in_flight, *self.waiting]
        self.in_flight = ()

    def defer(self, requests: Sequence[Request]) -> None:
        """Drop requests that cannot be decided while Redis does not answer.

        A connection that is gone is reported to the log later all the same, and so is one whose join may stand in the
        log although Redis did not say so. Deadlines have their timers.
        """
        kept = [
            Request(Disconnect(request.command.connection_id))
            for request in requests
            if isinstance(request.command, (Disconnect, TakeSeat, CreateRoom))
        ]
        # By identity: an equal request that came later has an asker of its own, who waits for an answer.
        dropped = set(map(id, requests))
        self.waiting = [*kept, *(request for request in self.waiting if id(request) not in dropped)]

    def has_entry_of(self, subscriber: Subscriber) -> bool:
        """Whether this subscriber has asked for a seat, and the log has not answered yet."""
        return any(_is_entry_of(subscriber, request) for request in (*self.waiting, *self.in_flight))

    def withdraw_entry(self, subscriber: Subscriber) -> None:
        """Drop the subscriber's request for a seat, if one waits."""
        self.waiting = [request for request in self.waiting if not _is_entry_of(subscriber, request)]

    def clear(self) -> list[str]:
        """Drop what waits; return the ids of connections that are gone, of which the log has not learned."""
        waiting, self.waiting = self.waiting, []
        return [request.command.connection_id for request in waiting if isinstance(request.command, Disconnect)]


def _is_entry_of(subscriber: Subscriber, request: Request) -> bool:
    return request.asker is subscriber and isinstance(request.command, (TakeSeat, CreateRoom))
