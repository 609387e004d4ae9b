"""The tutorial on the screen: by keys, by mouse, skipped, and offered once."""

from pathlib import Path

import pytest

from fairest_cli.tui.app import FairestApp
from fairest_cli.tui.launch import AtHome, Start
from fairest_cli.tui.screens.home import HomeScreen
from fairest_cli.tui.screens.tutorial import TutorialScreen
from fairest_cli.tui.settings import load_settings
from tests.support.full_screen import Terminal
from tests.support.long_tests import parametrize_with_long

SIZES = [(50, 16), (60, 20), (80, 24), (120, 40), (200, 60)]


def first_start(folder: Path, start: Start | None = None) -> FairestApp:
    return FairestApp(
        start or AtHome(), settings_file=folder / "settings.json", crash_folder=folder, offers_tutorial=True
    )


@parametrize_with_long("size", SIZES, quick=1)
async def test_the_tutorial_is_played_by_keys(tmp_path: Path, size: tuple[int, int]) -> None:
    app = first_start(tmp_path)
    async with app.run_test(size=size) as pilot:
        player = Terminal(app, pilot)
        await player.is_on(TutorialScreen)
        for key, step in (("2", 2), ("b", 3), ("4", 4), ("B", 5), ("1", 6), ("tab", 7)):
            await player.press(key)
            await player.sees(f"step {step} of 7")
        await player.sees("Enter go on")
        await player.press("enter")
        await player.is_on(HomeScreen)


@parametrize_with_long("size", SIZES, quick=1)
async def test_the_tutorial_names_the_aim_of_the_game(tmp_path: Path, size: tuple[int, int]) -> None:
    app = first_start(tmp_path)
    async with app.run_test(size=size) as pilot:
        player = Terminal(app, pilot)
        await player.is_on(TutorialScreen)
        assert "all 52 cards on" in player.read("head")
        assert len(player.read("head")) <= size[0]


@pytest.mark.long
async def test_the_tutorial_is_played_by_mouse(tmp_path: Path) -> None:
    app = first_start(tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        player = Terminal(app, pilot)
        await player.is_on(TutorialScreen)
        for slots in (
            ("foundation-1",),
            ("stock-0", "pile-2"),
            ("foundation-3",),
            ("pile-2", "pile-2"),
            ("foundation-0",),
        ):
            for slot in slots:
                await pilot.click(f"#{slot}")
        await player.sees("step 6 of 7")


async def test_a_wrong_key_is_answered_with_the_right_one_and_moves_nothing(tmp_path: Path) -> None:
    app = first_start(tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        player = Terminal(app, pilot)
        await player.is_on(TutorialScreen)
        await player.press("a")
        assert player.read("notice").strip() == "Not yet. Press 2."
        await player.press("1")
        assert "Foundation 1 needs a 2, not the 4." in player.read("notice")
        await player.press("x")
        assert player.read("notice").strip() == "Not yet. Press 2."
        assert "step 1 of 7" in player.read("head")


@pytest.mark.long
async def test_esc_skips_the_tutorial(tmp_path: Path) -> None:
    app = first_start(tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        player = Terminal(app, pilot)
        await player.is_on(TutorialScreen)
        await player.press("escape")
        await player.is_on(HomeScreen)


async def test_the_tutorial_is_offered_once(tmp_path: Path) -> None:
    app = first_start(tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await Terminal(app, pilot).is_on(TutorialScreen)
    assert load_settings(tmp_path / "settings.json")[0].has_seen_tutorial
    again = first_start(tmp_path)
    async with again.run_test(size=(80, 24)) as pilot:
        await Terminal(again, pilot).is_on(HomeScreen)


async def test_a_folder_that_cannot_be_written_does_not_stop_the_start(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    app = FairestApp(
        AtHome(), settings_file=tmp_path / "file" / "settings.json", crash_folder=tmp_path, offers_tutorial=True
    )
    async with app.run_test(size=(80, 24)) as pilot:
        await Terminal(app, pilot).is_on(TutorialScreen)
