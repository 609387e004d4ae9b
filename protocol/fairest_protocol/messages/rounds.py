"""The chain of rounds: every round of a server, each entry hashed with the one before, so that none can be withdrawn.

An entry is a line of JSON. Its chain is a hash over its text and the chain of the entry before it; the server signs the
number and the chain of the newest one, the *head*. The chain names no player, no room and no match.
"""

from enum import StrEnum
from typing import Annotated, Final, Literal

from pydantic import Field, TypeAdapter

from fairest_protocol.calculation.race import Ending
from fairest_protocol.messages.fields import Hash, Message, PublicKey, ServerMessage, Signature, TimeMs

PAGE_LINES: Final = 250
"""The entries on one page of `GET /rounds`; a page has about 100 KiB."""
MERGE_SECONDS: Final = 60
"""The longest time from the opening of a round, and from its end, until the chain has the entry."""

CERTIFIED_SUFFIX: Final = "-certified"
"""Ends the name of the rules in the entry of a certified round. Auditors that do not know it deal none of its decks."""

DAILY_SUFFIX: Final = "-daily"
"""Ends the name of the rules in the entry of a daily deal, which lasts longer than a round and belongs to no match."""

DRAND_SUFFIX: Final = f"-drand{DAILY_SUFFIX}"
"""The same for a daily deal whose beacon is a drand round."""

TOURNAMENT_SUFFIX: Final = "-tournament"
"""Ends the name of the rules in the entry of a tournament's round, whose deal all its races share."""

EntryNumber = Annotated[int, Field(ge=0, lt=2**53)]


class RoundEnd(StrEnum):
    """How a round ended."""

    PROVED = "proved"
    """The cards were dealt, and the seed is there: everybody can deal the deck, and its players can compare it."""
    VOIDED = "voided"
    """It was called off before both players were ready, so that there never was a deck."""
    BROKEN_OFF = "broken_off"
    """Both players were ready, and the deck was not dealt."""


class RoundsHead(ServerMessage):
    """The signed end of the server's chain of rounds: the newest entry's number and chain, as Redis had it `at_ms`.

    Number 0, with a chain of zeros, is a chain without entries.
    """

    number: EntryNumber
    chain: Hash
    at_ms: TimeMs
    signature: Signature


class RoundsSummary(ServerMessage):
    """The answer to `GET /rounds`: the head, the key that signs it, and the first page that is still kept."""

    type: Literal["rounds"] = "rounds"
    key: PublicKey
    head: RoundsHead
    page_lines: Annotated[int, Field(ge=1, le=1000)]
    first_page: EntryNumber


class RoundsPage(ServerMessage):
    """The answer to `GET /rounds?page=N`: the entries from number N * `page_lines` + 1 on, as they were hashed.

    `before` is the chain of the entry before them.
    """

    type: Literal["rounds_page"] = "rounds_page"
    page: EntryNumber
    before: Hash
    lines: tuple[Annotated[str, Field(max_length=2000)], ...]


class ChainedOpening(Message):
    """A round was opened: its commitment, and the rules of its deal (``classic 4 0``: name, piles, redeals).

    The name of the rules ends with `-certified` in a certified room, with `-daily` for a daily deal, with
    `-drand-daily` for one whose beacon is a drand round, and with `-tournament` for the round of a tournament.
    """

    number: EntryNumber
    at_ms: TimeMs
    type: Literal["opened"]
    commitment: Hash
    rules: Annotated[str, Field(pattern=r"^[A-Za-z0-9-]{1,40} [1-8] [0-9]$")]


class ChainedEnd(Message):
    """A round has ended. `why` is the reason of `seat_freed` for a round that was voided, else null.

    `endings` are those of the seats, null for a round without a result. `revealed` says whose entropy the server has
    got; with both there was a deck, which follows from `seed`.
    """

    number: EntryNumber
    at_ms: TimeMs
    type: Literal["ended"]
    commitment: Hash
    how: Annotated[RoundEnd, Field(strict=False)]
    why: Literal["left", "not_ready", "away", "closed"] | None
    endings: tuple[Annotated[Ending, Field(strict=False)], Annotated[Ending, Field(strict=False)]] | None
    revealed: tuple[bool, bool]
    seed: Hash | None


class ChainedLoss(Message):
    """Redis has lost entries that clients may have seen: the chain went on from here, and had been at this head."""

    number: EntryNumber
    at_ms: TimeMs
    type: Literal["lost"]
    lost_number: EntryNumber
    lost_chain: Hash


ChainedEntry = Annotated[ChainedOpening | ChainedEnd | ChainedLoss, Field(discriminator="type")]
_ENTRIES: Final[TypeAdapter[ChainedOpening | ChainedEnd | ChainedLoss]] = TypeAdapter(ChainedEntry)


def describe_rules(name: str, piles: int, redeals: int, *, is_certified: bool) -> str:
    """Return the rules of a round's deal as an entry has them."""
    return f"{name}{CERTIFIED_SUFFIX if is_certified else ''} {piles} {redeals}"


def describe_daily(name: str, piles: int, redeals: int, *, is_drand: bool) -> str:
    """Return the rules of a daily deal as an entry has them."""
    return f"{name}{DRAND_SUFFIX if is_drand else DAILY_SUFFIX} {piles} {redeals}"


def describe_tournament(name: str, piles: int, redeals: int) -> str:
    """Return the rules of a tournament's round as an entry has them."""
    return f"{name}{TOURNAMENT_SUFFIX} {piles} {redeals}"


def parse_chained(line: str) -> ChainedOpening | ChainedEnd | ChainedLoss:
    """Parse an entry of the chain. Raises ValueError (a pydantic error) for a line that is not one."""
    return _ENTRIES.validate_json(line)


def describe_round(entry: ChainedOpening | ChainedEnd) -> str:
    """Return an entry as text without its number and time, which it gets when it joins the chain."""
    return entry.model_dump_json(exclude={"number", "at_ms"})


def chained_line(described: str, number: int, at_ms: int) -> str:
    """Return the line of the chain for an entry that `describe_round` has described."""
    return f'{{"number":{number},"at_ms":{at_ms},{described[1:]}'
