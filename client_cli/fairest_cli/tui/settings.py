"""What a player has chosen about the full-screen face: a small file in the platform's folder for settings."""

import json
import os
from enum import StrEnum
from pathlib import Path
from typing import Any

from msgspec.structs import asdict, fields
from platformdirs import user_config_path

from fairest_cli.session.private_file import write_private
from fairest_cli.untrusted_text import clean
from fairest_protocol.value import Value, replace


class Keys(StrEnum):
    """Which keys move cards."""

    LETTERS = "letters"
    HOME_ROW = "home row"
    TYPED = "typed"


class Colours(StrEnum):
    """How suits are told apart."""

    TWO = "two"
    FOUR = "four"
    MONOCHROME = "monochrome"


class Settings(Value):
    """Every choice there is, each with the value that suits somebody who never looks here."""

    keys: Keys = Keys.LETTERS
    hints: bool = True
    colours: Colours = Colours.TWO
    ascii_cards: bool = False
    reduced_motion: bool = False
    sound: bool = False


def settings_path() -> Path:
    """Where the settings are kept."""
    return user_config_path("fairest") / "settings.json"


def load_settings(path: Path) -> tuple[Settings, str]:
    """The settings in a file, and a sentence about what in it could not be used; without a file, the defaults."""
    try:
        stored = json.loads(path.read_text())
    except FileNotFoundError:
        return Settings(), ""
    except (OSError, ValueError) as reason:
        why = os.strerror(reason.errno) if isinstance(reason, OSError) and reason.errno else "it is no JSON"
        return Settings(), f"The settings in {clean(str(path))} could not be read ({why}); these are the defaults."
    if not isinstance(stored, dict):
        return (
            Settings(),
            f"The settings in {clean(str(path))} are no table of names and values; these are the defaults.",
        )
    chosen, unknown = Settings(), []
    for name, found in stored.items():
        read = _read(name, found)
        if read is None:
            unknown.append(clean(str(name))[:40])
        else:
            chosen = replace(chosen, **{name: read})
    if unknown:
        names = ", ".join(unknown[:5])
        return (
            chosen,
            f"In {clean(str(path))} these settings are unknown or have unknown values, and were left: {names}.",
        )
    return chosen, ""


def save_settings(settings: Settings, path: Path) -> None:
    """Write the settings, all or nothing, for their owner's eyes. Raises OSError."""
    write_private(path, json.dumps(asdict(settings), indent=2) + "\n")


def _read(name: str, value: object) -> Any:
    """The value of a setting as its type has it, or None."""
    kinds: dict[str, Any] = {field.name: type(field.default) for field in fields(Settings)}
    kind = kinds.get(name)
    if kind is bool:
        return value if isinstance(value, bool) else None
    if kind is None or not isinstance(value, str) or value not in list(kind):
        return None
    return kind(value)
