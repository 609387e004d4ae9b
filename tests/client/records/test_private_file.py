"""Files for their owner only, in a folder where another user may have prepared something."""

from pathlib import Path

import pytest

from fairest_cli.records.private_file import write_private


def test_the_file_is_for_its_owner_only_although_one_for_everybody_was_there(tmp_path: Path) -> None:
    path = tmp_path / "player.json"
    path.touch()
    path.chmod(0o666)
    write_private(path, "text")
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("text", 0o600)


@pytest.mark.parametrize("name", ["player.new", ".player.json.new", "player.json.new"])
def test_a_file_of_a_similar_name_stays_as_it_was(tmp_path: Path, name: str) -> None:
    other = tmp_path / name
    other.write_text("other")
    other.chmod(0o666)
    write_private(tmp_path / "player.json", "text")
    assert (other.read_text(), (tmp_path / "player.json").stat().st_mode & 0o777) == ("other", 0o600)


def test_a_link_that_was_prepared_leads_nowhere(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("other")
    (tmp_path / "player.new").symlink_to(target)
    write_private(tmp_path / "player.json", "text")
    assert target.read_text() == "other"


def test_nothing_is_left_beside_the_file(tmp_path: Path) -> None:
    write_private(tmp_path / "player.json", "text")
    assert [path.name for path in tmp_path.iterdir()] == ["player.json"]


def test_a_file_that_cannot_be_put_in_its_place_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "player.json").mkdir()
    with pytest.raises(IsADirectoryError):
        write_private(tmp_path / "player.json", "text")
    assert [path.name for path in tmp_path.iterdir()] == ["player.json"]


def test_the_folders_of_a_private_file_are_made_for_its_owner_only(tmp_path: Path) -> None:
    write_private(tmp_path / "data" / "players" / "player.json", "text")
    write_private(tmp_path / "data" / "players" / "player.json", "again")
    assert (tmp_path / "data" / "players").stat().st_mode & 0o777 == 0o700
