"""A tournament on the full screen: entered, raced by keys, and shown to its standings on a real server."""

import asyncio
from pathlib import Path

import pytest

from fairest_cli.records.receipts import receipts_folder
from fairest_cli.tui.launch import InTournament
from fairest_cli.tui.screens.home import HomeScreen
from fairest_cli.tui.screens.practice_menu import TournamentMenu, TournamentRaceMenu
from fairest_cli.tui.screens.replay import ReplayScreen
from fairest_cli.tui.screens.tournament import TournamentScreen
from fairest_cli.tui.screens.tournament_race import TournamentRaceScreen
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.messages.tournaments import CreateTournament, JoinTournament, TournamentPhase, WatchTournament
from tests.support.full_screen import Terminal, terminal
from tests.support.long_tests import parametrize_with_long
from tests.support.tournaments import entrant, play_careless

pytestmark = pytest.mark.usefixtures("home")


def phase_of(screen: TournamentScreen) -> TournamentPhase | None:
    return None if screen.known is None else screen.known.shown.phase


async def shown(player: Terminal) -> TournamentScreen:
    screen = await player.is_on(TournamentScreen)
    await player.until(lambda: screen.known is not None)
    return screen


@parametrize_with_long(("columns", "lines"), [(50, 16), (80, 24)], quick=1)
async def test_a_spectator_sees_who_plays_and_no_key_of_players(
    server_url: str, tmp_path: Path, columns: int, lines: int
) -> None:
    ann = entrant(server_url, "ann")
    code = (await ann.enter(CreateTournament(most_players=2))).code
    watching = InTournament(WatchTournament(tournament=code), server_url, "eve")
    async with terminal(watching, tmp_path, columns=columns, lines=lines) as player:
        await player.sees("ann")
        assert "Enter ready" not in player.text and "s start" not in player.text
        assert "v races" in player.text
        bob = entrant(server_url, "bob")
        await bob.join(code)
        await player.sees("bob")
        await bob.close()
    await ann.close()


@pytest.mark.long
@pytest.mark.parametrize(("columns", "lines"), [(80, 24), (120, 40), (50, 16)])
async def test_a_tournament_is_created_raced_by_keys_and_shown_to_its_end(
    server_url: str, tmp_path: Path, columns: int, lines: int
) -> None:
    entering = CreateTournament(most_players=2)
    async with terminal(InTournament(entering, server_url, "ann"), tmp_path, columns=columns, lines=lines) as player:
        screen = await shown(player)
        assert screen.known is not None
        bob = entrant(server_url, "bob")
        await bob.join(screen.known.shown.code)
        playing = asyncio.create_task(play_careless(bob, 3, 1))
        await player.until(lambda: screen.known is not None and len(screen.known.shown.standings) == 2)
        await player.press("s")
        await player.until(lambda: phase_of(screen) is TournamentPhase.GATHERING)
        await player.press("enter")
        race = await player.is_on(TournamentRaceScreen)
        await player.until(lambda: race.game is not None)
        await player.make(MOVES["sa"])
        await player.until(lambda: race.game is not None and race.game.own.moves == 1)
        await player.press("escape")
        await player.is_on(TournamentRaceMenu)
        await player.press("down", "enter")
        await player.until(lambda: race.game is not None and race.game.result is not None)
        await player.press("escape")
        await player.is_on(TournamentRaceMenu)
        await player.press("down", "enter")
        await player.is_on(TournamentScreen)
        await player.until(lambda: phase_of(screen) is TournamentPhase.OVER)
        await player.sees("bob")
        await player.press("v")
        await player.is_on(ReplayScreen)
        await player.press("escape")
        await player.is_on(TournamentScreen)
        await playing
        await bob.close()
    assert [path.name.split("-ann-")[0] for path in receipts_folder().iterdir()] == [screen.known.shown.code]


async def test_a_player_leaves_a_tournament_by_the_menu(server_url: str, tmp_path: Path) -> None:
    bob = entrant(server_url, "bob")
    code = (await bob.enter(CreateTournament())).code
    async with terminal(InTournament(JoinTournament(tournament=code), server_url, "ann"), tmp_path) as player:
        screen = await shown(player)
        await player.press("escape")
        await player.is_on(TournamentMenu)
        await player.press("down", "enter")
        await player.until(lambda: screen.known is not None and len(screen.known.shown.standings) == 1)
    await bob.close()


@parametrize_with_long(("columns", "lines"), [(50, 16), (80, 24), (120, 40)], quick=1)
async def test_the_standings_say_that_they_are_not_rated(
    server_url: str, tmp_path: Path, columns: int, lines: int
) -> None:
    entering = InTournament(CreateTournament(), server_url, "ann")
    async with terminal(entering, tmp_path, columns=columns, lines=lines) as player:
        await shown(player)
        await player.sees("A tournament changes nobody's rating.")


async def test_before_a_round_is_over_there_is_no_race_to_look_at(server_url: str, tmp_path: Path) -> None:
    async with terminal(InTournament(CreateTournament(), server_url, "ann"), tmp_path) as player:
        await shown(player)
        await player.press("v")
        await player.sees("No round of this tournament is over yet")


async def test_a_code_of_no_tournament_is_named(server_url: str, tmp_path: Path) -> None:
    entering = JoinTournament(tournament="no-such-cup")
    async with terminal(InTournament(entering, server_url, "ann"), tmp_path) as player:
        await player.is_on(TournamentScreen)
        await player.sees("There is no tournament with this code")


async def test_without_a_tournament_escape_leaves_at_once(server_url: str, tmp_path: Path) -> None:
    entering = JoinTournament(tournament="quiet-amber-otter")
    async with terminal(InTournament(entering, server_url, "ann"), tmp_path) as player:
        await player.is_on(TournamentScreen)
        await player.sees("Esc back")
        await player.press("escape")
        await player.is_on(HomeScreen)


@parametrize_with_long("columns", [50, 80], quick=1)
async def test_the_code_of_a_tournament_stands_in_one_line(server_url: str, tmp_path: Path, columns: int) -> None:
    async with terminal(InTournament(CreateTournament(), server_url, "ann"), tmp_path, columns=columns) as player:
        screen = await shown(player)
        assert screen.known is not None
        code = screen.known.shown.code
        await player.until(lambda: any(row.rstrip().endswith(code) for row in player.text.splitlines()[1:]))
