"""Absences that need no sentence: they are over by the end of the message that shows them. Pure."""

from collections.abc import Sequence

from fairest_cli.model.known_room import KnownRoom
from fairest_protocol.messages import entries
from fairest_protocol.messages.entries import Entry


def is_past_absence(entry: Entry, later: Sequence[Entry], model: KnownRoom) -> bool:
    """Return whether `entry` shows an absence that an entry in `later` ends, or our own one.

    We read of our own absence only once we are back. `later` are the entries behind it in the same message.
    """
    if not isinstance(entry, entries.Detached):
        return False
    return entry.seat == model.seat or any(
        isinstance(other, entries.Attached) and other.seat == entry.seat for other in later
    )
