"""The time between our last card and the result, in a room that credits distance. Pure."""

from fairest_cli.model.known_room import KnownRoom
from fairest_protocol.messages.fields import Phase


def awaits_other(model: KnownRoom) -> bool:
    """Return whether we have placed every card, and the other player may still be first since distance is credited."""
    return model.phase is Phase.RACING and model.board is not None and model.board.is_won
