"""Every change of phase, in one table.

    waiting -> ready -> dealing -> countdown -> racing -> finished -> ready (next round, rematch)

A seat that is freed takes the room back to `waiting`; a room that everybody left is `closed`. `decide` refuses whatever
players may not do in a phase, so a missing row here is a fault of the server, never of a player.
"""

from enum import Enum
from typing import Final

from fairest_protocol.messages.fields import Phase


class Trigger(Enum):
    """A reason for a room to change its phase."""

    SEAT_FREED = "a seat is free again"
    ROUND_OPENED = "both seats are taken and a round is open"
    ALL_READY = "both players are ready"
    ALL_REVEALED = "both entropies are shown, the cards are dealt"
    RACE_STARTED = "the countdown is over"
    ROUND_OVER = "the round has a result"
    ABANDONED = "nobody came back"


TRANSITIONS: Final[dict[tuple[Phase, Trigger], Phase]] = {
    (Phase.WAITING, Trigger.SEAT_FREED): Phase.WAITING,
    (Phase.WAITING, Trigger.ROUND_OPENED): Phase.READY,
    (Phase.WAITING, Trigger.ABANDONED): Phase.CLOSED,
    (Phase.READY, Trigger.SEAT_FREED): Phase.WAITING,
    (Phase.READY, Trigger.ALL_READY): Phase.DEALING,
    (Phase.DEALING, Trigger.ALL_REVEALED): Phase.COUNTDOWN,
    (Phase.DEALING, Trigger.ROUND_OVER): Phase.FINISHED,
    (Phase.COUNTDOWN, Trigger.RACE_STARTED): Phase.RACING,
    (Phase.COUNTDOWN, Trigger.ROUND_OVER): Phase.FINISHED,
    (Phase.RACING, Trigger.ROUND_OVER): Phase.FINISHED,
    (Phase.FINISHED, Trigger.SEAT_FREED): Phase.WAITING,
    (Phase.FINISHED, Trigger.ROUND_OPENED): Phase.READY,
}


def next_phase(phase: Phase, trigger: Trigger) -> Phase:
    """Return the phase that follows. Raises KeyError if the table has no row, which is a fault of the server."""
    return TRANSITIONS[phase, trigger]
