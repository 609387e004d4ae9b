"""Every change of phase there is, in one table.

    waiting -> ready -> dealing -> countdown -> racing -> finished -> ready (next round, rematch)

A seat that is freed takes the room back to `waiting`, an abandoned room is `closed`. `decide` refuses what players
may not do in a phase, so a missing row here is a fault of ours, never of theirs.
"""

from enum import Enum
from typing import Final

from fairest_protocol.messages.fields import Phase


class Happening(Enum):
    """What can move a room to another phase."""

    SEAT_FREED = "a seat is free again"
    ROUND_OPENED = "both seats are taken and a round is open"
    ALL_READY = "both players are ready"
    ALL_REVEALED = "both entropies are shown, the cards are dealt"
    RACE_STARTED = "the countdown is over"
    ROUND_OVER = "the round has a result"
    ABANDONED = "nobody came back"


TRANSITIONS: Final[dict[tuple[Phase, Happening], Phase]] = {
    (Phase.WAITING, Happening.SEAT_FREED): Phase.WAITING,
    (Phase.WAITING, Happening.ROUND_OPENED): Phase.READY,
    (Phase.WAITING, Happening.ABANDONED): Phase.CLOSED,
    (Phase.READY, Happening.SEAT_FREED): Phase.WAITING,
    (Phase.READY, Happening.ALL_READY): Phase.DEALING,
    (Phase.DEALING, Happening.ALL_REVEALED): Phase.COUNTDOWN,
    (Phase.DEALING, Happening.ROUND_OVER): Phase.FINISHED,
    (Phase.COUNTDOWN, Happening.RACE_STARTED): Phase.RACING,
    (Phase.COUNTDOWN, Happening.ROUND_OVER): Phase.FINISHED,
    (Phase.RACING, Happening.ROUND_OVER): Phase.FINISHED,
    (Phase.FINISHED, Happening.SEAT_FREED): Phase.WAITING,
    (Phase.FINISHED, Happening.ROUND_OPENED): Phase.READY,
}


def next_phase(phase: Phase, happening: Happening) -> Phase:
    """The phase that follows. Raises KeyError where the table has no row: our fault."""
    return TRANSITIONS[phase, happening]
