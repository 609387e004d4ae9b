"""Every key of the daily deals in Redis, as `keys` has the others. RECORD_SECONDS is that of `keys`."""

from typing import Final

BUCKET: Final = 0
"""The bucket of all daily deals: one script may then use any of their keys, and an outbox of rounds."""
UNOPENED: Final = f"fairest:{{{BUCKET}}}:daily:unopened"
"""Set: daily deals that are announced and not opened yet, each as its day and its variant. Never expires."""


def deal(day: str, variant: str) -> str:
    """Hash: secret, beacon and opening of a daily deal. Expires after RECORD_SECONDS."""
    return f"fairest:{{{BUCKET}}}:daily:deal:{day}:{variant}"


def attempts(day: str, variant: str) -> str:
    """Hash: attempts at a daily deal by players, with their start. Expires RECORD_SECONDS after the last."""
    return f"fairest:{{{BUCKET}}}:daily:attempts:{day}:{variant}"


def running(day: str, variant: str) -> str:
    """Sorted set: players whose attempt has not ended, by its start. Expires as the attempts do."""
    return f"fairest:{{{BUCKET}}}:daily:running:{day}:{variant}"


def addresses(day: str, variant: str) -> str:
    """Hash: number of attempts begun at each address, as its hash. Expires as the attempts do."""
    return f"fairest:{{{BUCKET}}}:daily:addresses:{day}:{variant}"


def table(day: str, variant: str) -> str:
    """Sorted set: players whose attempt has ended, by its score. Expires RECORD_SECONDS after the last."""
    return f"fairest:{{{BUCKET}}}:daily:table:{day}:{variant}"


def moves(day: str, variant: str, player_id: str) -> str:
    """List: moves of an attempt with their times. Expires RECORD_SECONDS after the last one."""
    return f"fairest:{{{BUCKET}}}:daily:moves:{day}:{variant}:{player_id}"


def attempt(attempt_id: str) -> str:
    """String: day, variant and player of an attempt by its id. Expires after RECORD_SECONDS."""
    return f"fairest:{{{BUCKET}}}:daily:attempt:{attempt_id}"
