"""The moves and stops of a round under way, kept small: a process holds those of all its open rooms."""

from array import array
from typing import Final

from fairest_protocol.calculation.moves import MOVES, Move
from fairest_protocol.calculation.record import RecordedMove, RecordedStop

_MOVES: Final = tuple(MOVES.values())
_NUMBERS: Final = {text: number for number, text in enumerate(MOVES)}
_SEAT_BIT: Final = 8
_TIME_BIT: Final = 9
"""A move is one integer: its number in `_MOVES` in the lowest eight bits, its seat, and its time above them."""


class RoundEvents:
    """Events in their order, eight bytes for each move. `latest_ms` is the time of the last one, 0 before the first.

    No event is added before the last one: a pause may be timed by a clock ahead of the room's own, on another node.
    """

    __slots__ = ("_moves", "_stops", "latest_ms")

    def __init__(self) -> None:
        self._moves = array("q")
        self._stops: list[tuple[int, RecordedStop]] = []
        """Each with the number of moves before it."""
        self.latest_ms = 0

    def add_move(self, at_ms: int, seat: int, move: Move) -> None:
        """Add a move, `at_ms` after the start of the race, or at `latest_ms` if that is later."""
        at_ms = self.latest_ms = max(self.latest_ms, at_ms)
        self._moves.append(at_ms << _TIME_BIT | seat << _SEAT_BIT | _NUMBERS[move.text])

    def add_stop(self, stop: RecordedStop) -> None:
        """Add a stop, likewise; one before the start of the race has no time."""
        if stop.at_ms is not None:
            self.latest_ms = max(self.latest_ms, stop.at_ms)
            stop = RecordedStop(self.latest_ms, stop.seats, stop.ending)
        self._stops.append((len(self._moves), stop))

    def clamp(self, latest_ms: int) -> None:
        """Set the time of each event that is later than `latest_ms` to that."""
        self.latest_ms = min(self.latest_ms, latest_ms)
        low = (1 << _TIME_BIT) - 1
        self._moves = array("q", (min(each >> _TIME_BIT, latest_ms) << _TIME_BIT | each & low for each in self._moves))
        self._stops = [(place, _clamped(stop, latest_ms)) for place, stop in self._stops]

    def recorded(self) -> tuple[RecordedMove | RecordedStop, ...]:
        """Return the events as a record holds them."""
        events: list[RecordedMove | RecordedStop] = [
            RecordedMove(each >> _TIME_BIT, each >> _SEAT_BIT & 1, _MOVES[each & (1 << _SEAT_BIT) - 1])
            for each in self._moves
        ]
        for place, stop in reversed(self._stops):
            events.insert(place, stop)
        return tuple(events)


def _clamped(stop: RecordedStop, latest_ms: int) -> RecordedStop:
    """Return a stop that is no later than `latest_ms`; one before the start of the race has no time."""
    return stop if stop.at_ms is None else RecordedStop(min(stop.at_ms, latest_ms), stop.seats, stop.ending)
