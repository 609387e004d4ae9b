"""A player on its way to another machine: complete, for its owner only, never in the place of another by accident."""

import json
from pathlib import Path
from typing import Any

import pytest

from fairest_cli.model.seal_check import EntropyCommitment
from fairest_cli.session.identity import Identity, IdentityInUse, open_identity
from fairest_cli.session.identity_transfer import MovedPlayer, NotMoved, export_player, import_player
from fairest_cli.session.recognition import Recognised, UnknownPlayer
from tests.support.moving import NOT_ASKED, import_unasked

SECRET = "s" * 43
"""A token of the form that servers give."""
URL = "ws://play.example:8765"
COMMITMENT = EntropyCommitment(b"round", b"commitment", 1, b"entropy", b"hash", b"other")


@pytest.fixture
def here(tmp_path: Path) -> Path:
    return tmp_path / "here"


@pytest.fixture
def there(tmp_path: Path) -> Path:
    return tmp_path / "there"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "ann.json"


def keep(folder: Path, token: str, name: str | None = "ann") -> None:
    with open_identity(URL, name, folder) as identity:
        identity.keep_token(token)
        identity.keep_entropy_commitment(COMMITMENT)


def token_in(folder: Path, name: str | None = "ann") -> str | None:
    with open_identity(URL, name, folder) as identity:
        return identity.token


@pytest.mark.parametrize("name", ["ann", None])
def test_a_player_is_the_same_on_the_other_machine(here: Path, there: Path, file: Path, name: str | None) -> None:
    keep(here, SECRET, name)
    export_player(URL, name, file, here)
    assert import_unasked(file, there) == MovedPlayer(URL, name, NOT_ASKED)
    with open_identity(URL, name, there) as identity:
        assert (identity.token, identity.entropy_commitment) == (SECRET, COMMITMENT)


def test_the_file_is_for_its_owner_only(here: Path, file: Path) -> None:
    keep(here, SECRET)
    export_player(URL, "ann", file, here)
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_file_that_exists_is_not_overwritten(here: Path, file: Path) -> None:
    keep(here, SECRET)
    file.write_text("dear diary")
    with pytest.raises(NotMoved, match="exists"):
        export_player(URL, "ann", file, here)
    assert file.read_text() == "dear diary"


def test_a_player_that_is_not_there_cannot_be_exported(here: Path, file: Path) -> None:
    with pytest.raises(NotMoved, match="there is no player ann at ws:"):
        export_player(URL, "ann", file, here)
    assert not file.exists()


def test_a_player_that_is_in_use_is_not_exported(here: Path, file: Path) -> None:
    keep(here, SECRET)
    with open_identity(URL, "ann", here), pytest.raises(IdentityInUse):
        export_player(URL, "ann", file, here)


def test_another_player_keeps_its_place(here: Path, there: Path, file: Path) -> None:
    keep(here, SECRET)
    keep(there, "other")
    export_player(URL, "ann", file, here)
    with pytest.raises(NotMoved, match="--replace takes its place"):
        import_unasked(file, there)
    assert token_in(there) == "other"


def test_another_player_is_replaced_on_request(here: Path, there: Path, file: Path) -> None:
    keep(here, SECRET)
    keep(there, "other")
    export_player(URL, "ann", file, here)
    import_unasked(file, there, replaces=True)
    assert token_in(there) == SECRET


def test_a_player_that_its_server_does_not_know_takes_no_place(here: Path, there: Path, file: Path) -> None:
    def ask(_server: str, _player: Identity) -> Recognised:
        raise UnknownPlayer

    keep(here, SECRET)
    keep(there, "other")
    export_player(URL, "ann", file, here)
    with pytest.raises(NotMoved, match="knows no player with the token of this file"):
        import_player(file, ask, replaces=True, folder=there)
    assert token_in(there) == "other"


def test_the_same_player_may_be_imported_again(here: Path, there: Path, file: Path) -> None:
    keep(here, SECRET)
    export_player(URL, "ann", file, here)
    for _ in range(2):
        import_unasked(file, there)
    assert token_in(there) == SECRET


GOOD: dict[str, Any] = {
    "fairest_player": 1,
    "server": URL,
    "name": "ann",
    "player": {"token": SECRET, "server_key": None, "bond": None},
}


@pytest.mark.parametrize(
    "content",
    [
        "",
        "no JSON",
        "[]",
        "[" * 50_000,
        " " * 70_000 + json.dumps(GOOD),
        json.dumps(GOOD | {"fairest_player": 2}),
        json.dumps(GOOD | {"server": "http://play.example"}),
        json.dumps(GOOD | {"server": None}),
        json.dumps(GOOD | {"name": "../../ann"}),
        json.dumps(GOOD | {"name": 5}),
        json.dumps(GOOD | {"player": None}),
        json.dumps(GOOD | {"player": {"token": None}}),
        json.dumps(GOOD | {"player": {"token": 5}}),
        json.dumps(GOOD | {"player": {"token": "too short"}}),
        json.dumps(GOOD | {"player": {"token": SECRET, "next_token": "too short"}}),
        json.dumps(GOOD | {"player": {"token": "\x1b[2J" + "x" * 39}}),
        json.dumps(GOOD | {"player": {"token": SECRET, "server_key": "no hex"}}),
        json.dumps(GOOD | {"player": {"token": SECRET, "server_key": 5}}),
        json.dumps(GOOD | {"player": {"token": SECRET, "bond": {"of": "nobody"}}}),
        json.dumps(GOOD | {"player": {"token": SECRET, "bond": 5}}),
    ],
)
def test_what_is_not_the_file_of_a_player_changes_nothing(there: Path, file: Path, content: str) -> None:
    keep(there, "other")
    file.write_text(content)
    with pytest.raises(NotMoved, match="is not the file of a player"):
        import_unasked(file, there, replaces=True)
    assert token_in(there) == "other"


def test_a_player_that_a_folder_does_not_take_is_not_imported(there: Path, file: Path) -> None:
    there.write_text("a file in the place of the folder")
    file.write_text(json.dumps(GOOD))
    with pytest.raises(NotMoved, match="could not be saved"):
        import_unasked(file, there)


def test_the_key_of_the_server_that_this_machine_knows_is_kept(there: Path, file: Path) -> None:
    keep(there, SECRET)
    with open_identity(URL, "ann", there) as identity:
        identity.become({"token": SECRET, "server_key": "aa" * 32, "bond": None})
    file.write_text(json.dumps(GOOD | {"player": {"token": SECRET, "server_key": "bb" * 32, "bond": None}}))
    with pytest.raises(NotMoved, match="another key of"):
        import_unasked(file, there)
    import_unasked(file, there, replaces=True)
    with open_identity(URL, "ann", there) as identity:
        assert identity.server_key == bytes.fromhex("bb" * 32)


def test_what_another_user_may_read_is_imported_for_its_owner_only(there: Path, file: Path) -> None:
    file.write_text(json.dumps(GOOD))
    file.chmod(0o644)
    import_unasked(file, there)
    (stored,) = there.rglob("*.json")
    assert stored.stat().st_mode & 0o777 == 0o600


def test_a_link_in_the_place_of_the_new_file_leads_nowhere(here: Path, file: Path, tmp_path: Path) -> None:
    keep(here, SECRET)
    elsewhere = tmp_path / "elsewhere"
    file.symlink_to(elsewhere)
    export_player(URL, "ann", file, here)
    assert (elsewhere.exists(), file.is_symlink()) == (False, False)
