"""Appends of a live room whose outcome is unknown: the log holds one of them, or takes one yet, or none.

All of them expect the same last entry of the log, so it takes at most one. The first entry that follows shows which:
its tag is that of one of these appends, or all of them are void. Until then their requests are *in doubt*: they may be
decided again, since an append of the same requests expects that last entry too, but they are not known to have failed.
"""

from typing import Final

from fairest_server.live.proposal import Proposal, Request

IN_DOUBT_SECONDS: Final = 1.0
"""Requests that are in doubt for longer are answered with `in_doubt`. It is less than the silence of Redis after which
clients are sent away, so that a client learns of the doubt before it loses its connection.
"""


class Doubt:
    """The appends in doubt of one room, as the proposals that led to them."""

    __slots__ = ("_covered", "_proposals", "is_overdue", "may_follow")

    def __init__(self) -> None:
        self._proposals: list[Proposal] = []
        self._covered: set[int] = set()
        self.is_overdue = False
        """Whether `IN_DOUBT_SECONDS` are over: the next failure is answered."""
        self.may_follow = False
        """Whether Redis may still execute one of the appends, because it left one without any reply."""

    def add(self, proposal: Proposal, *, is_unanswered: bool) -> None:
        """Take in an append whose outcome is unknown; `is_unanswered` unless Redis answered it with an error."""
        self._proposals.append(proposal)
        # By identity: an equal request that came later is another one. The proposal keeps these alive.
        self._covered.update(map(id, proposal.requests))
        self.may_follow = self.may_follow or is_unanswered

    def covers(self, request: Request) -> bool:
        """Return whether the request may be in the log without an answer."""
        return id(request) in self._covered

    def proposal_of(self, tag: str) -> Proposal | None:
        """Return the proposal whose append has this tag, if one has."""
        return next((proposal for proposal in self._proposals if proposal.tag == tag), None)
