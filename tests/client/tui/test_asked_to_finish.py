"""Asking the other player to finish on the full screen, and being asked, against a real server."""

from pathlib import Path

import pytest

from fairest_cli.tui.screens.race import RaceScreen
from fairest_cli.tui.screens.race_menu import RaceMenu
from fairest_cli.tui.screens.result import ResultScreen
from fairest_protocol.calculation.moves import STOP
from fairest_protocol.messages import entries
from fairest_protocol.messages.from_client import AskFinish
from fairest_protocol.messages.from_server import View
from tests.client.tui.test_full_screen import racing
from tests.support.full_screen import Terminal
from tests.support.wire_client import WireClient

pytestmark = pytest.mark.usefixtures("home")


async def be_asked(player: Terminal, rival: WireClient) -> None:
    await rival.play("stop")
    await rival.send(AskFinish())
    await player.sees("asks you to finish")


@pytest.mark.long
async def test_a_player_who_has_finished_asks_the_other_one(server_url: str, home: Path) -> None:
    async with racing(server_url, home) as (player, rival):
        await player.session.play(STOP)
        await player.sees("to finish now")
        await player.press("f")
        await player.sees("You have asked")
        # What came before it is in views of any number.
        while not any(isinstance(entry, entries.FinishAsked) for entry in (await rival.receive_a(View)).entries):
            pass


@pytest.mark.long
async def test_the_key_to_ask_is_gone_once_it_was_used(server_url: str, home: Path) -> None:
    async with racing(server_url, home) as (player, _rival):
        await player.session.play(STOP)
        await player.sees("to finish now")
        await player.press("f")
        await player.until(lambda: "finish now" not in player.read("key-line"))


async def test_a_player_who_is_asked_stops_with_space_and_enter(server_url: str, home: Path) -> None:
    async with racing(server_url, home) as (player, rival):
        await be_asked(player, rival)
        await player.press("space")
        await player.is_on(RaceMenu)
        await player.press("enter")
        await player.is_on(ResultScreen)


@pytest.mark.long
async def test_a_player_who_is_asked_may_play_on(server_url: str, home: Path) -> None:
    async with racing(server_url, home) as (player, rival):
        await be_asked(player, rival)
        await player.press("a")
        await player.until(lambda: player.session.model.own is not None and player.session.model.own.moves == 1)
        await player.sees("asks you to finish")


@pytest.mark.long
async def test_space_stops_nothing_before_the_player_is_asked(server_url: str, home: Path) -> None:
    async with racing(server_url, home) as (player, _rival):
        await player.press("space")
        await player.is_on(RaceScreen)
        assert player.read("notice").startswith(" Space does nothing here")
