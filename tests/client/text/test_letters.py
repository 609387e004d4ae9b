"""Terminals without UTF-8: how one is noticed, and what is written there."""

import pytest

from fairest_cli.text.letters import as_ascii, shows_unicode


@pytest.mark.parametrize(
    ("encoding", "environment", "shown"),
    [
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
    ],
)
def test_the_encoding_and_the_locale_say_whether_a_terminal_shows_unicode(
    encoding: str | None, environment: dict[str, str], shown: bool
) -> None:
    assert shows_unicode(encoding, environment) is shown


@pytest.mark.parametrize(
    ("text", "plain"),
    [("╭─ 7♦ ─╮", "+- 7D -+"), ("█▀░…►", "##:.>"), ("é日", "e??"), ("plain", "plain"), ("⣀", "?")],
)
def test_every_column_has_an_ascii_character(text: str, plain: str) -> None:
    assert as_ascii(text) == plain
