"""Motion on a table: a card on its way to its new place, and slots that flash. Pure functions of the time.

The board under the motion is already right: a motion only covers it for some frames, and a new one replaces it.
"""

from typing import Final

from fairest_cli.tui.board.layout import Rect
from fairest_protocol.calculation.cards import Card
from fairest_protocol.calculation.moves import Move
from fairest_protocol.value import Value, replace

FRAME_MS: Final = 30
FLIGHT_MS: Final = 120
"""Four frames: long enough to see where a card goes, shorter than the time between two keys."""
FLASH_MS: Final = 220
LONG_FLASH_MS: Final = 900
"""The flash of a foundation that is complete."""


class Flight(Value):
    """A card that travels from one slot to another. Slots have the ids of their widgets, such as `pile-2`."""

    card: Card
    source: str
    target: str
    start_ms: int


class Flash(Value):
    """A slot that is lit from one time to another."""

    slot: str
    start_ms: int
    end_ms: int


class Motion(Value):
    """Everything that moves. Times are milliseconds on the clock of the caller."""

    flight: Flight | None = None
    flashes: tuple[Flash, ...] = ()

    def with_move(self, move: Move, card: Card, at_ms: int) -> "Motion":
        """Return the motion with `card` on the way of `move`; a foundation that receives it flashes."""
        target = f"{'foundation' if move.places else 'pile'}-{move.target}"
        source = "stock-0" if move.takes_turned else f"pile-{move.source}"
        moved = replace(self, flight=Flight(card, source, target, at_ms))
        return moved.with_flash(target, at_ms, FLASH_MS) if move.places else moved

    def with_flash(self, slot: str, at_ms: int, length_ms: int = FLASH_MS) -> "Motion":
        """Return the motion with a slot that is lit for that long."""
        others = tuple(flash for flash in self.flashes if flash.slot != slot)
        return replace(self, flashes=(*others, Flash(slot, at_ms, at_ms + length_ms)))

    def lit(self, at_ms: int) -> frozenset[str]:
        """Return the slots that are lit at this time. A clock that was set back ends every motion."""
        return frozenset(flash.slot for flash in self.flashes if flash.start_ms <= at_ms < flash.end_ms)

    def progress(self, at_ms: int) -> float | None:
        """Return how far the card has travelled, from 0 to 1, or None once it has arrived."""
        if self.flight is None or not 0 <= at_ms - self.flight.start_ms < FLIGHT_MS:
            return None
        return (at_ms - self.flight.start_ms) / FLIGHT_MS

    def is_over(self, at_ms: int) -> bool:
        """Whether nothing moves any more."""
        return self.progress(at_ms) is None and not self.lit(at_ms)


def place_between(source: Rect, target: Rect, progress: float, columns: int, lines: int) -> Rect:
    """Return the place of a card of that size on its straight way between two places, which it nears ever slower."""
    eased = 1 - (1 - progress) ** 2
    x = round(source.x + (target.x - source.x) * eased)
    y = round(source.y + (target.y - source.y) * eased)
    return Rect(x, y, columns, lines)
