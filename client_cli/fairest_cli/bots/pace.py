"""The time that a rival takes for a move, as a person does: longer where the choice is hard, never the same twice."""

import random
from typing import Final

HARD_LEAD: Final = 0.1
"""A lead below this makes a choice hard: the best two moves win nearly the same number of games."""
FORCED_SHARE: Final = 0.6
"""Share of the pace that a move takes where there is nothing to choose: the card must still be seen and moved."""
HARD_SHARE: Final = 2.0
"""Share of the pace that the hardest choices take."""
SPREAD: Final = 0.3
"""Standard deviation of the logarithm of the time: two in three moves take between 74 and 135 % of their mean."""


def human_seconds(pace_seconds: float, lead: float, chance: random.Random) -> float:
    """Return how long a rival of this mean pace thinks about a move that leads over the second best by `lead`."""
    hardness = 1 - min(1.0, max(0.0, lead) / HARD_LEAD)
    share = FORCED_SHARE + (HARD_SHARE - FORCED_SHARE) * hardness
    return pace_seconds * share * chance.lognormvariate(-(SPREAD**2) / 2, SPREAD)
