"""The list of finished matches, as `GET /matches` answers it."""

from typing import Annotated, Final, Literal

from pydantic import Field

from fairest_protocol.messages.fields import MatchId, Name, RulesName, ServerMessage, TimeMs

PAGE_MATCHES: Final = 20
"""Most matches on one page of `GET /matches`."""

MatchCursor = Annotated[str, Field(pattern="^[0-9a-f]{48}$")]
"""A place in the list: the time at which a match finished, in milliseconds as 16 hexadecimal digits, and its id."""


class FinishedMatch(ServerMessage):
    """A finished match as its record has it: `wins` counts the rounds of each seat, `placed` is that of the last one.

    `winner` is the seat that won more rounds, null if none did.
    """

    match: MatchId
    names: tuple[Name, Name]
    rules: RulesName
    piles: int
    redeals: int
    best_of: int
    wins: tuple[int, int]
    winner: Literal[0, 1] | None
    placed: tuple[int, int]
    finished_at_ms: TimeMs


class MatchesPage(ServerMessage):
    """The answer to `GET /matches`: finished matches of listed rooms, the newest first.

    `next` is what `before` says for the page behind this one; null if this is the last page.
    """

    type: Literal["matches"] = "matches"
    matches: tuple[FinishedMatch, ...]
    next: MatchCursor | None
