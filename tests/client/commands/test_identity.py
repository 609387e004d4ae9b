"""`fairest identity` as typed."""

import asyncio
from pathlib import Path

from typer.testing import Result

from fairest_cli.session.identity import open_identity
from tests.support.invoking import invoke
from tests.support.ports import free_port
from tests.support.wire_client import open_client

URL = "ws://play.example:8765"
TOKEN = "s" * 43


def move(url: str, token: str, folder: Path) -> Result:
    """Export a player of one machine, and import it on another one; return how the import ended."""
    here, there, file = folder / "here", folder / "there", str(folder / "ann.json")
    with open_identity(url, "ann", here / "data" / "fairest") as identity:
        identity.keep_token(token)
    exported = invoke(here, "identity", "export", file, "--server", url, "--name", "ann")
    assert exported.exit_code == 0
    return invoke(there, "identity", "import", file)


def token_at(url: str, folder: Path) -> str | None:
    """Return the token of the player on the other machine."""
    with open_identity(url, "ann", folder / "there" / "data" / "fairest") as identity:
        return identity.token


async def test_a_player_is_taken_to_another_machine(server_url: str, tmp_path: Path) -> None:
    async with open_client(server_url, name="ann-of-old") as client:
        imported = await asyncio.to_thread(move, server_url, client.token, tmp_path)
    # The server of this test writes its log there as well.
    assert imported.stdout.splitlines()[-2:] == [
        f"Your player at {server_url} is on this machine now: fairest --server {server_url} --name ann",
        "The server knows this player as ann-of-old.",
    ]
    assert token_at(server_url, tmp_path) == client.token


async def test_a_player_whom_the_server_does_not_know_is_not_imported(server_url: str, tmp_path: Path) -> None:
    imported = await asyncio.to_thread(move, server_url, TOKEN, tmp_path)
    assert imported.exit_code == 1
    assert "knows no player with the token of this file" in imported.stderr
    assert token_at(server_url, tmp_path) is None


def test_a_player_of_a_server_that_cannot_be_reached_is_imported_unverified(tmp_path: Path) -> None:
    url = f"ws://127.0.0.1:{free_port()}"
    imported = move(url, TOKEN, tmp_path)
    assert imported.exit_code == 0
    assert "It is not verified that the server knows this player: No server answers" in imported.stdout
    assert token_at(url, tmp_path) == TOKEN


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
