"""The credit for distance: which of two players who placed every card was first, had both been as near to the server.

The next card is turned by the server's answer, so each card costs a player the time that a message takes to the server
and back (the round trip). In a room with credit this time is given back: a seat's *corrected* time is its arrival,
less its credit. docs/fairness.md says what rests on the server's word: the times, and the round trips.
"""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from fairest_protocol.value import message_dataclass

PROCEDURE: Final = 1
"""The number of this procedure. The terms of a room with credit name it: the server signs it with each round."""
CAPABILITY: Final = "credit"
"""The capability of a server that opens rooms with credit, and of a client that can enter one."""
MAX_ROUND_TRIP_US: Final = 300_000
"""The longest round trip that is credited: more than between any two places on the earth by cable. It bounds what a
client that feigns distance can gain."""
UNCERTAIN_PART: Final = 100
"""A difference up to this part of both credits together is a dead heat: the shortest round trip is credited, and those
of the race were longer by the jitter of the network."""


class Answer(NamedTuple):
    """A card of the stock that a seat took: when it was turned and when it was taken, since the start of the race.

    `is_proof`: the move shows that the player had seen the card. That is a play straight to a foundation in the first
    pass, but for its last card, which is known by counting.
    """

    turned_ms: int
    taken_ms: int
    is_proof: bool


@message_dataclass
class Timing:
    """A seat's race on the clock, in milliseconds since its start; the credit rests on the round trip `rtt_us`.

    `arrival_ms` is when the seat placed its last card, None if it did not; then there is no corrected time either.
    """

    arrival_ms: int | None
    rtt_us: int
    credit_ms: int
    corrected_ms: int | None


def believed_us(rtt_us: int, answers: Iterable[Answer]) -> int:
    """Return the round trip in microseconds that is credited: what was measured, within bounds.

    A player who has ever answered a card sooner than a message takes there and back is nearer than it seems.
    """
    proofs = [(answer.taken_ms - answer.turned_ms) * 1000 for answer in answers if answer.is_proof]
    return max(0, min(rtt_us, MAX_ROUND_TRIP_US, *proofs))


def credit_ms(rtt_us: int, answers: Sequence[Answer]) -> int:
    """Return the credit of a seat: a round trip for each card, and for none more than the time for which it lay turned.

    `rtt_us` is the shortest round trip that was measured.
    """
    believed = believed_us(rtt_us, answers)
    return sum(min(believed, (answer.taken_ms - answer.turned_ms) * 1000) for answer in answers) // 1000


def make_timing(rtt_us: int, answers: Sequence[Answer], arrival_ms: int | None) -> Timing:
    """Return the row of a seat in the ledger."""
    credit = credit_ms(rtt_us, answers)
    return Timing(arrival_ms, rtt_us, credit, None if arrival_ms is None else arrival_ms - credit)


def uncertainty_ms(first_credit_ms: int, second_credit_ms: int) -> int:
    """Return the difference of corrected times up to which a race is a dead heat. Without credit there is none."""
    return (first_credit_ms + second_credit_ms) // UNCERTAIN_PART


def first_by_correction(timings: Sequence[Timing]) -> int | None:
    """Return the seat that was first by corrected time, of two that placed every card; None for a dead heat.

    Raises AssertionError if one of them did not.
    """
    first, second = timings
    assert first.corrected_ms is not None and second.corrected_ms is not None, "both seats placed every card"
    ahead_ms = second.corrected_ms - first.corrected_ms
    if abs(ahead_ms) <= uncertainty_ms(first.credit_ms, second.credit_ms):
        return None
    return 0 if ahead_ms > 0 else 1


def last_chance_ms(winner: Timing, rtt_us: int, answers: Sequence[Answer], *, has_turned: bool) -> int:
    """Return until when the other seat may still win by corrected time, or reach a dead heat, as things stand.

    `answers` are those of the other seat so far; `has_turned` says whether a card lies turned before it. A further card
    that it turns moves this time by the round trip, for which it has to wait. (The uncertainty grows by a hundredth of
    that: a dead heat by these milliseconds is not waited for.)
    """
    assert winner.corrected_ms is not None, "the winner has placed every card"
    credit = credit_ms(rtt_us, answers)
    if has_turned:
        # Taken no sooner than a round trip after it was turned, it is credited in full.
        credit += believed_us(rtt_us, answers) // 1000 + 1
    return winner.corrected_ms + credit + uncertainty_ms(winner.credit_ms, credit)
