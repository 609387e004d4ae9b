"""The deal of a tournament's round, which all its races share, and how races on it are compared.

The deck follows from the server's secret, to which the server commits itself before anybody is ready, and from the
entropies of all players who were ready. docs/protocol.md has the layouts.
"""

from collections.abc import Iterable
from typing import Final

from fairest_protocol.calculation.seal import NO_ROUNDS, make_seed, mix_entropies

MOST_PLAYERS: Final = 128
MOST_ROUNDS: Final = 15
MOST_ROUND_ROBIN: Final = 16
"""Most players of a round robin: each one more is one round more."""
WIN_POINTS: Final = 2
"""Points for a race that is won, for a bye, and for a walkover; a tie gives half of them."""


def tournament_seed(secret: bytes, shown: Iterable[tuple[str, bytes]], round_id: bytes) -> bytes:
    """Return the seed of a round: that of a race with the mixed entropies in seat 0, and zeros in seat 1.

    `shown` are the names and entropies of the players who were ready.
    """
    return make_seed(secret, (mix_entropies(round_id, shown), NO_ROUNDS), round_id)
