"""Terminals without UTF-8: how one is noticed, and what is written there."""

import pytest

from fairest_cli.text.letters import as_ascii, shows_unicode

TERMINALS: list[tuple[str | None, dict[str, str], bool]] = [
    ("utf-8", {"LANG": "en_US.UTF-8"}, True),
    ("UTF8", {"LC_ALL": "C.utf8"}, True),
    ("utf-8", {}, True),
    ("utf-8", {"LC_CTYPE": "UTF-8"}, True),
    ("utf-8", {"LC_ALL": "C"}, False),
    ("utf-8", {"LC_ALL": "C", "LANG": "en_US.UTF-8"}, False),
    ("utf-8", {"LC_ALL": "", "LANG": "de_DE.UTF-8"}, True),
    ("utf-8", {"LANG": "POSIX"}, False),
    ("utf-8", {"LC_CTYPE": "C.UTF-8", "LANG": "en_US.ISO-8859-1"}, False),
    ("utf-8", {"LC_CTYPE": "en_US.UTF-8", "LANG": "C"}, True),
    ("iso8859-1", {"LANG": "en_US.ISO-8859-1"}, False),
    ("ascii", {"LANG": "en_US.UTF-8", "PYTHONIOENCODING": "ascii"}, False),
    ("utf-8", {"LC_ALL": "C", "PYTHONIOENCODING": "utf-8"}, True),
    (None, {"LANG": "en_US.UTF-8"}, False),
]
"""The encoding and the environment of a terminal, and whether it shows Unicode."""


def test_the_encoding_and_the_locale_say_whether_a_terminal_shows_unicode() -> None:
    wrong = [
        (encoding, environment, shown)
        for encoding, environment, shown in TERMINALS
        if shows_unicode(encoding, environment) is not shown
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("text", "plain"),
    [("╭─ 7♦ ─╮", "+- 7D -+"), ("█▀░…►", "##:.>"), ("é日", "e??"), ("plain", "plain"), ("⣀", "?")],
)
def test_every_column_has_an_ascii_character(text: str, plain: str) -> None:
    assert as_ascii(text) == plain
