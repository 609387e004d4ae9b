"""A player on its way to another machine: complete, for its owner only, never in the place of another by accident."""

import json
from pathlib import Path
from typing import Any

import pytest

from fairest_cli.model.seal_check import EntropyCommitment
from fairest_cli.session.identity import IdentityInUse, open_identity
from fairest_cli.session.identity_transfer import MovedPlayer, NotMoved, export_player, import_player

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
    keep(here, "secret", name)
    export_player(URL, name, file, here)
    assert import_player(file, folder=there) == MovedPlayer(URL, name)
    with open_identity(URL, name, there) as identity:
        assert (identity.token, identity.entropy_commitment) == ("secret", COMMITMENT)


def test_the_file_is_for_its_owner_only(here: Path, file: Path) -> None:
    keep(here, "secret")
    export_player(URL, "ann", file, here)
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_file_that_exists_is_not_overwritten(here: Path, file: Path) -> None:
    keep(here, "secret")
    file.write_text("dear diary")
    with pytest.raises(NotMoved, match="exists"):
        export_player(URL, "ann", file, here)
    assert file.read_text() == "dear diary"


def test_a_player_that_is_not_there_cannot_be_exported(here: Path, file: Path) -> None:
    with pytest.raises(NotMoved, match="there is no player ann at ws:"):
        export_player(URL, "ann", file, here)
    assert not file.exists()


def test_a_player_that_is_in_use_is_not_exported(here: Path, file: Path) -> None:
    keep(here, "secret")
    with open_identity(URL, "ann", here), pytest.raises(IdentityInUse):
        export_player(URL, "ann", file, here)


def test_another_player_keeps_its_place(here: Path, there: Path, file: Path) -> None:
    keep(here, "secret")
    keep(there, "other")
    export_player(URL, "ann", file, here)
    with pytest.raises(NotMoved, match="--replace takes its place"):
        import_player(file, folder=there)
    assert token_in(there) == "other"


def test_another_player_is_replaced_on_request(here: Path, there: Path, file: Path) -> None:
    keep(here, "secret")
    keep(there, "other")
    export_player(URL, "ann", file, here)
    import_player(file, replaces=True, folder=there)
    assert token_in(there) == "secret"


def test_the_same_player_may_be_imported_again(here: Path, there: Path, file: Path) -> None:
    keep(here, "secret")
    export_player(URL, "ann", file, here)
    for _ in range(2):
        import_player(file, folder=there)
    assert token_in(there) == "secret"


GOOD: dict[str, Any] = {
    "fairest_player": 1,
    "server": URL,
    "name": "ann",
    "player": {"token": "secret", "server_key": None, "bond": None},
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
        json.dumps(GOOD | {"player": {"token": "secret", "server_key": "no hex"}}),
        json.dumps(GOOD | {"player": {"token": "secret", "server_key": 5}}),
        json.dumps(GOOD | {"player": {"token": "secret", "bond": {"of": "nobody"}}}),
        json.dumps(GOOD | {"player": {"token": "secret", "bond": 5}}),
    ],
)
def test_what_is_not_the_file_of_a_player_changes_nothing(there: Path, file: Path, content: str) -> None:
    keep(there, "other")
    file.write_text(content)
    with pytest.raises(NotMoved, match="is not the file of a player"):
        import_player(file, replaces=True, folder=there)
    assert token_in(there) == "other"


def test_a_player_that_a_folder_does_not_take_is_not_imported(there: Path, file: Path) -> None:
    there.write_text("a file in the place of the folder")
    file.write_text(json.dumps(GOOD))
    with pytest.raises(NotMoved, match="could not be saved"):
        import_player(file, folder=there)
