"""Forms and prompts: nothing of them is cut off in a small terminal, and what was typed is not lost with an error."""

import asyncio
from itertools import product
from pathlib import Path

import pytest

from fairest_cli.records.files import records_folder
from fairest_cli.session.http_pages import fetch_page
from fairest_cli.tui.launch import AtHome
from fairest_cli.tui.screens.home import HomeScreen
from fairest_cli.tui.screens.room_code_prompt import RoomCodePrompt, read_code, refuse_code
from fairest_cli.tui.screens.room_form import RoomForm, options_from
from fairest_cli.tui.screens.waiting import WaitingScreen
from fairest_cli.tui.widgets.choice_list import ChoiceList
from fairest_protocol.messages.from_server import LobbyPage
from tests.client.bots.test_offering import save_against
from tests.support.full_screen import Terminal, terminal
from tests.support.long_tests import parametrize_with_long
from tests.support.ports import free_port


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("quiet-amber-otter", ""),
        (" Quiet amber  OTTER ", ""),
        ("", "Type the words"),
        ("otter", "has two to six words, such as quiet-amber-otter, and this one has 1: otter"),
        ("quiet-amb3r-otter", "only letters and hyphens, and this one has 3"),
    ],
)
def test_a_code_that_cannot_be_one_is_refused_with_what_is_wrong(typed: str, said: str) -> None:
    refused = refuse_code(typed)
    assert (refused == "") if not said else said in refused


def test_blanks_and_capitals_of_a_code_do_not_matter() -> None:
    assert read_code(" Quiet amber-OTTER") == "quiet-amber-otter"


@pytest.mark.long
async def test_a_mistyped_code_stays_in_its_field(tmp_path: Path) -> None:
    async with terminal(AtHome(), tmp_path) as player:
        await player.press("j", *"otter", "enter")
        await player.sees("this one has 1: otter")
        await player.press("backspace", *"r-cat-dog")
        await player.sees("otter-cat-dog")
        assert isinstance(player.app.screen, RoomCodePrompt)


@pytest.mark.long
async def test_a_code_that_led_nowhere_is_there_again(tmp_path: Path) -> None:
    async with terminal(AtHome(f"ws://127.0.0.1:{free_port()}"), tmp_path) as player:
        await player.press("j", *"quiet-amber-oter", "enter")
        await player.is_on(HomeScreen)
        await player.sees("Start one with: fairest-server")
        await player.press("j")
        await player.sees("quiet-amber-oter")


@parametrize_with_long(("columns", "key"), product((60, 80, 120), "bc"), quick=2)
async def test_no_text_of_a_form_is_cut_off(home: Path, columns: int, key: str) -> None:
    records_folder().mkdir(parents=True)
    # The longest reason of an offer needs two lines.
    save_against("bot-club", 1, records_folder())
    async with terminal(AtHome(), home, columns=columns) as player:
        await player.press(key)
        form = await player.is_on(RoomForm)
        for _ in range(form.query_one(ChoiceList).option_count):
            await player.press("down")
            assert "…" not in player.text
            assert form.query_one(ChoiceList).note in in_one_line(player)


@pytest.mark.long
async def test_a_room_chooses_its_grace_period(tmp_path: Path) -> None:
    async with terminal(AtHome(), tmp_path) as player:
        await player.press("c")
        form = await player.is_on(RoomForm)
        await player.press("up", "right", "right")
        await player.sees("< 5 minutes >")
        await player.sees("a seat waits so long for a player who is away")
        assert options_from(form.query_one(ChoiceList)).grace_seconds == 300


@pytest.mark.long
async def test_a_rival_is_wished_for_at_the_level_of_the_last_results(home: Path, server_url: str) -> None:
    records_folder().mkdir(parents=True)
    for number in (1, 2):
        save_against("bot-club", number, records_folder())
    async with terminal(AtHome(server_url), home, columns=50, lines=16) as player:
        await player.press("c")
        await player.is_on(RoomForm)
        await player.press("down", "down", "down", "down", "right", "right")
        await player.sees("< after 20 seconds >")
        await player.until(
            lambda: "a program, if nobody comes: strong, after two wins against club" in in_one_line(player)
        )
        await player.press("up", "up", "up", "up", "enter")
        await player.is_on(WaitingScreen)
        _, text = await asyncio.to_thread(fetch_page, server_url, "/lobby?page=0")
        (listed,) = LobbyPage.model_validate_json(text).rooms
        assert (listed.rival_after_seconds, listed.rival_level) == (20, "strong")


async def test_the_form_of_a_race_against_a_bot_says_why_a_level_is_offered(home: Path) -> None:
    async with terminal(AtHome(), home) as player:
        await player.press("b")
        await player.is_on(RoomForm)
        await player.press("down")
        await player.sees("offered: learner, to begin with")


def in_one_line(player: Terminal) -> str:
    """Return the text of the form without its line breaks and what stands beside it."""
    form = player.app.screen.query_one("#form").region
    lines = player.text.splitlines()[form.y : form.bottom]
    return " ".join(" ".join(line[form.x : form.right].replace("│", " ") for line in lines).split())


async def test_a_room_credits_distance_unless_the_player_chooses_otherwise(tmp_path: Path) -> None:
    async with terminal(AtHome(), tmp_path) as player:
        await player.press("c")
        form = await player.is_on(RoomForm)
        assert options_from(form.query_one(ChoiceList)).credit == 1
        await player.press("up", "up", "up", "right")
        await player.sees("the time that distance to the server costs")
        assert options_from(form.query_one(ChoiceList)).credit is None


@pytest.mark.long
async def test_a_room_may_deal_only_what_is_proved_winnable(tmp_path: Path) -> None:
    async with terminal(AtHome(), tmp_path) as player:
        await player.press("c")
        form = await player.is_on(RoomForm)
        assert options_from(form.query_one(ChoiceList)).certified is None
        await player.press("up", "up", "right")
        await player.sees("only deals that are proved winnable")
        assert options_from(form.query_one(ChoiceList)).certified == 1
