"""Nothing is cut in a terminal of 60 columns: sentences wrap, and keys lose their meanings before they are lost."""

from pathlib import Path

import pytest

from docs.pictures import ALL
from fairest_cli.model.known_room import ConnectionStatus
from fairest_cli.tui.launch import AtHome
from fairest_cli.tui.screens.result import ResultScreen
from tests.support import staged
from tests.support.full_screen import Terminal, terminal
from tests.support.long_tests import parametrize_with_long
from tests.support.screens import room

CUT = "\u2026"
"""The dots at the end of a line that is too long."""


@parametrize_with_long(
    "name",
    [
        "help",
        "result",
        "history",
        "watch",
        "lobby",
        "waiting",
        "ready",
        "settings",
        "race",
        "asked",
        "own-end",
        "practice",
        "tutorial",
    ],
    quick=1,
)
@pytest.mark.usefixtures("home")
async def test_no_line_of_a_screen_of_60_columns_is_cut(tmp_path: Path, name: str) -> None:
    async with terminal(AtHome(), tmp_path, columns=60, lines=20) as player:
        await ALL[name](player)
        await player.pilot.pause()
        assert [line for line in player.text.splitlines() if CUT in line] == []


@parametrize_with_long("key", ["r", "v", "p", "a", "Esc", "?"], quick=1)
async def test_the_result_names_each_key_in_60_columns(tmp_path: Path, key: str) -> None:
    async with terminal(AtHome(), tmp_path, columns=60, lines=20) as player:
        await room(lambda: staged.finished().session())(player)
        await player.is_on(ResultScreen)
        assert key in player.read("key-line").split()


@parametrize_with_long("size", [(50, 16), (60, 20), (80, 24)], quick=1, ids=str)
@parametrize_with_long("name", ["result-credited", "result"], quick=1)
async def test_a_result_shows_winner_seal_and_what_comes_next(tmp_path: Path, name: str, size: tuple[int, int]) -> None:
    async with terminal(AtHome(), tmp_path, columns=size[0], lines=size[1]) as player:
        await ALL[name](player)
        await player.sees("bob wins, 25 to 23")
        await player.sees("Sealed deal: all 48 cards")
        await player.sees("Press r for a rematch.")


@parametrize_with_long(
    "name", ["queue", "daily", "result", "daily-result", "leaderboard", "settings", "solution"], quick=2
)
async def test_no_line_of_a_screen_of_50_columns_is_cut(tmp_path: Path, name: str) -> None:
    async with terminal(AtHome(), tmp_path, columns=50, lines=16) as player:
        await ALL[name](player)
        await player.pilot.pause()
        assert [line for line in player.text.splitlines() if CUT in line] == []


@pytest.mark.long
async def test_the_form_of_the_queue_stands_in_the_middle(tmp_path: Path) -> None:
    async with terminal(AtHome(), tmp_path) as player:
        await ALL["queue-form"](player)
        await player.sees("A program after")
        above = player.app.screen.query_one("#form").region.y
        assert above == (24 - player.app.screen.query_one("#form").region.height) // 2


async def test_without_colours_the_curves_of_the_result_are_named_by_digits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with terminal(AtHome(), tmp_path, columns=60, lines=20) as player:
        await room(lambda: staged.finished().session())(player)
        await player.sees("1 is ann, 2 is bob")
        assert "222" in player.read("chart") and "111" in player.read("chart")


async def lose_connection(player: Terminal) -> None:
    session = staged.racing().session()
    session._connection.model = session.model.with_status(ConnectionStatus.LOST)
    await room(lambda: session)(player)
    await player.pilot.pause()


@parametrize_with_long("columns", [50, 60, 80], quick=1)
async def test_a_lost_connection_names_the_time_that_is_left_at_every_width(tmp_path: Path, columns: int) -> None:
    async with terminal(AtHome(), tmp_path, columns=columns, lines=20) as player:
        await lose_connection(player)
        banner = player.text.splitlines()[0]
        assert "Your seat waits 1:00 more" in banner and CUT not in banner


@parametrize_with_long("columns", [50, 60, 80], quick=1)
@parametrize_with_long("viewer", [0, None], quick=1)
async def test_a_player_who_is_away_is_named_with_the_time_that_is_left_at_every_width(
    tmp_path: Path, columns: int, viewer: int | None
) -> None:
    staged_room = staged.racing()
    staged_room.table.disconnect(1)
    if viewer is None:
        staged_room.table.disconnect(0)
    async with terminal(AtHome(), tmp_path, columns=columns, lines=20) as player:
        await room(lambda: staged_room.session(viewer))(player)
        await player.pilot.pause()
        banner = player.text.splitlines()[0]
        assert "away" in banner and "1:00" in banner
        assert banner.rstrip().endswith((".", "left")) and CUT not in banner


@pytest.mark.long
@pytest.mark.usefixtures("home")
async def test_the_rows_of_the_history_name_the_variant_in_60_columns(tmp_path: Path) -> None:
    async with terminal(AtHome(), tmp_path, columns=60, lines=20) as player:
        await ALL["history"](player)
        await player.pilot.pause()
        rows = [line for line in player.text.splitlines() if " to " in line]
        assert rows and all("(classic)" in row for row in rows)


async def test_a_setting_whose_note_does_not_fit_shows_it_below_the_list(tmp_path: Path) -> None:
    async with terminal(AtHome(), tmp_path, columns=60, lines=20) as player:
        await ALL["settings"](player)
        await player.press("down", "down")
        assert "home row asdf" in player.read("settings-where")
