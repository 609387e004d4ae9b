"""What waits to be decided in a live room."""

from collections.abc import Iterator, Sequence

from fairest_server.live.proposal import Request
from fairest_server.live.subscribers import Subscriber
from fairest_server.room.commands import CreateRoom, Disconnect, ExpireDeadline, TakeSeat


class RequestQueue:
    """The requests of one room that wait for its next poll, in the order in which they came."""

    __slots__ = ("waiting",)

    def __init__(self) -> None:
        self.waiting: list[Request] = []

    def take(self) -> list[Request]:
        """Remove and return what is decided next: an expired deadline alone, otherwise everything.

        What else was requested is judged on the state that the deadline leads to.
        """
        waiting = self.waiting
        for place, request in enumerate(waiting):
            if isinstance(request.command, ExpireDeadline):
                del waiting[place]
                return [request]
        self.waiting = []
        return waiting

    def put_back(self, requests: Sequence[Request]) -> None:
        """Let these requests be decided again, before all that came behind them."""
        self.waiting = [*requests, *self.waiting]

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
        self.waiting = [*kept, *(request for request in self.waiting if request not in requests)]

    def withdraw_entry(self, subscriber: Subscriber) -> None:
        """Drop the subscriber's request for a seat, if one waits."""
        self.waiting = [request for request in self.waiting if not is_entry_of(subscriber, request)]

    def clear(self) -> Iterator[str]:
        """Drop all requests; yield the ids of connections that are gone, of which the log has not learned."""
        waiting, self.waiting = self.waiting, []
        for request in waiting:
            if isinstance(request.command, Disconnect):
                yield request.command.connection_id


def is_entry_of(subscriber: Subscriber, request: Request) -> bool:
    """Whether this is the subscriber's request for a seat."""
    return request.asker is subscriber and isinstance(request.command, (TakeSeat, CreateRoom))
