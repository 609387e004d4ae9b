"""The level that a player is offered, by the player's own last results against rivals."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from fairest_cli.bots.levels import DEFAULT_LEVEL, Level
from fairest_cli.records.history import PastMatch, past_matches
from fairest_protocol.messages.rivals import BOT_PREFIX, is_bot_name
from fairest_protocol.value import Value

REMEMBERED: Final = 20
"""The newest records that count."""
RIVAL_AFTER_SECONDS: Final = 60
"""The wait for a person in the queue after which a program may come, unless the player chooses another one."""


class RivalResult(Value):
    """A match against a rival of this level: won, or lost or drawn."""

    level: Level
    is_won: bool


class Offer(Value):
    """The level to offer, and the reason in words for the player who chooses."""

    level: Level
    reason: str


NEWCOMER: Final = Offer(DEFAULT_LEVEL, "to begin with")


def offer_level(results: Sequence[RivalResult]) -> Offer:
    """Return the level to offer after these results, the oldest first.

    Two wins in a row against one level lead to the next stronger one, two matches in a row without a win to the next
    weaker one. So most matches are against a level that the player beats about every second time.
    """
    if not results:
        return NEWCOMER
    order, last = list(Level), results[-1]
    number = order.index(last.level)
    if len(results) == 1 or results[-2] != last:
        return Offer(last.level, "as in your last match against a bot")
    number += 1 if last.is_won else -1
    words = "two wins" if last.is_won else "two matches without a win"
    return Offer(order[min(max(number, 0), len(order) - 1)], f"after {words} against {last.level}")


def read_results(matches: Iterable[PastMatch]) -> list[RivalResult]:
    """Return the results of the matches between a person and a rival, in their order; others are left out.

    The names say which player is a program and of which level: `bot-club`, or `bot-club-0815` of a house.
    """
    results = []
    for match in matches:
        for seat, name in enumerate(match.names):
            level = name.lower().removeprefix(BOT_PREFIX).split("-")[0]
            if is_bot_name(name) and level in list(Level) and not is_bot_name(match.names[1 - seat]):
                winners = [played.outcome.winner for played in match.rounds]
                results.append(RivalResult(Level(level), winners.count(1 - seat) > winners.count(seat)))
    return results


def offer_at_home(folder: Path) -> Offer:
    """Return the offer to the player of this machine, whose records are in `folder`."""
    matches = past_matches(folder, limit=REMEMBERED)
    return offer_level(read_results(match for match in reversed(matches) if not match.problem))


def level_at_home(folder: Path) -> Level:
    """Return the level that is offered to the player of this machine."""
    return offer_at_home(folder).level
