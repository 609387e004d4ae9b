"""The home screen leads to everything that the program does, at every size, and back."""

from pathlib import Path

import pytest
from textual.screen import Screen
from typer.core import TyperGroup
from typer.main import get_command

from fairest_cli.commands.main import app
from fairest_cli.records.files import records_folder
from fairest_cli.tui.launch import AtHome
from fairest_cli.tui.screens.daily_form import DailyForm
from fairest_cli.tui.screens.ghost import GhostCountdown
from fairest_cli.tui.screens.help import HelpScreen
from fairest_cli.tui.screens.history import HistoryScreen
from fairest_cli.tui.screens.home import HomeScreen
from fairest_cli.tui.screens.home_entries import COLUMNS, ENTRIES, EntryColumn
from fairest_cli.tui.screens.lobby import LobbyScreen
from fairest_cli.tui.screens.practice import PracticeScreen
from fairest_cli.tui.screens.practice_form import PracticeForm
from fairest_cli.tui.screens.queue_form import QueueForm
from fairest_cli.tui.screens.ratings import RatingsScreen
from fairest_cli.tui.screens.replay import ReplayScreen
from fairest_cli.tui.screens.room_code_prompt import RoomCodePrompt
from fairest_cli.tui.screens.room_form import RoomForm
from fairest_cli.tui.screens.rules import RulesScreen
from fairest_cli.tui.screens.settings import SettingsScreen
from fairest_cli.tui.screens.text_page import TextPage
from fairest_cli.tui.screens.text_prompt import TextPrompt
from fairest_cli.tui.screens.tournament_list import TournamentListScreen
from fairest_cli.tui.screens.tutorial import TutorialScreen
from fairest_cli.tui.settings import load_settings
from tests.support.full_screen import Terminal, terminal
from tests.support.invoking import invoke
from tests.support.long_tests import parametrize_with_long
from tests.support.ports import free_port
from tests.support.records import make_record, text_of

pytestmark = pytest.mark.usefixtures("home")

PLAYERS_COMMANDS = (
    "practice",
    "create",
    "quick",
    "join",
    "watch",
    "lobby",
    "tv",
    "daily",
    "tournament",
    "leaderboard",
    "history",
    "replay",
    "verify",
    "doctor",
)
NOW_MS = 1_700_000_000_000
PLACES = {
    "b": RoomForm,
    "f": QueueForm,
    "p": PracticeForm,
    "g": GhostCountdown,
    "a": RatingsScreen,
    "y": DailyForm,
    "k": TournamentListScreen,
    "c": RoomForm,
    "j": RoomCodePrompt,
    "w": RoomCodePrompt,
    "l": LobbyScreen,
    "m": HistoryScreen,
    "r": HistoryScreen,
    "v": HistoryScreen,
    "u": RulesScreen,
    "s": SettingsScreen,
    "t": TutorialScreen,
    "question_mark": HelpScreen,
}


def save(text: str, name: str = "race.jsonl") -> Path:
    records_folder().mkdir(parents=True, exist_ok=True)
    path = records_folder() / name
    path.write_text(text)
    return path


@parametrize_with_long(("key", "kind"), PLACES.items(), quick=1, ids=str)
async def test_each_entry_opens_by_its_key_and_closes_again(home: Path, key: str, kind: type[Screen[object]]) -> None:
    # The clock stands still, since the countdown of a ghost gives way to its race.
    async with terminal(AtHome(), home, columns=50, lines=16, clock=lambda: NOW_MS) as player:
        await player.press(key)
        await player.is_on(kind)
        await player.press("escape")
        await player.is_on(HomeScreen)


@pytest.mark.long
@pytest.mark.parametrize("size", [(50, 16), (60, 20)], ids=str)
async def test_every_entry_of_the_list_is_reached_by_the_arrows(home: Path, size: tuple[int, int]) -> None:
    columns, lines = size
    async with terminal(AtHome(), home, columns=columns, lines=lines) as player:
        for number, entry in enumerate(ENTRIES):
            await player.sees(entry.label)
            assert player.app.screen.query_one("#entries").highlighted == number  # type: ignore[attr-defined]
            await player.press("down")


def highlighted(player: Terminal) -> list[str]:
    """Return the names of the entries that are highlighted in the columns."""
    options = [column.highlighted_option for column in player.app.screen.query(EntryColumn)]
    return [option.id or "" for option in options if option is not None]


@parametrize_with_long("size", [(78, 16), (80, 24), (200, 60)], quick=1, ids=str)
async def test_every_entry_of_the_columns_is_reached_by_the_arrows(home: Path, size: tuple[int, int]) -> None:
    async with terminal(AtHome(), home, columns=size[0], lines=size[1]) as player:
        await player.until(lambda: highlighted(player) == ["bot"])
        reached = []
        for groups in COLUMNS:
            for entry in (entry for group in groups for entry in group.entries):
                assert entry.label in player.text
                reached += highlighted(player)
                await player.press("down")
            await player.press("right")
            await player.press("home")
        assert reached == [entry.name for groups in COLUMNS for group in groups for entry in group.entries]


def test_the_columns_hold_the_entries_of_the_list() -> None:
    in_columns = [entry.name for groups in COLUMNS for group in groups for entry in group.entries]
    assert sorted(in_columns) == sorted(entry.name for entry in ENTRIES)


@pytest.mark.long
async def test_left_of_the_first_column_is_the_last_one_in_the_same_row(home: Path) -> None:
    async with terminal(AtHome(), home) as player:
        await player.until(lambda: highlighted(player) == ["bot"])
        await player.press("down", "left")
        await player.until(lambda: highlighted(player) == ["tv"])


async def test_enter_opens_the_entry_of_the_column(home: Path) -> None:
    async with terminal(AtHome(), home) as player:
        await player.until(lambda: highlighted(player) == ["bot"])
        await player.press("right", "enter")
        await player.is_on(PracticeForm)


async def test_the_note_of_an_entry_stands_below_the_columns(home: Path) -> None:
    async with terminal(AtHome(), home) as player:
        await player.sees("on this machine")
        await player.press("down")
        await player.sees("anybody who waits")


@pytest.mark.long
async def test_the_keyboard_stays_with_the_entries_when_the_terminal_becomes_narrow(home: Path) -> None:
    async with terminal(AtHome(), home) as player:
        await player.until(lambda: highlighted(player) == ["bot"])
        await player.pilot.resize_terminal(50, 16)
        await player.until(lambda: player.app.focused is player.app.screen.query_one("#entries"))
        await player.pilot.resize_terminal(80, 24)
        await player.until(lambda: isinstance(player.app.focused, EntryColumn))


async def test_all_entries_are_there_at_once_in_80_by_24(home: Path) -> None:
    async with terminal(AtHome(), home) as player:
        await player.until(lambda: [entry.name for entry in ENTRIES if entry.label not in player.text] == [])


async def test_a_notice_does_not_hide_the_address_of_the_server_in_80_by_24(home: Path) -> None:
    async with terminal(AtHome(), home) as player:
        player.app.show_notice("A sentence that takes two lines in a terminal of eighty columns: it is this long.")
        await player.sees("long.")
        assert "rooms are on" in player.text.splitlines()[-1]


def test_the_keys_of_the_entries_are_all_different() -> None:
    assert len({entry.key for entry in ENTRIES}) == len(ENTRIES)


def test_every_command_of_a_player_has_an_entry() -> None:
    commands = get_command(app)
    assert isinstance(commands, TyperGroup)
    elsewhere = {"bot", "house", "audit", "deal", "analyse", "ghost", "player", "identity"}
    named = {"play": "bot", "rules": "rules", **{name: name for name in PLAYERS_COMMANDS}}
    assert set(commands.commands) - elsewhere <= set(named)
    assert set(named.values()) <= {entry.name for entry in ENTRIES}


@pytest.mark.long
async def test_verify_shows_what_the_command_prints(home: Path, tmp_path: Path) -> None:
    path = save(text_of(make_record(1)))
    async with terminal(AtHome(), home, columns=200, lines=60) as player:
        await player.press("v")
        await player.sees("ann against bob")
        await player.press("down", "enter")
        page = await player.is_on(TextPage)
        await player.sees("Everything that can be checked is right.")
        assert page._lines == invoke(tmp_path, "verify", str(path)).stdout.splitlines()


async def test_verify_says_what_is_wrong_with_a_record(home: Path) -> None:
    save(text_of(make_record(1)).replace('"move":"sa"', '"move":"sb"', 1))
    async with terminal(AtHome(), home) as player:
        await player.press("v")
        await player.sees("ann against bob")
        await player.press("down", "enter")
        await player.is_on(TextPage)
        await player.sees("WRONG: ")


@pytest.mark.long
async def test_a_record_is_verified_by_its_path(home: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere.jsonl").write_text(text_of(make_record(1)))
    async with terminal(AtHome(), home, columns=120, lines=40) as player:
        await player.press("v", "enter")
        await player.is_on(TextPrompt)
        await player.press(*str(tmp_path / "elsewhere.jsonl"), "enter")
        await player.is_on(TextPage)
        await player.sees("Everything that can be checked is right.")


@pytest.mark.long
async def test_a_match_id_is_asked_of_the_server(home: Path) -> None:
    server = f"ws://127.0.0.1:{free_port()}"
    async with terminal(AtHome(server), home, columns=120, lines=40) as player:
        await player.press("v", "enter", *"0123456789abcdef0123456789abcdef", "enter")
        await player.sees("No server answers")


@pytest.mark.long
async def test_a_file_that_is_missing_is_named(home: Path) -> None:
    async with terminal(AtHome(), home, columns=120, lines=40) as player:
        await player.press("r", "enter", *"nowhere.jsonl", "enter")
        await player.sees("cannot read nowhere.jsonl: No such file or directory")


async def test_a_chosen_record_is_replayed_with_our_board_on_the_left(home: Path) -> None:
    save(text_of(make_record(1)))
    (home / "settings.json").write_text('{"name": "bob"}')
    async with terminal(AtHome(), home) as player:
        await player.press("r")
        await player.sees("bob against ann: bob won, 23 to 21")
        await player.press("down", "enter")
        await player.is_on(ReplayScreen)
        await player.until(lambda: player.read("side-0").startswith(" bob"))


async def test_the_deal_that_was_lost_last_is_one_key_away(home: Path) -> None:
    record = make_record(0)
    save(text_of(record))
    (home / "settings.json").write_text('{"name": "bob"}')
    async with terminal(AtHome(), home) as player:
        await player.press("d")
        screen = await player.is_on(PracticeScreen)
        assert screen.game.seed == record.rounds[0].seed.hex()


async def test_without_a_lost_deal_the_key_says_so(home: Path) -> None:
    async with terminal(AtHome(), home) as player:
        await player.press("d")
        await player.sees("Your newest records have no deal that you lost.")


@pytest.mark.long
async def test_the_rules_show_a_reference_card(home: Path) -> None:
    async with terminal(AtHome(), home) as player:
        await player.press("u", "down", "enter")
        await player.is_on(TextPage)
        await player.sees("may be played with 5 or 6 waste piles")


@pytest.mark.long
async def test_doctor_shows_its_findings(home: Path) -> None:
    server = f"ws://127.0.0.1:{free_port()}"
    async with terminal(AtHome(server), home, columns=120, lines=40) as player:
        await player.press("x")
        await player.is_on(TextPage)
        await player.sees("ok    fairest")
        await player.sees("ok    folder")


@pytest.mark.long
async def test_a_name_and_a_server_are_saved_and_hold_at_once(home: Path) -> None:
    async with terminal(AtHome(), home, columns=120, lines=40) as player:
        await player.press("s")
        await player.is_on(SettingsScreen)
        await player.press("enter")
        await player.is_on(TextPrompt)
        await player.press(*"a", "enter")
        await player.sees("a name has 2 to 20 letters, digits, - or _")
        await player.press(*"nn", "enter")
        await player.is_on(SettingsScreen)
        await player.sees("ann")
        await player.press("down", "enter")
        await player.is_on(TextPrompt)
        await player.press(*"http://host", "enter")
        await player.sees("a server's address looks like ws://127.0.0.1:8765")
        await player.press("ctrl+u", *"ws://127.0.0.1:9", "enter")
        await player.is_on(SettingsScreen)
        await player.press("escape")
        await player.sees("rooms are on ws://127.0.0.1:9")
        assert (player.app.rooms.player, player.app.rooms.server_url) == ("ann", "ws://127.0.0.1:9")
    kept, complaint = load_settings(home / "settings.json")
    assert (kept.name, kept.server, complaint) == ("ann", "ws://127.0.0.1:9", "")


async def test_a_saved_server_that_is_none_is_ignored(home: Path) -> None:
    (home / "settings.json").write_text('{"server": "\\u001b[2J", "name": "x y"}')
    async with terminal(AtHome(), home) as player:
        await player.sees("name")
        assert "server," in player.text
        assert player.app.rooms.server_url == AtHome().server
