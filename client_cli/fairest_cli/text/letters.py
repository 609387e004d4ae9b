"""Whether a terminal can show more than ASCII, and ASCII in the place of what it cannot show. Pure."""

import unicodedata
from collections.abc import Mapping
from typing import Final

LOCALE_VARIABLES: Final = ("LC_ALL", "LC_CTYPE", "LANG")
"""The first of them that is set decides, as POSIX says."""
COERCED: Final = ("C.UTF-8", "C.utf8", "UTF-8")
"""The values of LC_CTYPE with which Python replaces a locale that it does not find, or that is C (PEP 538)."""

_ASCII: Final = str.maketrans(
    {
        **dict.fromkeys("─━═╌┄┈╴╶╸╺", "-"),
        **dict.fromkeys("│┃║┆┊╵╷╹╻", "|"),
        **dict.fromkeys("┌┐└┘├┤┬┴┼╭╮╰╯┏┓┗┛┣┫┳┻╋╔╗╚╝╠╣╦╩╬", "+"),
        **dict.fromkeys("█▀▄▌▐▓▒▁▂▃▅▆▇▊▋▉", "#"),
        **dict.fromkeys("░▔▕▏▎▍", ":"),
        **dict.fromkeys("►▶→▸", ">"),
        **dict.fromkeys("◄◀←◂", "<"),
        **dict.fromkeys("▲↑△", "^"),
        **dict.fromkeys("▼↓▽", "v"),
        **dict.fromkeys("●•·∙◦○", "."),
        **dict.fromkeys("\u2013\u2014\u2212", "-"),
        **dict(zip("\u2026\u00d7♣♦♥♠✓≤≥", ".xCDHS+<>", strict=True)),
    }
)


def shows_unicode(encoding: str | None, environment: Mapping[str, str]) -> bool:
    """Return whether a terminal shows more than ASCII, by the encoding of its stream and the locale in `environment`.

    Python writes UTF-8 in the locale C too, which says nothing about the terminal, so a locale that is named counts.
    With none, the encoding does: containers often name no locale, and their terminals show UTF-8.
    """
    if _bare(encoding or "") != "utf8":
        return False
    names = [name for name in LOCALE_VARIABLES if environment.get(name)]
    if names == ["LC_CTYPE", "LANG"] and environment["LC_CTYPE"] in COERCED:
        names = ["LANG"]
    locale = environment[names[0]] if names else ""
    return not locale or bool(environment.get("PYTHONIOENCODING")) or "utf8" in _bare(locale)


def as_ascii(text: str) -> str:
    """Return `text` with an ASCII character for each column that another character takes."""
    return text if text.isascii() else "".join(map(_letter, text.translate(_ASCII)))


def _letter(character: str) -> str:
    if character.isascii():
        return character
    columns = 2 if unicodedata.east_asian_width(character) in "WF" else 0 if unicodedata.combining(character) else 1
    plain = unicodedata.normalize("NFKD", character)[:1] if columns == 1 else "?"
    return (plain if plain.isascii() else "?") * columns


def _bare(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")
