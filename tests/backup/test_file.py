"""A backup's file is whole or refused, closed to others, and never in the way of an earlier one."""

import gzip
import os
from collections.abc import Callable
from pathlib import Path

from fairest_server.backup.entries import Heading, Text, Trailer, encode_line
from fairest_server.backup.file import ABANDONED_SECONDS, BackupFile, check_backup, read_entries

ENTRIES = [Text(f"fairest:{number}", 0, "ÿ\x00" * 40) for number in range(50)]


def write(folder: Path) -> Path:
    file = BackupFile(folder, 1_795_433_234_611)
    for entry in ENTRIES:
        file.add(entry)
    return file.finish()


def test_entries_are_read_as_they_were_written(tmp_path: Path) -> None:
    path = write(tmp_path)
    assert path.name == "fairest-20261123T112714Z.backup"
    assert list(read_entries(path)) == ENTRIES
    assert (check_backup(path).entries, check_backup(path).taken_at_ms) == (50, 1_795_433_234_611)


def test_only_the_owner_may_read_it(tmp_path: Path) -> None:
    assert write(tmp_path).stat().st_mode & 0o777 == 0o600


def test_an_earlier_backup_of_the_same_second_stays(tmp_path: Path) -> None:
    first, second = write(tmp_path), write(tmp_path)
    assert first != second
    assert check_backup(first) == check_backup(second)


def test_an_unfinished_file_has_no_name_of_a_backup_and_is_discarded(tmp_path: Path) -> None:
    file = BackupFile(tmp_path, 0)
    file.add(ENTRIES[0])
    assert list(tmp_path.glob("fairest-*")) == []
    file.discard()
    assert list(tmp_path.iterdir()) == []


def test_a_finished_file_survives_being_discarded(tmp_path: Path) -> None:
    file = BackupFile(tmp_path, 0)
    path = file.finish()
    file.discard()
    assert check_backup(path).entries == 0


def test_files_of_killed_backups_are_removed_after_an_hour(tmp_path: Path) -> None:
    killed, running = BackupFile(tmp_path, 0), BackupFile(tmp_path, 1)
    [old, *_] = sorted(tmp_path.iterdir())
    at = old.stat().st_mtime - ABANDONED_SECONDS - 1
    os.utime(old, (at, at))
    write(tmp_path)
    assert not old.exists()
    assert len(list(tmp_path.glob(".*"))) == 1
    killed.discard()
    running.discard()


def _cut(count: int) -> Callable[[bytes], bytes]:
    return lambda content: content[:-count]


def _lines(change: Callable[[list[bytes]], list[bytes]]) -> Callable[[bytes], bytes]:
    return lambda content: gzip.compress(b"".join(change(gzip.decompress(content).splitlines(keepends=True))))


DAMAGE: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "cut by a byte": (_cut(1), "is not a whole backup"),
    "cut in half": (lambda content: content[: len(content) // 2], "is not a whole backup"),
    "empty": (lambda _: b"", "is not a whole backup: its end is missing"),
    "another file": (lambda _: b"REDIS0011", "is not a whole backup"),
    "a byte changed": (lambda content: content[:200] + bytes([content[200] ^ 1]) + content[201:], "is not a"),
    "bytes behind it": (lambda content: content + b"more", "is not a whole backup"),
    "another backup behind it": (lambda content: content * 2, "stands in the wrong place"),
    "a line changed": (
        _lines(lambda lines: [*lines[:3], lines[3].replace(b"fairest:2", b"fairest:x"), *lines[4:]]),
        "hash",
    ),
    "a line left out": (_lines(lambda lines: lines[:3] + lines[4:]), "its content does not fit its hash"),
    "without its last line": (_lines(lambda lines: lines[:-1]), "its end is missing"),
    "without its first line": (_lines(lambda lines: lines[1:]), "line 1 stands in the wrong place"),
    "a line that is none": (_lines(lambda lines: [lines[0], b"{}\n", *lines[1:]]), "line 2 cannot be read"),
    "of a later format": (
        lambda _: gzip.compress(encode_line(Heading(9, 0)) + encode_line(Trailer(0, ""))),
        "is a backup of format 9; this version reads 2",
    ),
}


def fault_of(path: Path, content: bytes) -> str:
    """Write a file and return the error with which it is refused, empty if it is a backup."""
    path.write_bytes(content)
    try:
        check_backup(path)
    except Exception as reason:
        return f"{type(reason).__name__}: {reason}"
    return ""


def test_a_damaged_backup_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path)
    whole = path.read_bytes()
    faults = {damage: fault_of(path, change(whole)) for damage, (change, _) in DAMAGE.items()}
    wrong = [
        (damage, fault)
        for damage, fault in faults.items()
        if not fault.startswith("BadBackup: ") or DAMAGE[damage][1] not in fault
    ]
    assert wrong == []
