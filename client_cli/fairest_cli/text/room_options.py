"""The options of a room as words. Pure."""

from collections.abc import Iterator

from fairest_cli.text.board_text import format_time
from fairest_cli.untrusted_text import clean
from fairest_protocol.calculation.rules import span
from fairest_protocol.messages.options import RoomOptions, Spectators


def describe_options(options: RoomOptions) -> Iterator[str]:
    """Yield the rules of a room, and every option that is not the default."""
    usual = RoomOptions()
    yield clean(options.rules)
    if options.piles is not None:
        yield span(range(options.piles, options.piles + 1), "waste pile")
    if options.redeals is not None:
        yield span(range(options.redeals, options.redeals + 1), "redeal")
    if options.best_of > 1:
        yield f"best of {options.best_of} rounds"
    if options.limit_seconds != usual.limit_seconds:
        yield f"{format_time(options.limit_seconds)} for a round"
    if options.chase_seconds != usual.chase_seconds:
        yield f"{format_time(options.chase_seconds)} once a player has stopped"
    if options.grace_seconds != usual.grace_seconds:
        yield f"a seat waits {format_time(options.grace_seconds)} for its player"
    if options.direct_breaks_ties:
        yield "direct plays break a tie"
    if options.certified:
        yield "only deals that are proved winnable"
    if options.credit:
        yield "distance is credited"
    if options.spectators is not usual.spectators:
        yield "nobody may watch" if options.spectators is Spectators.CLOSED else "spectators see everything at once"
