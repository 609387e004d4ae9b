"""Where an archive's files are kept: a folder, and a storage that fsspec reaches."""

import os
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import pytest

from fairest_server.archive.places import ABANDONED_SECONDS, UNFINISHED, ArchiveUnavailable, Place, open_place

Open = Callable[[], Place]


@pytest.fixture(params=["path", "file", "memory"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    names = {"path": str(tmp_path / "a b"), "file": (tmp_path / "a b").as_uri(), "memory": f"memory://{uuid4().hex}/x"}
    return lambda: open_place(names[request.param])


def test_a_file_that_was_written_is_read_as_it_was(opened: Open) -> None:
    opened().write("abc/file.jsonl", b"\x00text\n")
    assert opened().read("abc/file.jsonl") == b"\x00text\n"


def test_a_file_that_is_not_there_is_none(opened: Open) -> None:
    assert opened().read("abc/file.jsonl") is None


def test_a_file_is_replaced(opened: Open) -> None:
    opened().write("abc/file.jsonl", b"one")
    opened().write("abc/file.jsonl", b"two")
    assert opened().read("abc/file.jsonl") == b"two"


def test_nothing_unfinished_is_left_behind(tmp_path: Path) -> None:
    open_place(str(tmp_path)).write("abc/file.jsonl", b"one")
    assert [str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()] == ["abc/file.jsonl"]


def test_unfinished_files_of_killed_writers_are_removed_after_an_hour(tmp_path: Path) -> None:
    folder = tmp_path / UNFINISHED
    folder.mkdir()
    old, new = folder / "old", folder / "new"
    old.write_bytes(b"")
    new.write_bytes(b"")
    at = new.stat().st_mtime - ABANDONED_SECONDS - 1
    os.utime(old, (at, at))
    assert open_place(str(tmp_path)).remove_abandoned() == 1
    assert list(folder.iterdir()) == [new]


def test_a_storage_that_has_nothing_unfinished_is_tidy(opened: Open) -> None:
    assert opened().remove_abandoned() == 0


def test_a_failed_write_names_the_file_and_the_reason(tmp_path: Path) -> None:
    (tmp_path / "abc").write_text("a file where a folder should be")
    with pytest.raises(ArchiveUnavailable, match=r"cannot write .*/abc/file.jsonl: (File exists|Not a directory)"):
        open_place(str(tmp_path)).write("abc/file.jsonl", b"one")
    assert list((tmp_path / UNFINISHED).iterdir()) == []


def test_a_storage_without_its_driver_says_what_to_install() -> None:
    with pytest.raises(ArchiveUnavailable, match=r"s3:// needs a driver that is not installed here: Install s3fs"):
        open_place("s3://bucket/prefix")


def test_a_url_that_names_no_storage_is_refused() -> None:
    with pytest.raises(ArchiveUnavailable, match="'nowhere://x' does not name an archive"):
        open_place("nowhere://x")


def test_a_file_is_not_taken_for_an_archive(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ArchiveUnavailable, match="is not a folder"):
        open_place(str(tmp_path / "file"))


def test_a_missing_folder_is_refused_where_it_must_exist(tmp_path: Path) -> None:
    with pytest.raises(ArchiveUnavailable, match="no folder"):
        open_place(str(tmp_path / "typo"), must_exist=True)
