"""Forms and prompts: nothing of them is cut off in a small terminal, and what was typed is not lost with an error."""

from pathlib import Path

import pytest

from fairest_cli.tui.launch import AtHome
from fairest_cli.tui.screens.home import HomeScreen
from fairest_cli.tui.screens.room_code_prompt import RoomCodePrompt, read_code, refuse_code
from fairest_cli.tui.screens.room_form import RoomForm, options_from
from fairest_cli.tui.widgets.choice_list import ChoiceList
from tests.support.full_screen import terminal
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


async def test_a_mistyped_code_stays_in_its_field(tmp_path: Path) -> None:
    async with terminal(AtHome(), tmp_path) as player:
        await player.press("j", *"otter", "enter")
        await player.sees("this one has 1: otter")
        await player.press("backspace", *"r-cat-dog")
        await player.sees("otter-cat-dog")
        assert isinstance(player.app.screen, RoomCodePrompt)


async def test_a_code_that_led_nowhere_is_there_again(tmp_path: Path) -> None:
    async with terminal(AtHome(f"ws://127.0.0.1:{free_port()}"), tmp_path) as player:
        await player.press("j", *"quiet-amber-oter", "enter")
        await player.is_on(HomeScreen)
        await player.sees("Start one with: fairest-server")
        await player.press("j")
        await player.sees("quiet-amber-oter")


@pytest.mark.parametrize("columns", [60, 80, 120])
@pytest.mark.parametrize("key", ["b", "c"])
async def test_no_text_of_a_form_is_cut_off(tmp_path: Path, columns: int, key: str) -> None:
    async with terminal(AtHome(), tmp_path, columns=columns) as player:
        await player.press(key)
        form = await player.is_on(RoomForm)
        for _ in range(form.query_one(ChoiceList).option_count):
            await player.press("down")
            assert "…" not in player.text
            note = form.query_one(ChoiceList).note
            shown = " ".join(player.text.replace("│", " ").split())
            assert note in shown


async def test_a_room_chooses_its_grace_period(tmp_path: Path) -> None:
    async with terminal(AtHome(), tmp_path) as player:
        await player.press("c")
        form = await player.is_on(RoomForm)
        await player.press("up", "right", "right")
        await player.sees("< 5 minutes >")
        await player.sees("a seat waits so long for a player who is away")
        assert options_from(form.query_one(ChoiceList)).grace_seconds == 300
