"""The glossary: one word for one thing, and the thing is in the code under the name that the glossary gives."""

import re
from importlib import import_module
from operator import attrgetter
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "glossary.md"
ROW = re.compile(r"^\| (?!Word \||---)(?P<word>[^|]+) \| (?P<meaning>[^|]+) \| (?P<where>[^|]+) \|$", re.MULTILINE)
WHERE = re.compile(r"`(?P<path>fairest_(?:protocol|server|cli)/[a-z_/]+)\.py:(?P<name>[A-Za-z_.]+)`")

ROWS = [match.groupdict() for match in ROW.finditer(PAGE.read_text())]


def is_in_the_code(where: str) -> bool:
    """Return whether the code has what a cell of the last column names."""
    found = WHERE.fullmatch(where)
    if found is None:
        return False
    try:
        attrgetter(found["name"])(import_module(found["path"].replace("/", ".")))
    except (ImportError, AttributeError):
        return False
    return True


def test_each_word_of_the_glossary_is_in_the_code_where_it_says() -> None:
    assert {row["word"]: row["where"] for row in ROWS if not is_in_the_code(row["where"])} == {}


def test_each_word_of_the_glossary_and_each_thing_has_one_row() -> None:
    assert len({row["word"] for row in ROWS}) == len(ROWS)
    assert len({row["where"] for row in ROWS}) == len(ROWS)


def test_each_meaning_in_the_glossary_is_a_sentence() -> None:
    assert [row["word"] for row in ROWS if not re.match(r"[A-Z].*\.$", row["meaning"])] == []


def test_every_line_of_a_table_in_the_glossary_is_a_row() -> None:
    lines = [line for line in PAGE.read_text().splitlines() if line.startswith("|")]
    assert lines
    assert len(lines) == len(ROWS) + 2 * lines.count("| Word | Meaning | In the code |")
