"""The player's settings for the full-screen client: a JSON file in the platform's folder for settings."""

import json
import os
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from msgspec.structs import asdict, fields
from platformdirs import user_config_path

from fairest_cli.records.private_file import write_private
from fairest_cli.session.addresses import name_problem, server_problem
from fairest_cli.untrusted_text import clean
from fairest_protocol.value import Value, replace


class Keys(StrEnum):
    """The keys that move cards: one for each pile, or source and target typed in turn."""

    LETTERS = "letters"
    HOME_ROW = "home row"
    TYPED = "typed"


class Colours(StrEnum):
    """The number of colours for suits."""

    TWO = "two"
    FOUR = "four"
    MONOCHROME = "monochrome"


class Settings(Value):
    """All settings, each with its default.

    `name` is the player's name on servers; without one, the server gives one. `server` is the address of the server
    that commands use without --server; without one, it is that of a server on this machine.
    """

    keys: Keys = Keys.LETTERS
    hints: bool = True
    dim_dead: bool = False
    colours: Colours = Colours.TWO
    ascii_cards: bool = False
    reduced_motion: bool = False
    sound: bool = False
    name: str = ""
    server: str = ""
    has_seen_tutorial: bool = False


def settings_path() -> Path:
    """Return the path of the settings file."""
    return user_config_path("fairest") / "settings.json"


def load_settings(path: Path) -> tuple[Settings, str]:
    """Return the settings in the file at `path`, and a sentence about anything in it that cannot be used.

    Returns the defaults if the file does not exist, cannot be read, or is not a JSON object. Raises nothing.
    """
    try:
        stored = json.loads(path.read_text())
    except FileNotFoundError:
        return Settings(), ""
    except (OSError, ValueError) as reason:
        why = os.strerror(reason.errno) if isinstance(reason, OSError) and reason.errno else "it is not valid JSON"
        return Settings(), f"The settings in {clean(str(path))} could not be read ({why}); using the defaults."
    if not isinstance(stored, dict):
        return (
            Settings(),
            f"The settings in {clean(str(path))} are not a JSON object; using the defaults.",
        )
    chosen, unknown = Settings(), []
    for name, found in stored.items():
        value = _parse(name, found)
        if value is None:
            unknown.append(clean(str(name))[:40])
        else:
            chosen = replace(chosen, **{name: value})
    if unknown:
        names = ", ".join(unknown[:5])
        return (
            chosen,
            f"In {clean(str(path))}, these settings are unknown or have unknown values, and are ignored: {names}.",
        )
    return chosen, ""


def save_settings(settings: Settings, path: Path) -> None:
    """Write `settings` to a file that only its owner can read, in full or not at all. Raises OSError."""
    write_private(path, json.dumps(asdict(settings), indent=2) + "\n")


TEXTS: Final[dict[str, Callable[[str], str]]] = {"name": name_problem, "server": server_problem}
"""For each setting that is typed: a function that returns what is wrong with a text that is not empty, or nothing."""


def _parse(name: str, value: object) -> Any:
    """Return `value` as the type of the setting called `name`, or None if either is unknown."""
    kinds: dict[str, Any] = {field.name: type(field.default) for field in fields(Settings)}
    kind = kinds.get(name)
    if kind is bool:
        return value if isinstance(value, bool) else None
    if name in TEXTS:
        return value if isinstance(value, str) and not (value and TEXTS[name](value)) else None
    if kind is None or not isinstance(value, str) or value not in list(kind):
        return None
    return kind(value)
