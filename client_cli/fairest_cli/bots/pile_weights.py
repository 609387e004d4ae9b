"""The weights of the linear pile policy: where a card that fits no foundation goes, as a sum of features of each pile.

The words: *urgency* of a rank is the number of steps until the nearest foundation needs it, 0 if one needs it now. A
card is *blocked* by a card on top of it that is needed later. A rank is a *last* one if it is needed only as the last
card of foundations, as the kings are in classic. A card *follows* another one if a foundation that still needs the
other one needs it right after that.

The weights were found by an evolution strategy on classic deals; docs/decisions/0066-rivals.md has the figures.
"""

from typing import Final

from fairest_protocol.value import Value


class PileWeights(Value):
    """The score of a pile is the sum of these; the card goes to the pile with the highest one.

    Of each card in the pile, subtracted: `blocked`, and `blocked_steps` for each step of difference in urgency, by the
    copies of the blocked rank in the stock (0 to 3 or more); `equal`; or `later` and `later_steps`; `last_on`, if the
    new card is a last one; and `size`. The other weights are about the top card, or about an empty pile.
    """

    blocked: float
    blocked_steps: tuple[float, float, float, float]
    equal: float
    later: float
    later_steps: float
    follows: float
    same_rank: float
    empty: float
    last_on_empty: float
    last_on: float
    top_later: float
    top_later_steps: float
    size: float
    follows_steps: float
    empty_steps: float
    follows_second: float
    top_sooner: float


WEIGHTS: Final = PileWeights(
    blocked=1.804,
    blocked_steps=(1.631, 0.792, 0.258, -0.161),
    equal=0.435,
    later=0.633,
    later_steps=0.036,
    follows=2.341,
    same_rank=8.262,
    empty=-2.395,
    last_on_empty=9.090,
    last_on=1.004,
    top_later=2.857,
    top_later_steps=-0.859,
    size=-1.074,
    follows_steps=-1.710,
    empty_steps=0.475,
    follows_second=5.395,
    top_sooner=1.565,
)

UNNEEDED: Final = 14
"""The urgency of a rank that no foundation needs any more."""
URGENCIES: Final = 15
COPIES: Final = 8
"""Copies of a rank in two decks."""


def block_row(weights: PileWeights, urgency: int, *, is_last: bool) -> list[float]:
    """Return the cost of each card below a new one of this urgency, by `copies * URGENCIES + urgency` of that card."""
    row = []
    for copies in range(COPIES + 1):
        for other in range(URGENCIES):
            steps = urgency - other
            if other == UNNEEDED:
                cost = 0.0
            elif steps > 0:
                cost = weights.blocked + weights.blocked_steps[min(copies, 3)] * steps
            elif steps == 0:
                cost = weights.equal
            else:
                cost = weights.later - weights.later_steps * steps
            if is_last and other != UNNEEDED:
                cost += weights.last_on
            row.append(cost + weights.size)
    return row


BLOCK_ROWS: Final = tuple(
    tuple(block_row(WEIGHTS, urgency, is_last=is_last) for urgency in range(URGENCIES)) for is_last in (False, True)
)
"""`block_row` of every urgency, of ranks that are not last ones and of those that are."""
