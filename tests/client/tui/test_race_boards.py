"""The table of a race on the screen: Tab, clicks, sizes and highlights, with the program in a terminal of any size."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import product
from pathlib import Path

import pytest
from rich.text import Text
from textual.app import App, ComposeResult

from fairest_cli.tui.board.card_input import STOCK
from fairest_cli.tui.board.optimistic_board import OptimisticBoard
from fairest_cli.tui.launch import AtHome
from fairest_cli.tui.screens.race import RaceScreen
from fairest_cli.tui.settings import Settings, save_settings
from fairest_cli.tui.widgets.race_boards import RaceBoards
from fairest_cli.tui.widgets.text_lines import TableSlot, TextLines
from fairest_protocol.calculation.board import Board
from fairest_protocol.messages.options import RoomOptions
from tests.support import staged
from tests.support.full_screen import Terminal, terminal
from tests.support.long_tests import parametrize_with_long

RULES = ["classic", "easy", "senior", "betsy-ross"]
SIZES = [(50, 16), (60, 20), (80, 24), (120, 40), (200, 60)]


@asynccontextmanager
async def staged_race(
    folder: Path, size: tuple[int, int] = (80, 24), *, turns: int = 30, rules: str = "classic"
) -> AsyncIterator[Terminal]:
    """Show a race that stands still, after `turns` moves of the player."""
    async with terminal(AtHome(), folder, columns=size[0], lines=size[1]) as player:
        session = staged.racing((turns, max(1, turns - 8)), RoomOptions(rules=rules)).session()
        player.app.rooms.session = session
        await player.app.push_screen(RaceScreen(session))
        await player.pilot.pause()
        yield player


async def test_tab_shows_every_sequence_as_a_whole_and_hides_it_again(tmp_path: Path) -> None:
    async with staged_race(tmp_path) as player:
        assert "Tab all ranks" in player.read("key-line")
        await player.press("tab")
        await player.sees("4   8   Q  ►3   7   J   2   6   10  A   5   9   K")
        await player.press("tab")
        await player.until(lambda: "Every foundation" not in player.text)


@parametrize_with_long("size", SIZES, quick=2)
async def test_a_click_on_a_pile_picks_up_its_top_card_at_every_size(tmp_path: Path, size: tuple[int, int]) -> None:
    async with staged_race(tmp_path, size) as player:
        await player.pilot.click("#pile-3")
        await player.sees("You picked up the 7")
        assert player.app.screen.query_one("#pile-3", TableSlot).plain.lstrip("╭─ ").startswith("▲d")
        await player.pilot.click("#foundation-0")
        await player.sees("Foundation 1 needs a 3, not the 7")


@parametrize_with_long(
    ("rules", "size"), dict.fromkeys([*zip(RULES, SIZES, strict=False), *product(RULES, SIZES)]), quick=2
)
async def test_every_slot_is_on_the_screen_in_full(tmp_path: Path, rules: str, size: tuple[int, int]) -> None:
    async with staged_race(tmp_path, size, rules=rules) as player:
        slots = list(player.app.screen.query(TableSlot))
        await player.until(lambda: all(slot.size.width > 0 and slot.size.height > 0 for slot in slots))
        lines = {line.strip() for slot in slots for line in slot.plain.splitlines()}
        await player.until(lambda: all(line in player.text for line in lines))


async def test_the_table_makes_room_for_the_line_that_comes_when_no_card_fits(tmp_path: Path) -> None:
    async with staged_race(tmp_path, turns=51) as player:
        await player.sees("No card fits any more.")
        table = player.app.screen.query_one(RaceBoards)
        await player.until(lambda: all(table.region.contains_region(slot.region) for slot in table.query(TableSlot)))


@pytest.mark.long
async def test_a_terminal_that_grows_uses_the_new_room(tmp_path: Path) -> None:
    async with staged_race(tmp_path, (50, 16)) as player:
        await player.pilot.resize_terminal(200, 60)
        await player.sees("Build these up: ► is wanted next, of any suit")
        assert player.app.screen.query_one("#other-board").size.width == 99
        await player.pilot.resize_terminal(50, 16)
        await player.until(lambda: player.app.screen.query_one("#other-board").size.height == 1)


async def test_below_50_columns_the_race_asks_for_a_larger_terminal(tmp_path: Path) -> None:
    async with staged_race(tmp_path, (49, 16)) as player:
        await player.sees("This screen needs 50 columns and 16 lines.")


async def test_the_advice_stands_beside_the_turned_card(tmp_path: Path) -> None:
    async with staged_race(tmp_path) as player:
        await player.sees("fits nothing:")
        assert "pile a-d" in player.read("stock-0")


async def test_without_hints_no_card_has_advice(tmp_path: Path) -> None:
    save_settings(Settings(hints=False), tmp_path / "settings.json")
    async with staged_race(tmp_path) as player:
        await player.sees("18 to come")
        assert "fits" not in player.text


@pytest.mark.parametrize("wanted", [False, True])
async def test_dead_cards_are_dimmed_if_the_player_wants_it(tmp_path: Path, wanted: bool) -> None:
    save_settings(Settings(dim_dead=wanted), tmp_path / "settings.json")
    async with staged_race(tmp_path, turns=50) as player:
        assert (" x" in player.read("pile-0")) is wanted


class Table(App[None]):
    """A table without a rival, as practice shows it."""

    CSS = "#race TextLines { position: absolute; } #race { height: 1fr; }"

    def __init__(self) -> None:
        super().__init__()
        self.boards = RaceBoards(4, 4, has_rival=False)

    def compose(self) -> ComposeResult:
        yield self.boards

    def draw(self, board: Board, lit: frozenset[str] = frozenset()) -> None:
        self.boards.draw_own(OptimisticBoard(board), (), STOCK, Settings(), lit=lit)


def a_board() -> Board:
    board = staged.racing().model().board
    assert board is not None
    return board


async def test_lit_slots_are_drawn_highlighted() -> None:
    table = Table()
    async with table.run_test(size=(80, 21)) as pilot:
        table.draw(a_board(), frozenset({"foundation-1", "pile-2"}))
        await pilot.pause()
        assert table.query_one("#foundation-1", TextLines).plain.startswith("┏")
        assert table.query_one("#foundation-0", TextLines).plain.startswith("╭")
        assert table.query_one("#pile-2", TextLines).plain.startswith("*c")
        table.draw(a_board())
        assert table.query_one("#pile-2", TextLines).plain.startswith(" c")


@parametrize_with_long("size", [(50, 13), (80, 21), (120, 37), (200, 57)], quick=2)
async def test_a_caller_without_a_rival_fills_the_side_region(size: tuple[int, int]) -> None:
    table = Table()
    async with table.run_test(size=size) as pilot:
        columns, lines = table.boards.side_size
        table.draw(a_board())
        table.boards.draw_side([Text("#" * columns)] * lines)
        await pilot.pause()
        side = table.query_one("#other-board", TextLines)
        assert (side.size.width, side.size.height) == (columns, lines)
        assert columns * lines < size[0] * size[1] // 2
