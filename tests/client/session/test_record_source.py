"""The record that a command line names."""

import asyncio
import subprocess

import pytest

from fairest_cli.session.record_source import match_of, match_page
from fairest_protocol.messages.options import RoomOptions
from tests.support.bots import start_match
from tests.support.processes import CLIENT_COMMAND

ID = "0123456789abcdef" * 2
SERVER = "ws://127.0.0.1:8765"


def test_an_id_is_asked_of_the_server_that_the_command_names() -> None:
    assert match_of(ID.upper(), SERVER) == (SERVER, ID)


@pytest.mark.parametrize(
    ("link", "server"),
    [
        (f"http://192.168.0.5:8765/m/{ID}", "ws://192.168.0.5:8765"),
        (f"https://play.example/records/{ID}", "wss://play.example"),
        (f"https://play.example/m/{ID}/", "wss://play.example"),
    ],
)
def test_a_link_names_its_own_server(link: str, server: str) -> None:
    assert match_of(link, SERVER) == (server, ID)


@pytest.mark.parametrize(
    "text", ["match.jsonl", f"http://a/b/m/{ID}", f"http://a@b/m/{ID}", f"http:///m/{ID}", f"ftp://a/m/{ID}"]
)
def test_anything_else_is_a_file(text: str) -> None:
    assert match_of(text, SERVER) is None


@pytest.mark.long
async def test_a_match_is_proved_by_the_link_of_its_page(server_url: str) -> None:
    match = await start_match((server_url,), RoomOptions(countdown_seconds=0), seed=3, spectators=0)
    await match.end()
    record = match.players[0].record
    assert record is not None
    link = f"{server_url.replace('ws', 'http', 1)}/m/{record.match_id}"
    command = [*CLIENT_COMMAND, "verify", link]
    done = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, check=False)
    assert (done.returncode, "Everything that can be checked is right." in done.stdout) == (0, True), done.stderr


def test_the_link_to_the_page_of_a_match_names_server_and_match() -> None:
    for server in ("ws://127.0.0.1:8765", "wss://play.example"):
        assert match_of(match_page(f"{server}/r/quiet-amber-otter", "ab" * 16), "ws://other") == (server, "ab" * 16)
