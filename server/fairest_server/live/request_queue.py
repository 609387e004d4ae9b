"""The requests of a live room: those that wait to be decided, and those whose append is in flight or in doubt."""

from collections.abc import Sequence

from fairest_protocol.messages.refusals import Refusal
from fairest_server.live.doubt import Doubt
from fairest_server.live.proposal import Proposal, Request
from fairest_server.live.subscribers import Subscriber
from fairest_server.room.commands import CreateRoom, Disconnect, ExpireDeadline, TakeSeat


class RequestQueue:
    """The requests of one room, in the order in which they came."""

    __slots__ = ("doubt", "in_flight", "waiting")

    def __init__(self) -> None:
        self.waiting: list[Request] = []
        """Those that the next poll decides."""
        self.in_flight: Sequence[Request] = ()
        """Those that are being decided, or whose events Redis has been sent."""
        self.doubt: Doubt | None = None
        """The appends whose outcome is unknown, if there are any. While they are, no request is known to have failed
        that they cover, whether it is in flight or waits to be decided again.
        """

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

    def put_in_doubt(self, proposal: Proposal, *, is_unanswered: bool) -> Doubt | None:
        """Count the append of a proposal among those in doubt; return the doubt if it begins with this one.

        `is_unanswered` unless Redis answered the append with an error.
        """
        is_new = self.doubt is None
        self.doubt = doubt = self.doubt or Doubt()
        doubt.add(proposal, is_unanswered=is_unanswered)
        return doubt if is_new else None

    def settle(self, tag: str) -> Proposal | None:
        """End the doubt, since the log goes on with an append of this tag; all requests in flight wait again.

        If it is one of the appends in doubt, return its proposal, and drop the requests that led to it.
        """
        proposal = self.doubt.proposal_of(tag) if self.doubt is not None else None
        self.doubt = None
        self.put_back()
        if proposal is not None:
            # By identity: an equal request that came later has an asker of its own, who waits for an answer.
            settled = set(map(id, proposal.requests))
            self.waiting = [request for request in self.waiting if id(request) not in settled]
        return proposal

    def defer(self) -> list[tuple[Request, Refusal]]:
        """Drop all requests, since they cannot be decided while Redis does not answer; return them with the reason.

        A connection that is gone is reported to the log later all the same, and so is one whose join may stand in the
        log although Redis did not say so. Deadlines have their timers.
        """
        requests, doubt = [*self.in_flight, *self.waiting], self.doubt
        self.in_flight, self.doubt = (), None
        self.waiting = [
            Request(Disconnect(request.command.connection_id))
            for request in requests
            if isinstance(request.command, (Disconnect, TakeSeat, CreateRoom))
        ]
        return [
            (request, Refusal.IN_DOUBT if doubt is not None and doubt.covers(request) else Refusal.TRY_AGAIN)
            for request in requests
        ]

    def has_entry_of(self, subscriber: Subscriber) -> bool:
        """Whether this subscriber has asked for a seat, and the log has not answered yet."""
        return any(_is_entry_of(subscriber, request) for request in (*self.waiting, *self.in_flight))

    def withdraw_entry(self, subscriber: Subscriber) -> None:
        """Drop the subscriber's request for a seat, if one waits."""
        self.waiting = [request for request in self.waiting if not _is_entry_of(subscriber, request)]

    def withdraw_disconnect(self, connection_id: str) -> None:
        """Drop the report that this connection is gone, if one waits: it asks for a seat again."""
        gone = Disconnect(connection_id)
        self.waiting = [request for request in self.waiting if request.command != gone]

    def clear(self) -> list[str]:
        """Drop all requests; return the ids of connections that are gone, of which the log has not learned."""
        requests, self.waiting = [*self.in_flight, *self.waiting], []
        self.in_flight, self.doubt = (), None
        return [request.command.connection_id for request in requests if isinstance(request.command, Disconnect)]


def _is_entry_of(subscriber: Subscriber, request: Request) -> bool:
    return request.asker is subscriber and isinstance(request.command, (TakeSeat, CreateRoom))
