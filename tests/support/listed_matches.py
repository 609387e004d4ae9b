"""Rows of finished matches, as many as a test wants."""

from typing import Any

from fairest_protocol.messages.matches import FinishedMatch

FINISHED_MS = 1_700_000_000_000


def make_row(number: int, **changes: Any) -> FinishedMatch:
    """Return the row of a match that finished `number` milliseconds after `FINISHED_MS`."""
    values: dict[str, Any] = {
        "match": f"{number:032x}",
        "names": ("ann", "bob"),
        "rules": "classic",
        "piles": 4,
        "redeals": 0,
        "best_of": 1,
        "wins": (1, 0),
        "winner": 0,
        "placed": (52, 31),
        "finished_at_ms": FINISHED_MS + number,
    }
    return FinishedMatch(**(values | changes))
