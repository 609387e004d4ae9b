"""A race as it is felt on the screen: cards that travel, flashes, changes of lead, the last cards, unknown keys."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from fairest_cli.session.connection import Update
from fairest_cli.tui.board.motion import FLASH_MS, FLIGHT_MS
from fairest_cli.tui.launch import AtHome
from fairest_cli.tui.screens.race import RaceScreen
from fairest_cli.tui.settings import Keys, Settings, save_settings
from fairest_cli.tui.widgets.race_boards import RaceBoards
from fairest_cli.tui.widgets.text_lines import TextLines
from fairest_protocol.calculation.moves import STOP
from fairest_protocol.messages.from_server import Placed
from fairest_protocol.value import replace
from tests.support import staged
from tests.support.full_screen import Terminal, terminal
from tests.support.long_tests import parametrize_with_long

SIZES = [(50, 16), (60, 20), (80, 24), (120, 40), (200, 60)]


@asynccontextmanager
async def staged_race(
    folder: Path, size: tuple[int, int] = (80, 24), *, room: staged.StagedRoom | None = None, **settings: Any
) -> AsyncIterator[Terminal]:
    """Show a race without a server: moves are shown as made and never answered."""
    save_settings(replace(Settings(), **settings), folder / "settings.json")
    async with terminal(AtHome(), folder, columns=size[0], lines=size[1]) as player:
        session = (room or staged.racing()).session()
        player.app.rooms.session = session
        await player.app.push_screen(RaceScreen(session))
        await player.pilot.pause()
        yield player


def boards(player: Terminal) -> RaceBoards:
    return player.app.screen.query_one(RaceBoards)


def count(player: Terminal, ours: int, theirs: int) -> None:
    """Deliver a tick with these counts, as the server would."""
    before = player.session.model
    message = Placed(placed=(ours, theirs))
    player.session._connection.model = after = before.after(message, 0)
    screen = player.app.screen
    assert isinstance(screen, RaceScreen)
    screen.show_update(before, Update(after, message))


@parametrize_with_long("size", SIZES, quick=1)
async def test_a_card_travels_and_then_nothing_moves_any_more(tmp_path: Path, size: tuple[int, int]) -> None:
    room = staged.racing()
    async with staged_race(tmp_path, size, room=room) as player:
        await player.press("a")
        flying = player.app.screen.query_one("#flying-card")
        await player.until(lambda: flying.display)
        room.table.now_ms += FLIGHT_MS
        await player.until(lambda: not boards(player).is_moving)
        assert not flying.display


async def test_a_foundation_that_receives_a_card_is_lit_for_a_moment(tmp_path: Path) -> None:
    room = staged.racing((7, 7))
    async with staged_race(tmp_path, room=room) as player:
        move = next(each for each in player.session.model.board.legal_moves() if each.places)  # type: ignore[union-attr]
        await player.make(move)
        await player.until(lambda: "┏" in player.read(f"foundation-{move.target}"))
        room.table.now_ms += FLASH_MS
        await player.until(lambda: "┏" not in player.read(f"foundation-{move.target}"))


async def test_the_board_is_right_before_the_card_has_arrived(tmp_path: Path) -> None:
    async with staged_race(tmp_path) as player:
        await player.press("a")
        assert boards(player).is_moving
        assert "8" in player.read("pile-0").splitlines()[0], "the pile counts eight cards while the eighth travels"


async def test_the_next_key_is_taken_while_a_card_travels(tmp_path: Path) -> None:
    async with staged_race(tmp_path) as player:
        await player.press("a", "D")
        assert "No foundation needs the 7 now." in player.read("notice")


async def test_nothing_moves_under_reduced_motion(tmp_path: Path) -> None:
    async with staged_race(tmp_path, reduced_motion=True) as player:
        await player.press("a")
        assert "on pile a" in player.read("notice")
        assert not boards(player).is_moving
        count(player, 13, 30)
        assert "bob takes the lead" in player.read("notice")
        assert player.app.screen._lead_flash_until_ms == 0  # type: ignore[attr-defined]


async def test_an_idle_race_draws_no_frames(tmp_path: Path) -> None:
    async with staged_race(tmp_path) as player:
        assert not boards(player).is_moving


async def test_a_change_of_lead_is_a_notice(tmp_path: Path) -> None:
    async with staged_race(tmp_path) as player:
        count(player, 13, 17)
        assert player.read("notice").strip() == "bob takes the lead by 4."
        assert " -4 " in player.read("head")


async def test_the_last_cards_of_the_other_player_are_counted(tmp_path: Path) -> None:
    async with staged_race(tmp_path, (120, 40)) as player:
        count(player, 13, 48)
        assert "bob: 4 cards to go." in player.read("notice")
        assert "4 to go bob" in player.read("head").replace("  ", " ")


@pytest.mark.long
async def test_a_tick_that_changes_no_lead_leaves_the_notice(tmp_path: Path) -> None:
    async with staged_race(tmp_path) as player:
        count(player, 13, 12)
        assert player.read("notice").startswith(" Go!")


@parametrize_with_long(("size", "keys"), product(SIZES, Keys), quick=1)
async def test_a_key_without_a_meaning_is_named_with_those_that_have_one(
    tmp_path: Path, size: tuple[int, int], keys: Keys
) -> None:
    async with staged_race(tmp_path, size, keys=keys) as player:
        await player.press("x")
        notice = player.read("notice")
        assert notice.startswith(" x does nothing")
        assert "?" in notice
        assert len(notice) <= size[0]


@pytest.mark.long
async def test_keys_with_a_binding_are_not_called_unknown(tmp_path: Path) -> None:
    async with staged_race(tmp_path) as player:
        await player.press("tab")
        assert "does nothing" not in player.read("notice")


@parametrize_with_long("size", SIZES, quick=1)
async def test_after_our_race_the_screen_says_what_the_other_player_needs(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    room = staged.racing()
    room.table.play(0, STOP)
    async with staged_race(tmp_path, size, room=room) as player:
        line = player.read("advice")
        assert "3 more to win" in line
        assert "left" in line
        assert "fits" not in player.text, "hints of moves are gone"


@pytest.mark.long
async def test_a_rival_that_has_stopped_says_how_many_cards_beat_it(tmp_path: Path) -> None:
    room = staged.racing((20, 34))
    room.table.play(1, STOP)
    async with staged_race(tmp_path, room=room) as player:
        assert "stopped at" in player.read("other-board")
        assert "more to win" in player.read("other-board") or "you" in player.read("other-board")


@parametrize_with_long(
    ("size", "has_chart"), [((80, 24), False), ((120, 40), True), ((160, 40), True), ((200, 60), True)], quick=2
)
async def test_the_curve_of_the_race_is_drawn_where_there_is_room(
    tmp_path: Path, size: tuple[int, int], has_chart: bool
) -> None:
    async with staged_race(tmp_path, size) as player:
        assert player.app.screen.query_one("#race-chart", TextLines).display is has_chart
        assert ("The race so far" in player.text) is has_chart
