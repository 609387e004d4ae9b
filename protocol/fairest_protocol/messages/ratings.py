"""Ratings as the pages over HTTP answer them: the leaderboard of a variant, and the page of a player."""

from typing import Annotated, Final, Literal

from pydantic import Field

from fairest_protocol.messages.fields import Name, RulesName, ServerMessage, TimeMs

PAGE_PLAYERS: Final = 50
"""Most players on one page of `GET /leaderboard`."""

Count = Annotated[int, Field(ge=0)]
Day = Annotated[str, Field(pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]
"""A day in UTC, such as 2026-11-24."""


class RankedPlayer(ServerMessage):
    """A player on the leaderboard. `rating` and `deviation` are in points; `streak` as in `RatedVariant`.

    `place` is counted from 1. A place may be missing: its player is not known any more, or hidden.
    """

    place: Annotated[int, Field(ge=1)]
    name: Name
    rating: int
    deviation: Count
    rounds: Count
    wins: Count
    draws: Count
    streak: int


class Leaderboard(ServerMessage):
    """The answer to `GET /leaderboard`: players of a variant by their rating, those with a provisional one left out.

    `total` counts all of them; `pages` is the number of pages, at least 1. A page behind the last one is empty.
    """

    type: Literal["leaderboard"] = "leaderboard"
    rules: RulesName
    page: Count
    pages: Annotated[int, Field(ge=1)]
    total: Count
    players: tuple[RankedPlayer, ...]


class RatedVariant(ServerMessage):
    """The rating of a player in one variant, with the figures beside it.

    `place` is that on the leaderboard, null if the player is not there. The rating is `is_provisional` while
    `deviation`, which grows with absence, is large. `streak` counts the rounds won since the last one that was not, or
    below 0 those lost. `left` counts rounds that the player did not play to the end. `best_ms` is the shortest time for
    all cards, null if it never placed them all.
    """

    rules: RulesName
    rating: int
    deviation: Count
    is_provisional: bool
    place: Annotated[int, Field(ge=1)] | None
    rounds: Count
    wins: Count
    draws: Count
    streak: int
    best_streak: Count
    near_misses: Count
    left: Count
    best_direct: Count
    best_ms: TimeMs | None
    last_day: Day


class PairVariant(ServerMessage):
    """The rounds of one variant between two players, the one that was asked for first.

    `direct` adds up their direct scores: the stock cards that each played straight to a foundation.
    """

    rules: RulesName
    wins: tuple[Count, Count]
    draws: Count
    direct: tuple[Count, Count]
    last_day: Day


class PlayerPage(ServerMessage):
    """The answer to `GET /players/<name>`: the ratings of the player by variant.

    `against` is the name of another player if one was asked for, and `pairs` what the two have reached against each
    other.
    """

    type: Literal["player"] = "player"
    name: Name
    ratings: tuple[RatedVariant, ...]
    against: Name | None = None
    pairs: tuple[PairVariant, ...] = ()
