"""Every key of tournaments in Redis, as `keys` has the others. RECORD_SECONDS is that of `keys`."""

from typing import Final

BUCKET: Final = 0
"""The bucket of all tournaments: one script may then use any of their keys, and an outbox of rounds."""
ACTIVE: Final = f"fairest:{{{BUCKET}}}:tournament:active"
"""Sorted set: codes of the tournaments that are not over, by the time of their creation. Never expires."""
ENDED: Final = f"fairest:{{{BUCKET}}}:tournament:ended"
"""Sorted set: codes of the tournaments that have ended last, by the time. Expires RECORD_SECONDS after the last one."""
ENTERED_KEPT: Final = 16
"""Number of tournaments kept of a player: as many as `welcome` lists."""


def entered(player_id: str) -> str:
    """List: tournaments that this player has entered, the newest first, up to ENTERED_KEPT. One is removed when its
    player leaves it. Expires RECORD_SECONDS after the player has entered the last one.
    """
    return f"fairest:{{{BUCKET}}}:tournament:entered:{player_id}"


def tournament(code: str) -> str:
    """Hash: a tournament and its version. Expires RECORD_SECONDS after the last change."""
    return f"fairest:{{{BUCKET}}}:tournament:state:{code}"


def running(code: str, number: int) -> str:
    """Sorted set: players whose race in a round has not ended, by its start. Expires after RECORD_SECONDS."""
    return f"fairest:{{{BUCKET}}}:tournament:running:{code}:{number}"


def scores(code: str, number: int) -> str:
    """Sorted set: players whose race in a round has ended, by its score. Expires RECORD_SECONDS after the last."""
    return f"fairest:{{{BUCKET}}}:tournament:scores:{code}:{number}"


def placed(code: str, number: int) -> str:
    """Hash: number of cards that players have placed in a round. Expires RECORD_SECONDS after the last move."""
    return f"fairest:{{{BUCKET}}}:tournament:placed:{code}:{number}"


def moves(code: str, number: int, player_id: str) -> str:
    """List: moves of a player in a round with their times. Expires RECORD_SECONDS after the last one."""
    return f"fairest:{{{BUCKET}}}:tournament:moves:{code}:{number}:{player_id}"
