"""The glossary: one word for one thing, and the thing is in the code under the name that the glossary gives."""

import re
from importlib import import_module
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "glossary.md"
ROW = re.compile(r"^\| (?!Word \||---)(?P<word>[^|]+) \| (?P<meaning>[^|]+) \| (?P<where>[^|]+) \|$", re.MULTILINE)
WHERE = re.compile(r"`(?P<path>fairest_(?:protocol|server|cli)/[a-z_/]+)\.py:(?P<name>[A-Za-z_.]+)`")

ROWS = [match.groupdict() for match in ROW.finditer(PAGE.read_text())]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["word"])
def test_a_word_of_the_glossary_is_in_the_code_where_it_says(row: dict[str, str]) -> None:
    found = WHERE.fullmatch(row["where"])
    assert found
    thing: object = import_module(found["path"].replace("/", "."))
    for name in found["name"].split("."):
        thing = getattr(thing, name)


def test_each_word_of_the_glossary_and_each_thing_has_one_row() -> None:
    assert len({row["word"] for row in ROWS}) == len(ROWS)
    assert len({row["where"] for row in ROWS}) == len(ROWS)


def test_each_meaning_in_the_glossary_is_a_sentence() -> None:
    assert [row["word"] for row in ROWS if not re.match(r"[A-Z].*\.$", row["meaning"])] == []


def test_every_line_of_a_table_in_the_glossary_is_a_row() -> None:
    lines = [line for line in PAGE.read_text().splitlines() if line.startswith("|")]
    assert len(lines) == len(ROWS) + 2 * lines.count("| Word | Meaning | In the code |")
