"""The daily deal on the wire: the requests of a player, the answer to both, and the table over HTTP."""

from typing import Annotated, Final, Literal

from pydantic import Field

from fairest_protocol.messages.entries import Entry
from fairest_protocol.messages.fields import (
    Answer,
    DrandSignature,
    Hash,
    MatchId,
    MoveText,
    Name,
    RoundId,
    RulesName,
    Secret,
    ServerMessage,
    TimeMs,
    WithId,
)
from fairest_protocol.messages.rounds import EntryNumber

PAGE_ATTEMPTS: Final = 100
"""Most attempts on one page of `GET /daily`."""

Day = Annotated[str, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]
"""A day in UTC, such as `2026-11-24`."""


class Daily(WithId):
    """Begin the attempt at the daily deal of a variant, or come back to it; the answer is `daily_view`. Only with the
    capability `daily`.

    `day` is that of the attempt, null for today. A player has one attempt at each deal.
    """

    type: Literal["daily"] = "daily"
    rules: RulesName = "classic"
    day: Day | None = None


class PlayDaily(WithId):
    """A move in the attempt at a daily deal. `number` counts the accepted moves of the attempt, from 1."""

    type: Literal["play_daily"] = "play_daily"
    rules: RulesName
    day: Day
    number: Annotated[int, Field(ge=1, le=100_000)]
    move: MoveText


class DailySeal(ServerMessage):
    """The parts of a daily deal's seal that are known while its day is under way.

    `commitment` stands in the chain of rounds before the day began. `beacon` is the chain of the entry
    `beacon_number`, the last one before the day. In a deal that was announced as `-drand-daily`, `beacon` is the
    SHA-256 of `drand`, the signature of the drand round `beacon_number`.
    """

    round: RoundId
    commitment: Hash
    beacon_number: EntryNumber
    beacon: Hash
    drand: DrandSignature | None = None


class AttemptResult(ServerMessage):
    """The score of an attempt that has ended, its rank among those that have ended so far, and how many these are."""

    won: bool
    placed: int
    goal: int
    direct: int
    time_ms: TimeMs
    rank: Annotated[int, Field(ge=1)]
    ended: Annotated[int, Field(ge=1)]


class DailyView(Answer):
    """The answer to `daily`, with all entries of the attempt, and to `play_daily`, with those of the move.

    The entries are those of a room's view in seat 0. `moves` counts the moves accepted so far; `seal` is there in the
    answer to `daily`, `result` once the attempt has ended.
    """

    type: Literal["daily_view"] = "daily_view"
    day: Day
    rules: RulesName
    until_ms: TimeMs
    now_ms: TimeMs
    moves: int
    entries: tuple[Entry, ...]
    seal: DailySeal | None
    result: AttemptResult | None


class TableRow(ServerMessage):
    """An attempt in the table of a day that is over. `attempt` is its id, under which its record is kept.

    `from_address` counts the attempts that were begun at the same address, this one included.
    """

    rank: Annotated[int, Field(ge=1)]
    name: Name
    attempt: MatchId
    won: bool
    placed: int
    direct: int
    time_ms: TimeMs
    from_address: Annotated[int, Field(ge=1)]


class DailyPage(ServerMessage):
    """The answer to `GET /daily`: what is known of the daily deal of a day and a variant by everybody.

    Until the day is over and nobody races any more, these are the seal and the counts. Then it is `opened`, and
    `secret` and the rows of this page of the table are there. `seal` is null before the day begins; `commitment` is
    that of the secret.
    """

    type: Literal["daily_page"] = "daily_page"
    day: Day
    rules: RulesName
    begins_ms: TimeMs
    ends_ms: TimeMs
    now_ms: TimeMs
    commitment: Hash
    seal: DailySeal | None
    begun: int
    ended: int
    opened: bool
    secret: Secret | None
    page: int
    pages: int
    rows: tuple[TableRow, ...]
