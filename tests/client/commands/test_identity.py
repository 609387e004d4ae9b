"""`fairest identity` as typed."""

from pathlib import Path

from fairest_cli.session.identity import open_identity
from tests.support.invoking import invoke
from tests.support.ports import free_port

URL = "ws://play.example:8765"
TOKEN = "s" * 43


def test_a_player_is_taken_to_another_machine(tmp_path: Path) -> None:
    here, there, file = tmp_path / "here", tmp_path / "there", str(tmp_path / "ann.json")
    with open_identity(URL, "ann", here / "data" / "fairest") as identity:
        identity.keep_token(TOKEN)
    exported = invoke(here, "identity", "export", file, "--server", URL, "--name", "ann")
    imported = invoke(there, "identity", "import", file)
    assert (exported.exit_code, imported.exit_code) == (0, 0)
    assert imported.stdout == f"Your player at {URL} is on this machine now: fairest --server {URL} --name ann\n"
    with open_identity(URL, "ann", there / "data" / "fairest") as identity:
        assert identity.token == TOKEN


def test_the_token_is_not_printed(tmp_path: Path) -> None:
    with open_identity(URL, "ann", tmp_path / "data" / "fairest") as identity:
        identity.keep_token(TOKEN)
    ran = invoke(tmp_path, "identity", "export", str(tmp_path / "ann.json"), "--server", URL, "--name", "ann")
    assert TOKEN not in ran.output


def test_without_a_player_nothing_is_exported(tmp_path: Path) -> None:
    ran = invoke(tmp_path, "identity", "export", str(tmp_path / "ann.json"), "--server", URL, "--name", "ann")
    assert (ran.exit_code, ran.stderr) == (1, f"fairest: there is no player ann at {URL} on this machine\n")


def test_a_file_that_is_missing_is_named(tmp_path: Path) -> None:
    ran = invoke(tmp_path, "identity", "import", str(tmp_path / "none.json"))
    assert ran.exit_code == 1
    assert "none.json" in ran.stderr


def test_a_token_is_not_renewed_without_its_server(tmp_path: Path) -> None:
    url = f"ws://127.0.0.1:{free_port()}"
    with open_identity(url, "ann", tmp_path / "data" / "fairest") as identity:
        identity.keep_token("secret")
    ran = invoke(tmp_path, "identity", "renew", "--server", url, "--name", "ann")
    assert ran.exit_code == 1
    assert ran.stderr.startswith("fairest: cannot renew the token: ")
    assert "secret" not in ran.output
