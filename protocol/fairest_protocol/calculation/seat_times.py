"""The times of a seat in a race with credit, from which its ledger is made: a fold over its moves. Pure."""

from collections.abc import Sequence

from fairest_protocol.calculation.distance import Answer, Timing, last_chance_ms, make_timing
from fairest_protocol.calculation.moves import REDEAL, Move
from fairest_protocol.calculation.race import Ending, Race, Racer
from fairest_protocol.value import Value, replace


class SeatTimes(Value):
    """The times of one seat, in milliseconds since the start of the race.

    `rtt_us` is the shortest round trip that was measured, in microseconds, None before the first measurement.
    `turned_ms` is when its newest card was turned, `answers` are the cards that it took, `arrival_ms` is when it placed
    its last card.
    """

    rtt_us: int | None = None
    turned_ms: int = 0
    answers: tuple[Answer, ...] = ()
    arrival_ms: int | None = None

    def after_move(self, before: Racer, after: Racer, move: Move, at_ms: int) -> "SeatTimes":
        """Return the times after a move of the seat; `before` and `after` are its racer before and after it."""
        if not move.takes_turned and move is not REDEAL and after.ending is not Ending.WON:
            return self
        answers, turned_ms = self.answers, self.turned_ms
        if move.takes_turned:
            is_proof = move.places and not before.turn.pass_number and bool(before.ahead)
            answers = (*answers, Answer(turned_ms, at_ms, is_proof))
        if after.seen != before.seen:
            turned_ms = at_ms
        return SeatTimes(self.rtt_us, turned_ms, answers, at_ms if after.ending is Ending.WON else self.arrival_ms)

    def clamped(self, latest_ms: int) -> "SeatTimes":
        """Return the times with each after `latest_ms` set to it: a pause of the server is counted from there."""
        answers = tuple(
            Answer(min(each.turned_ms, latest_ms), min(each.taken_ms, latest_ms), each.is_proof)
            for each in self.answers
        )
        arrival_ms = None if self.arrival_ms is None else min(self.arrival_ms, latest_ms)
        return replace(self, turned_ms=min(self.turned_ms, latest_ms), answers=answers, arrival_ms=arrival_ms)

    def timing(self) -> Timing:
        """Return the row of this seat in the ledger."""
        return make_timing(self.rtt_us or 0, self.answers, self.arrival_ms)


Times = tuple[SeatTimes, SeatTimes]
"""The times of both seats."""


def make_ledger(times: Times) -> tuple[Timing, Timing]:
    """Return the ledger of a round."""
    return times[0].timing(), times[1].timing()


def last_chance(race: Race, times: Sequence[SeatTimes]) -> int | None:
    """Return until when, since the start, the seat that still races may be first by corrected time.

    None unless the other seat has placed every card and this one still races.
    """
    for seat, racer in enumerate(race.racers):
        other = race.racers[1 - seat]
        if racer.ending is Ending.WON and not other.ending:
            behind = times[1 - seat]
            has_turned = other.board.turned is not None
            return last_chance_ms(times[seat].timing(), behind.rtt_us or 0, behind.answers, has_turned=has_turned)
    return None
