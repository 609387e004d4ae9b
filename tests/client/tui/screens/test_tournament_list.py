"""The tournaments of a server on the full screen: listed, watched, entered and created by keys on a real server."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from fairest_cli.tui.launch import AtHome
from fairest_cli.tui.screens.home import HomeScreen
from fairest_cli.tui.screens.room_code_prompt import RoomCodePrompt
from fairest_cli.tui.screens.tournament import TournamentScreen
from fairest_cli.tui.screens.tournament_form import TournamentForm
from fairest_cli.tui.screens.tournament_list import TournamentListScreen, describe_row
from fairest_protocol.messages.tournaments import (
    CreateTournament,
    ListedTournament,
    TournamentFormat,
    TournamentPhase,
)
from tests.support.full_screen import Terminal, terminal
from tests.support.ports import free_port
from tests.support.tournaments import entrant
from tests.support.waiting import until

BORDER_COLUMNS = 4
"""Of the list: its border and its padding, left and right."""

pytestmark = pytest.mark.usefixtures("home")


@asynccontextmanager
async def tournaments_of(url: str, folder: Path, columns: int = 80, lines: int = 24) -> AsyncIterator[Terminal]:
    """The list of tournaments, opened from the home screen by a player called ann."""
    async with terminal(AtHome(url, "ann"), folder, columns=columns, lines=lines) as player:
        await player.is_on(HomeScreen)
        await player.press("k")
        await player.is_on(TournamentListScreen)
        yield player


async def create(url: str, name: str, request: CreateTournament) -> str:
    """Let a player of this name create a tournament; return its code."""
    creator = entrant(url, name)
    code = (await creator.enter(request)).code
    await creator.close()
    return code


async def players_of(player: Terminal) -> list[str]:
    """Return the names in the tournament on the screen, once it is shown, in the order of the alphabet."""
    screen = await player.is_on(TournamentScreen)
    await player.until(lambda: screen.known is not None)
    assert screen.known is not None
    return sorted(standing.name for standing in screen.known.shown.standings)


@pytest.mark.parametrize(("columns", "lines"), [(80, 24), (50, 16)])
async def test_a_tournament_that_is_open_is_listed(server_url: str, tmp_path: Path, columns: int, lines: int) -> None:
    await create(server_url, "bob", CreateTournament(format=TournamentFormat.KNOCKOUT))
    async with tournaments_of(server_url, tmp_path, columns, lines) as player:
        await player.sees("knock-out, classic, 1 of 16, open")
        await player.sees("1 tournament is open or under way.")


def test_a_long_code_has_a_place_on_the_narrowest_screen() -> None:
    code = "unstoppable-enigmatic-copperhead"
    row = ListedTournament(
        code=code,
        phase=TournamentPhase.OPEN,
        creator="ann",
        rules="classic",
        format=TournamentFormat.KNOCKOUT,
        players=1,
        most_players=16,
        round=0,
        wanted=4,
        rival_level=None,
    )
    line = next(line for line in describe_row(row).plain.splitlines() if code in line)
    assert line.index(code) + len(code) <= TournamentListScreen.MIN_SIZE[0] - BORDER_COLUMNS


async def test_enter_enters_a_tournament_that_is_open(server_url: str, tmp_path: Path) -> None:
    code = await create(server_url, "bob", CreateTournament())
    async with tournaments_of(server_url, tmp_path) as player:
        await player.sees(code)
        await player.press("enter")
        assert await players_of(player) == ["ann", "bob"]


async def test_a_tournament_is_watched_without_entering_it(server_url: str, tmp_path: Path) -> None:
    code = await create(server_url, "bob", CreateTournament())
    async with tournaments_of(server_url, tmp_path) as player:
        await player.sees(code)
        await player.press("w")
        assert await players_of(player) == ["bob"]


async def test_enter_watches_a_tournament_that_has_begun(server_url: str, tmp_path: Path) -> None:
    bob, eve = entrant(server_url, "bob"), entrant(server_url, "eve")
    code = (await bob.enter(CreateTournament())).code
    await eve.join(code)
    await bob.start()
    async with tournaments_of(server_url, tmp_path) as player:
        await player.sees("players get ready")
        await player.press("enter")
        assert await players_of(player) == ["bob", "eve"]
        assert "Enter ready" not in player.text
    await bob.close()
    await eve.close()


@pytest.mark.long
async def test_enter_leads_a_player_back_to_a_tournament_that_has_begun(server_url: str, tmp_path: Path) -> None:
    bob = entrant(server_url, "bob")
    code = (await bob.enter(CreateTournament())).code
    async with tournaments_of(server_url, tmp_path) as player:
        await player.sees(code)
        await player.press("enter")
        assert await players_of(player) == ["ann", "bob"]
        await player.press("escape", "down", "down", "enter")
        await player.is_on(TournamentListScreen)
        await bob.start()
        await player.sees("players get ready")
        await player.press("enter")
        await player.sees("Enter ready")
        await player.press("enter")

        async def is_ready() -> bool:
            return "ann" in [each.name for each in (await bob.watch()).played[-1].ready]

        await until(is_ready, "ann is ready for her race")
    await bob.close()


@pytest.mark.long
async def test_a_tournament_is_entered_by_its_code(server_url: str, tmp_path: Path) -> None:
    code = await create(server_url, "bob", CreateTournament())
    async with tournaments_of(server_url, tmp_path) as player:
        await player.press("j")
        await player.is_on(RoomCodePrompt)
        await player.press(*code, "enter")
        assert await players_of(player) == ["ann", "bob"]


@pytest.mark.long
async def test_a_tournament_is_created_as_the_form_says(server_url: str, tmp_path: Path) -> None:
    async with tournaments_of(server_url, tmp_path) as player:
        await player.sees("No tournament is open or under way. c creates one.")
        await player.press("c")
        await player.is_on(TournamentForm)
        # Format: knock-out; most players: 32.
        await player.press("down", "down", "right", "right", "down", "down", "right", "home", "enter")
        assert await players_of(player) == ["ann"]
        await player.press("escape", "down", "down", "enter")
        await player.is_on(TournamentListScreen)
        await player.sees("knock-out, classic, 1 of 32, open")


@pytest.mark.long
async def test_the_form_may_be_left_without_a_tournament(server_url: str, tmp_path: Path) -> None:
    async with tournaments_of(server_url, tmp_path) as player:
        await player.press("c")
        await player.is_on(TournamentForm)
        await player.press("escape")
        await player.is_on(TournamentListScreen)
        await player.press("escape")
        await player.is_on(HomeScreen)


async def test_a_server_that_is_away_is_named(tmp_path: Path) -> None:
    url = f"ws://127.0.0.1:{free_port()}"
    async with tournaments_of(url, tmp_path) as player:
        await player.sees(f"No server answers at {url}")
