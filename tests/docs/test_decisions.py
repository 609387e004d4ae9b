"""The index of the decision records: complete, with a title and a status for each, and links that lead somewhere."""

import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "docs" / "decisions"
ROW = re.compile(r"^\| (\d+) \| (.+?) \| (.+) \|$", re.MULTILINE)
LINK = re.compile(r"\[(.+)\]\((\d{4}-[a-z0-9-]+\.md)\)")
NUMBER = re.compile(r"\d+")

ROWS = {int(number): (title, status) for number, title, status in ROW.findall((FOLDER / "README.md").read_text())}
RECORDS = sorted(FOLDER.glob("0*.md"))


def record_of(number: int) -> list[str]:
    return [each.name for each in RECORDS if each.name.startswith(f"{number:04}-")]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.stem)
def test_a_record_stands_in_the_index_under_its_own_title(record: Path) -> None:
    heading = record.read_text().splitlines()[0]
    number = int(record.name[:4])
    linked = LINK.fullmatch(ROWS[number][0])
    assert linked
    assert linked[2] == record.name
    assert heading == f"# {number}. {linked[1]}"


@pytest.mark.parametrize("number", ROWS)
def test_a_row_of_the_index_has_a_status_that_names_rows_of_the_index(number: int) -> None:
    status = ROWS[number][1]
    assert re.match(r"in force$|amended by \d+( and \d+)*: .|replaced by \d+$", status)
    assert {int(other) for other in NUMBER.findall(status.partition(":")[0])} <= set(ROWS) - {number}


@pytest.mark.parametrize("number", ROWS)
def test_only_a_record_that_was_replaced_has_no_file(number: int) -> None:
    assert bool(record_of(number)) != ROWS[number][1].startswith("replaced by")


def test_the_numbers_of_the_index_ascend() -> None:
    """A number may be missing: it is reserved for a record that is being written."""
    assert list(ROWS) == sorted(ROWS)
