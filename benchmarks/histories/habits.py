"""The habits of a client in a history, which a good client does not have."""

from dataclasses import dataclass

AWAY_SECONDS = 3.0, 9.0
"""How long a client that stays away is away, at least and at most."""


@dataclass
class Habits:
    """How often a client does what a good one would not do."""

    pace_seconds: float = 0.04
    illegal: float = 0.03
    ahead: float = 0.15
    twice: float = 0.03
    same_number: float = 0.01
    """Another move under the number of the last accepted one."""
    drop: float = 0.004
    stay_away: float = 0.05
    """The share of dropped connections after which the client is away for `AWAY_SECONDS`."""
    go_back: float = 0.5
    """The share of returns that resume at a random earlier position."""
    wander: float = 0.02
    """A spectator leaves, and watches again on the same connection."""
    another_move: float = 0.5
    """The share of `try_again` after which another move is sent under the same number."""
