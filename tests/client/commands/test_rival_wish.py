"""`fairest create --rival`: the wish that the lobby shows, at the level that the player's results suggest."""

import asyncio
import os
from asyncio.subprocess import PIPE
from http import HTTPStatus
from pathlib import Path

import pytest

from fairest_cli.session.http_pages import fetch_page
from fairest_protocol.messages.from_server import ListedRoom, LobbyPage
from tests.client.bots.test_offering import save_against
from tests.support.processes import CLIENT_COMMAND, end_process
from tests.support.waiting import until

pytestmark = pytest.mark.long


async def wish(url: str, home: Path, *options: str) -> tuple[ListedRoom, str]:
    """Create a room with a wish; return it as the lobby lists it, and what was written on standard error."""
    environment = {**os.environ, "HOME": str(home), "XDG_DATA_HOME": str(home / "data")}
    command = (*CLIENT_COMMAND, "create", "--rival", "60", "--server", url, *options)
    process = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=environment)
    found: list[ListedRoom] = []

    async def is_listed() -> bool:
        status, text = await asyncio.to_thread(fetch_page, url, "/lobby?page=0")
        if status == HTTPStatus.OK:
            found.extend(LobbyPage.model_validate_json(text).rooms)
        return bool(found)

    try:
        await until(is_listed, "the room is in the lobby")
    finally:
        _, errors = await end_process(process)
    return found[0], errors.decode()


async def test_the_level_of_the_last_results_is_wished_for_and_said(server_url: str, tmp_path: Path) -> None:
    folder = tmp_path / "data" / "fairest" / "records"
    folder.mkdir(parents=True)
    for number in (1, 2):
        save_against("bot-club", number, folder)
    listed, said = await wish(server_url, tmp_path)
    assert (listed.rival_after_seconds, listed.rival_level) == (60, "strong")
    assert "The bot's level is strong, after two wins against club." in said


async def test_a_level_that_is_named_is_wished_for(server_url: str, tmp_path: Path) -> None:
    listed, said = await wish(server_url, tmp_path, "--rival-level", "expert")
    assert (listed.rival_level, said) == ("expert", "")
