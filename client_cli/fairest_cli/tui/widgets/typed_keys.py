"""The character behind a key event, the same on all terminals."""

from textual import events


def typed_character(event: events.Key) -> str | None:
    """Return the character that was typed. Some terminals report Shift and the key in place of a capital."""
    if event.character is None and len(event.key) == len("shift+a") and event.key.startswith("shift+"):
        return event.key[-1].upper()
    return event.character
