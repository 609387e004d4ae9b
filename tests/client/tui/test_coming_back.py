"""A player whose client had ended, by itself or by kill -9, starts it again and reads for how long it was away."""

import asyncio
from asyncio.subprocess import DEVNULL, PIPE
from pathlib import Path
from typing import Any

import pytest

from fairest_cli.session.own_clock import now_ms
from fairest_cli.tui.app import FairestApp
from fairest_cli.tui.launch import InRoom
from fairest_cli.tui.screens.race import RaceScreen
from fairest_protocol.messages.from_client import Create, Join
from tests.client.test_hostile_text import client_environment
from tests.client.tui.test_full_screen import CALM, sit_down
from tests.support.full_screen import terminal
from tests.support.processes import CLIENT_COMMAND, end_process
from tests.support.wire_client import open_client

pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture
def notices(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """All notices of the program, which go away after some seconds."""
    shown: list[str] = []
    notify = FairestApp.notify

    def note(self: FairestApp, message: str, **more: Any) -> None:
        shown.append(message)
        notify(self, message, **more)

    monkeypatch.setattr(FairestApp, "notify", note)
    return shown


async def test_the_full_screen_says_how_long_a_player_was_away(server_url: str, home: Path, notices: list[str]) -> None:
    async with open_client(server_url) as rival:
        async with terminal(InRoom(Create(options=CALM), server_url, "ann"), home) as player:
            await sit_down(player, rival)
            room = player.session.model.room
            assert room is not None
        assert notices == []
        async with terminal(InRoom(Join(room=room), server_url, "ann"), home) as player:
            await player.is_on(RaceScreen)
            assert len(notices) == 1
            assert notices[0].startswith("You are back. You were away for at most ")


@pytest.mark.long
async def test_lines_say_how_long_a_player_was_away_whose_client_was_killed(server_url: str, home: Path) -> None:
    options = ("--server", server_url, "--name", "ann")
    environment = client_environment(home)
    first = await asyncio.create_subprocess_exec(
        *CLIENT_COMMAND, "create", *options, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env=environment
    )
    assert first.stdout is not None
    since_ms = now_ms()
    room = ""
    while not room:
        line = (await first.stdout.readline()).decode()
        room = line.split()[2] if line.startswith("  fairest join") else ""
    async with open_client(server_url) as rival:
        await rival.enter(Join(room=room))
        await rival.take_part_in_deal()
        first.kill()
        await first.wait()
        second = await asyncio.create_subprocess_exec(
            *CLIENT_COMMAND, "join", room, *options, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env=environment
        )
        assert second.stdout is not None
        line = ""
        while not line.startswith("You are back."):
            line = (await second.stdout.readline()).decode()
            assert line, "the client has ended"
        minutes, seconds = line.split(" of ")[0].split()[-1].split(":")
        assert int(minutes) * 60 + int(seconds) <= (now_ms() - since_ms) / 1000
        second.kill()
        await end_process(second)
