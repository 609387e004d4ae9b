"""The index of the decision records: complete, with a title and a status for each, and links that lead somewhere."""

import re
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "docs" / "decisions"
ROW = re.compile(r"^\| (\d+) \| (.+?) \| (.+) \|$", re.MULTILINE)
LINK = re.compile(r"\[(.+)\]\((\d{4}-[a-z0-9-]+\.md)\)")
STATUS = re.compile(r"in force$|amended by \d+( and \d+)*: .|replaced by \d+$")
NUMBER = re.compile(r"\d+")

ROWS = {int(number): (title, status) for number, title, status in ROW.findall((FOLDER / "README.md").read_text())}
RECORDS = sorted(FOLDER.glob("0*.md"))


def record_of(number: int) -> list[str]:
    return [each.name for each in RECORDS if each.name.startswith(f"{number:04}-")]


def stands_in_the_index(record: Path) -> bool:
    """Return whether the row with the number of this record links to it by its own title."""
    number = int(record.name[:4])
    linked = LINK.fullmatch(ROWS[number][0]) if number in ROWS else None
    if linked is None:
        return False
    heading = record.read_text().splitlines()[0]
    return (linked[2], heading) == (record.name, f"# {number}. {linked[1]}")


def test_each_record_stands_in_the_index_under_its_own_title() -> None:
    assert RECORDS
    assert {record.name for record in RECORDS if not stands_in_the_index(record)} == set()


def names_other_rows(number: int, status: str) -> bool:
    """Return whether the status of a row has one of the known forms, and names other rows alone."""
    others = {int(other) for other in NUMBER.findall(status.partition(":")[0])}
    return STATUS.match(status) is not None and others <= set(ROWS) - {number}


def test_each_row_of_the_index_has_a_status_that_names_rows_of_the_index() -> None:
    assert {number: status for number, (_, status) in ROWS.items() if not names_other_rows(number, status)} == {}


def test_only_records_that_were_replaced_have_no_file() -> None:
    replaced = {number for number, (_, status) in ROWS.items() if status.startswith("replaced by")}
    assert {number for number in ROWS if not record_of(number)} == replaced


def test_the_numbers_of_the_index_ascend() -> None:
    """A number may be missing: it is reserved for a record that is being written."""
    assert list(ROWS) == sorted(ROWS)
