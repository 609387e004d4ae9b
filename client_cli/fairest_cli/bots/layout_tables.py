"""Look-up tables: for each state of the foundations, what it says about each rank. Made when first needed."""

from functools import lru_cache
from typing import Final, NamedTuple

from fairest_cli.bots.pile_weights import BLOCK_ROWS, UNNEEDED, WEIGHTS
from fairest_cli.bots.position import BITS, NO_CARD, RANKS
from fairest_protocol.calculation.rules import Foundation

MAX_STATES: Final = 10_000
"""States kept of a layout, about 2 KiB each. A game of classic comes near some thousands of its 28,561."""


class FoundationState(NamedTuple):
    """One state of all foundations; each list has an item for each rank.

    `adding` is what a card of the rank adds to the key on the foundation that takes it: the least advanced of those
    that need it; 0 if none does, and for `NO_CARD`. `advance` is how far that foundation is, from 0 to 1.
    `blocking` is the `block_row` of the rank. `on_top` is filled by `LayoutTables.top_scores`.
    """

    adding: list[int]
    advance: list[float]
    urgency: list[int]
    blocking: list[list[float]]
    on_top: list[list[float] | None]


class LayoutTables(dict[int, FoundationState]):
    """The states of one layout by their keys; a state that is missing is made. `trim` bounds the memory."""

    def __init__(self, layout: tuple[Foundation, ...]) -> None:
        super().__init__()
        self._lengths = [foundation.length for foundation in layout]
        self._sequences = [[number - 1 for number in foundation.sequence()] for foundation in layout]
        self._places = [
            [sequence.index(number) if number in sequence else -1 for number in range(RANKS)]
            for sequence in self._sequences
        ]

    def __missing__(self, key: int) -> FoundationState:
        counts = [key >> BITS * number & 15 for number in range(len(self._lengths))]
        adding, advance = [0] * (RANKS + 1), [0.0] * (RANKS + 1)
        for number, count in enumerate(counts):
            if count < self._lengths[number]:
                wanted, share = self._sequences[number][count], count / self._lengths[number]
                if not adding[wanted] or share < advance[wanted]:
                    adding[wanted], advance[wanted] = 1 << BITS * number, share
        urgency, blocking = [], []
        for rank in range(RANKS):
            ahead = [places[rank] - count for places, count in zip(self._places, counts, strict=True)]
            nearest = min((steps for steps in ahead if steps >= 0), default=UNNEEDED)
            is_last = all(
                steps < 0 or places[rank] == length - 1
                for steps, places, length in zip(ahead, self._places, self._lengths, strict=True)
            )
            urgency.append(nearest)
            blocking.append(BLOCK_ROWS[is_last][nearest])
        state = self[key] = FoundationState(adding, advance, urgency, blocking, [None] * RANKS)
        return state

    def top_scores(self, key: int, rank: int) -> list[float]:
        """Return what each top card adds to the score of its pile for a card of `rank`, and last an empty pile."""
        state, weights = self[key], WEIGHTS
        urgency, own = state.urgency, state.urgency[rank]
        scores = [self._top_score(urgency[top] - own) for top in range(RANKS)]
        scores[rank] += weights.same_rank
        is_last = state.blocking[rank] is BLOCK_ROWS[True][own]
        scores.append(weights.empty + weights.empty_steps * own + (weights.last_on_empty if is_last else 0))
        nearest: dict[int, int] = {}
        seconds: set[int] = set()
        for number, (sequence, places) in enumerate(zip(self._sequences, self._places, strict=True)):
            place, count = places[rank], key >> BITS * number & 15
            if place < count:
                continue
            if place + 1 < len(sequence):
                following = sequence[place + 1]
                nearest[following] = min(place - count, nearest.get(following, NO_CARD))
            if place + 2 < len(sequence):
                seconds.add(sequence[place + 2])
        for following, steps in nearest.items():
            scores[following] += weights.follows - weights.follows_steps * steps
        for second in seconds:
            scores[second] += weights.follows_second
        state.on_top[rank] = scores
        return scores

    def trim(self) -> None:
        """Forget all states if there are too many. Call it between roll-outs."""
        if len(self) > MAX_STATES:
            self.clear()

    @staticmethod
    def _top_score(steps: int) -> float:
        if steps > 0:
            return WEIGHTS.top_later + WEIGHTS.top_later_steps * steps
        return -WEIGHTS.top_sooner if steps < 0 else 0.0


@lru_cache(maxsize=8)
def tables_of(layout: tuple[Foundation, ...]) -> LayoutTables:
    """Return the tables of a layout; those of the last few layouts are kept."""
    return LayoutTables(layout)
