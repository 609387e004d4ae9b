"""A server reads single records of an archive, and does not wait for one that hangs."""

import threading
from pathlib import Path

import pytest

from fairest_server.archive import reader
from fairest_server.archive.places import ArchiveUnavailable, Folder
from fairest_server.archive.reader import ArchiveReader
from fairest_server.archive.record_archive import RecordArchive
from tests.support.records import file_of, make_record

RECORD = make_record(1)


async def test_a_record_is_read(tmp_path: Path) -> None:
    archive = RecordArchive(Folder(tmp_path))
    archive.keep(RECORD.match_id, file_of(RECORD))
    assert await ArchiveReader(archive).read(RECORD.match_id) == file_of(RECORD)
    assert await ArchiveReader(archive).read("0" * 32) is None


async def test_an_archive_that_hangs_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "READ_SECONDS", 0.05)
    released = threading.Event()

    class Hanging(RecordArchive):
        def read(self, match_id: str) -> bytes | None:  # noqa: ARG002
            released.wait(20)
            return None

    try:
        with pytest.raises(ArchiveUnavailable, match="did not answer"):
            await ArchiveReader(Hanging(Folder(tmp_path))).read(RECORD.match_id)
    finally:
        released.set()
