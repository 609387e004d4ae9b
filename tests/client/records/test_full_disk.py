"""Records and receipts on a disk without room: each line and each file is written in full or not at all."""

from pathlib import Path

import pytest

from fairest_cli.model.round_end import WayOut
from fairest_cli.records.files import save_record
from fairest_cli.records.private_file import write_private
from fairest_cli.records.receipts import Receipt, read_receipt
from fairest_protocol.messages.from_server import MatchRecord
from tests.client.records.test_receipts import KNOWN, MOVE, snapshot
from tests.support import staged
from tests.support.full_disk import no_file_longer_than


def match_record() -> MatchRecord:
    record = staged.finished().record()
    return MatchRecord(match=record.match_id, lines=tuple(record.lines()))


def begun_receipt(folder: Path) -> Receipt:
    receipt = Receipt(folder)
    receipt.add_heard(snapshot(), KNOWN, 7)
    return receipt


def test_a_receipt_that_cannot_be_written_says_so_and_keeps_its_lines(tmp_path: Path) -> None:
    receipt = begun_receipt(tmp_path)
    assert receipt.path is not None
    with no_file_longer_than(receipt.path.stat().st_size + 10):
        receipt.add_said(MOVE, 8)
    assert "could not be written" in receipt.problem
    receipt.add_said(MOVE, 9)
    receipt.close()
    assert (receipt.problem, len(list(read_receipt(receipt.path)))) == ("", 4)


def test_no_part_of_a_line_is_left_in_a_receipt(tmp_path: Path) -> None:
    receipt = begun_receipt(tmp_path)
    assert receipt.path is not None
    before = receipt.path.read_bytes()
    with no_file_longer_than(len(before) + 10):
        receipt.add_said(MOVE, 8)
        receipt.close()
    assert receipt.path.read_bytes() == before


def test_a_receipt_that_cannot_be_written_can_be_closed(tmp_path: Path) -> None:
    receipt = begun_receipt(tmp_path)
    with no_file_longer_than(1):
        receipt.add_end(WayOut.QUIT, "", 8)
        receipt.close()


def test_an_earlier_receipt_survives_a_folder_that_opens_late(tmp_path: Path) -> None:
    begun_receipt(tmp_path).close()
    receipt = Receipt(tmp_path)
    with no_file_longer_than(10):
        receipt.add_heard(snapshot(), KNOWN, 7)
    receipt.add_said(MOVE, 8)
    receipt.close()
    assert receipt.path is not None
    assert len(list(read_receipt(receipt.path))) == 5


def test_no_part_of_a_record_is_left(tmp_path: Path) -> None:
    with no_file_longer_than(100), pytest.raises(OSError, match=r"large|space"):
        save_record(match_record(), tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("room", "problem"), [(0, "File too large"), (1, "No space left on device"), (57, "No space left on device")]
)
def test_a_line_of_58_bytes_is_not_begun_where_there_is_no_room_for_it(tmp_path: Path, room: int, problem: str) -> None:
    receipt = begun_receipt(tmp_path)
    assert receipt.path is not None
    before = receipt.path.read_bytes()
    with no_file_longer_than(len(before) + room):
        receipt.add_said(MOVE, 8)
        receipt.close()
    wanted = (before, f"The receipt {receipt.path} could not be written: {problem}.")
    assert (receipt.path.read_bytes(), receipt.problem) == wanted


def test_a_copy_has_the_lines_that_the_file_lacks(tmp_path: Path) -> None:
    receipt = begun_receipt(tmp_path / "full")
    assert receipt.path is not None
    with no_file_longer_than(receipt.path.stat().st_size + 5):
        receipt.add_said(MOVE, 8)
        receipt.add_said(MOVE, 9)
    copy = receipt.save_copy(tmp_path / "there")
    receipt.add_said(MOVE, 10)
    receipt.close()
    assert copy is not None
    lines = list(read_receipt(receipt.path))
    assert (len(lines), list(read_receipt(copy))) == (5, lines[:4])


def test_a_receipt_of_which_nothing_could_be_written_is_copied_in_full(tmp_path: Path) -> None:
    (tmp_path / "receipts").write_text("a file in the place of the folder")
    copy = begun_receipt(tmp_path / "receipts").save_copy(tmp_path / "there")
    assert copy is not None
    assert copy.name.startswith("quiet-amber-otter-seat2-") and len(list(read_receipt(copy))) == 2


def test_a_receipt_that_has_not_begun_has_no_copy(tmp_path: Path) -> None:
    assert Receipt(tmp_path).save_copy(tmp_path) is None


def test_a_private_file_that_does_not_fit_leaves_the_old_one_alone(tmp_path: Path) -> None:
    write_private(tmp_path / "player.json", "old")
    with no_file_longer_than(5), pytest.raises(OSError, match=r"large|space"):
        write_private(tmp_path / "player.json", "much longer")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("player.json", "old")]
