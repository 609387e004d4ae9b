"""Text written by others (servers, players, files, error messages), made safe to print on a terminal. Pure."""

import json
from typing import Final

from fairest_protocol.messages.fields import Message

MAX_CHARACTERS: Final = 1_000
"""Longer text is cut off, so that no text of others fills the screen."""


def clean(text: str) -> str:
    """Return `text` safe for a terminal. Everything that others wrote passes through here before it is printed.

    Every character that is not printable becomes a question mark: control characters, line ends, invisible characters,
    and those that change the direction of writing. Text longer than `MAX_CHARACTERS` is cut off.
    """
    shown = text if len(text) <= MAX_CHARACTERS else f"{text[:MAX_CHARACTERS]} ..."
    return "".join(character if character.isprintable() else "?" for character in shown)


def as_json_line(message: Message) -> str:
    """Return `message` as one line of JSON for a program, which is safe for a terminal too.

    The line is printable ASCII; every other character is written as a JSON escape.
    """
    return json.dumps(message.model_dump(mode="json"), separators=(",", ":"))
