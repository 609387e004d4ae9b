"""Files that only their owner may read: folders that existed with rights for others, and new files."""

import os
import stat
import sys
from pathlib import Path

import pytest

from fairest_server.ops.private_files import ForeignFile, make_private

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")


def rights_of_others(folder: Path) -> dict[str, int]:
    """Return the files on which other users have rights, and the folder itself if they have some there."""
    modes = {path.name: stat.S_IMODE(path.lstat().st_mode) & 0o077 for path in (folder, *folder.rglob("*"))}
    return {name: mode for name, mode in modes.items() if mode}


def test_a_new_folder_is_private(tmp_path: Path) -> None:
    make_private(tmp_path / "a" / "b", [])
    assert rights_of_others(tmp_path / "a" / "b") == {}


def test_an_old_folder_and_the_named_files_in_it_become_private(tmp_path: Path) -> None:
    inner = tmp_path / "data" / "appendonlydir"
    inner.mkdir(parents=True, mode=0o755)
    (inner / "appendonly.aof").write_text("the key")
    (tmp_path / "data").chmod(0o755)
    (inner / "appendonly.aof").chmod(0o644)
    make_private(tmp_path / "data", ["*", "*/*"])
    assert rights_of_others(tmp_path / "data") == {}


def test_the_owner_keeps_all_rights(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data").chmod(0o755)
    make_private(tmp_path / "data", ["*", "*/*"])
    assert stat.S_IMODE((tmp_path / "data").stat().st_mode) == 0o700


def test_a_file_that_was_not_named_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "holiday.jpg").write_text("of the owner")
    (tmp_path / "data" / "holiday.jpg").chmod(0o644)
    make_private(tmp_path / "data", ["*.aof"])
    assert rights_of_others(tmp_path / "data") == {"holiday.jpg": 0o044}


def test_a_file_behind_a_link_is_left_as_it_is(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("of somebody")
    elsewhere.chmod(0o644)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "link").symlink_to(elsewhere)
    make_private(tmp_path / "data", ["*", "*/*"])
    assert stat.S_IMODE(elsewhere.stat().st_mode) == 0o644


def test_a_folder_of_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: tmp_path.stat().st_uid + 1)
    with pytest.raises(ForeignFile, match="belongs to another user"):
        make_private(tmp_path, ["*"])


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root may give files away")
def test_a_file_of_another_user_is_named(tmp_path: Path) -> None:
    (tmp_path / "appendonly.aof").write_text("the key")
    os.chown(tmp_path / "appendonly.aof", 12345, 12345)
    with pytest.raises(ForeignFile, match=r"appendonly\.aof in .* belongs to another user"):
        make_private(tmp_path, ["*"])


def test_a_system_without_users_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As Windows is."""
    monkeypatch.delattr(os, "geteuid")
    make_private(tmp_path / "new", [])
    assert (tmp_path / "new").is_dir()
