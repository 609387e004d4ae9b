"""Records and receipts are files of the player's own, in the folders where the system keeps a user's data."""

import os
from contextlib import nullcontext
from pathlib import Path

import pytest

from fairest_cli.records.files import (
    load_record,
    read_bounded,
    records_folder,
    save_record,
    short_path,
    split_lines,
    write_new,
)
from fairest_cli.records.receipts import receipts_folder
from fairest_protocol.calculation.record import BadRecord
from fairest_protocol.messages.from_server import MatchRecord
from fairest_server.live.signing import SigningKey
from tests.support import staged


@pytest.fixture
def data_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the system keeps the data of the user's programs."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.fixture(scope="module")
def message() -> MatchRecord:
    record = staged.finished().record()
    return MatchRecord(match=record.match_id, lines=tuple(record.lines()))


def test_records_are_kept_with_the_data_of_the_user(data_home: Path) -> None:
    assert records_folder() == data_home / "fairest" / "records"


def test_receipts_are_kept_with_the_data_of_the_user(data_home: Path) -> None:
    assert receipts_folder() == data_home / "fairest" / "receipts"


def test_a_path_in_the_home_folder_is_shortened(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert short_path(tmp_path / "races" / "one.jsonl") == "~/races/one.jsonl"


def test_a_path_outside_of_the_home_folder_stays_whole(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert short_path(tmp_path / "one.jsonl") == str(tmp_path / "one.jsonl")


def test_a_saved_record_is_named_after_its_room_and_its_match(tmp_path: Path, message: MatchRecord) -> None:
    path = save_record(message, tmp_path)
    assert path == tmp_path / f"{load_record(path).room}-{message.match[:8]}.jsonl"


def test_a_saved_record_holds_every_line_that_the_server_sent(tmp_path: Path, message: MatchRecord) -> None:
    path = save_record(message, tmp_path)
    assert path.read_bytes().decode() == "".join(f"{line}\n" for line in message.lines)


def test_a_record_is_saved_in_the_records_folder_by_default(data_home: Path, message: MatchRecord) -> None:
    assert save_record(message).parent == data_home / "fairest" / "records"


def test_a_record_is_saved_once(tmp_path: Path, message: MatchRecord) -> None:
    assert save_record(message, tmp_path) == save_record(message, tmp_path)
    assert len(list(tmp_path.iterdir())) == 1


@pytest.fixture(scope="module")
def other_message() -> MatchRecord:
    """A record of another server, which has chosen the same room and the same match."""
    record = SigningKey(bytes([1]) * 32).sign(staged.finished().record())
    return MatchRecord(match=record.match_id, lines=tuple(record.lines()))


def test_a_record_of_another_server_takes_no_place_of_one_that_is_there(
    tmp_path: Path, message: MatchRecord, other_message: MatchRecord
) -> None:
    first = save_record(message, tmp_path)
    kept = first.read_bytes()
    second = save_record(other_message, tmp_path)
    assert (first.read_bytes(), second.name) == (kept, f"{first.stem}-2.jsonl")
    assert load_record(second).key != load_record(first).key


def test_a_record_that_was_saved_under_a_number_is_saved_once(
    tmp_path: Path, message: MatchRecord, other_message: MatchRecord
) -> None:
    save_record(message, tmp_path)
    assert save_record(other_message, tmp_path) == save_record(other_message, tmp_path)


def test_a_link_in_the_place_of_a_record_is_not_written_through(tmp_path: Path, message: MatchRecord) -> None:
    name = save_record(message, tmp_path / "elsewhere").name
    (tmp_path / "precious").write_text("mine")
    (tmp_path / name).symlink_to(tmp_path / "precious")
    save_record(message, tmp_path)
    assert (tmp_path / "precious").read_text() == "mine"


def test_the_folders_above_a_record_are_made(tmp_path: Path, message: MatchRecord) -> None:
    assert save_record(message, tmp_path / "races" / "today").exists()


def test_a_file_that_is_larger_than_a_record_is_not_read_to_its_end(tmp_path: Path) -> None:
    with (tmp_path / "race.jsonl").open("wb") as file:
        file.truncate(2**40)
    with pytest.raises(BadRecord, match=r"^the file is larger than a record can be, 4 MiB$"):
        load_record(tmp_path / "race.jsonl")


def test_a_file_that_is_not_text_is_a_broken_record(tmp_path: Path) -> None:
    (tmp_path / "race.jsonl").write_bytes(b"\xff\xfe")
    with pytest.raises(BadRecord, match=r"^the file is not text: "):
        load_record(tmp_path / "race.jsonl")


@pytest.mark.parametrize(("lines", "is_read"), [(10_000, True), (10_001, False)])
def test_the_text_of_a_record_has_ten_thousand_lines_at_most(lines: int, is_read: bool) -> None:
    with (
        nullcontext()
        if is_read
        else pytest.raises(BadRecord, match=r"^there are more than 10000 lines, and a record has fewer$")
    ):
        assert split_lines("{}\n" * lines) == ["{}"] * lines


@pytest.mark.parametrize("text", ["{}", "{}\n{}"])
def test_a_text_that_is_cut_short_is_not_a_record(text: str) -> None:
    with pytest.raises(BadRecord, match=r"^the file does not end where a record ends: its last line has no line feed$"):
        split_lines(text)


@pytest.mark.parametrize(("more", "is_read"), [(0, True), (1, False)])
def test_a_file_of_four_mebibytes_is_read(tmp_path: Path, more: int, is_read: bool) -> None:
    (tmp_path / "race.jsonl").touch()
    os.truncate(tmp_path / "race.jsonl", 2**22 + more)
    with nullcontext() if is_read else pytest.raises(BadRecord, match="is larger than a record can be"):
        assert len(read_bounded(tmp_path / "race.jsonl")) == 2**22


def test_files_of_one_name_are_numbered_from_the_second_on(tmp_path: Path) -> None:
    written = [write_new(tmp_path, "race", content).name for content in (b"1", b"2", b"3", b"2")]
    assert written == ["race.jsonl", "race-2.jsonl", "race-3.jsonl", "race-2.jsonl"]
