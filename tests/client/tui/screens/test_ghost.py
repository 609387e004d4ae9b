"""A race against a ghost on the full screen, on a clock that the test moves."""

from pathlib import Path

import pytest

from fairest_cli.analysis.ghost import GHOST, summon
from fairest_cli.model.seeds import read_seed
from fairest_cli.records.best_runs import load_best_run
from fairest_cli.records.files import records_folder
from fairest_cli.tui.launch import AgainstGhost, AtHome, AtReplay
from fairest_cli.tui.screens.ghost import COUNTDOWN_MS, GhostCountdown, GhostScreen
from fairest_cli.tui.screens.ghost_choice import GhostChoice
from fairest_cli.tui.screens.ghost_result import GhostResultScreen
from fairest_cli.tui.screens.history import HistoryScreen
from fairest_cli.tui.screens.home import HomeScreen
from fairest_cli.tui.screens.practice import PracticeScreen
from fairest_cli.tui.screens.practice_menu import GhostMenu
from fairest_cli.tui.screens.replay import ReplayScreen
from fairest_protocol.calculation.solver import solve_race
from fairest_protocol.value import replace
from tests.support.full_screen import Terminal, terminal
from tests.support.long_tests import parametrize_with_long
from tests.support.records import make_record, text_of

pytestmark = pytest.mark.usefixtures("home")

RECORD = make_record(3)
RACE = summon(RECORD, 0, 1)
START_MS = 1_795_478_400_000
"""A time on 24 November 2026, in UTC."""


class HandClock:
    """A clock that only the test moves."""

    def __init__(self) -> None:
        self.now_ms = START_MS

    def __call__(self) -> int:
        return self.now_ms


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


async def start(player: Terminal, clock: HandClock) -> GhostScreen:
    """Let the countdown end."""
    await player.is_on(GhostCountdown)
    clock.now_ms += COUNTDOWN_MS
    return await player.is_on(GhostScreen)


async def test_the_countdown_shows_its_seconds_and_ends_at_the_table(home: Path, clock: HandClock) -> None:
    async with terminal(AgainstGhost(RACE), home, clock=clock) as player:
        await player.sees("is the rank that each foundation needs next")
        assert "check words" not in player.text
        assert (await start(player, clock)).ghost.now_ms == 0


async def test_the_countdown_says_what_a_ghost_is(home: Path, clock: HandClock) -> None:
    async with terminal(AgainstGhost(RACE), home, clock=clock) as player:
        await player.is_on(GhostCountdown)
        assert (
            player.read("heading").strip() == f"A ghost: {RACE.name} makes its recorded moves again, on the same deal."
        )


async def test_a_countdown_that_is_left_starts_no_race(home: Path, clock: HandClock) -> None:
    async with terminal(AgainstGhost(RACE), home, clock=clock) as player:
        await player.is_on(GhostCountdown)
        await player.press("escape")
        clock.now_ms += COUNTDOWN_MS
        await player.is_on(HomeScreen)


async def test_the_ghost_has_made_the_moves_of_its_time(home: Path, clock: HandClock) -> None:
    async with terminal(AgainstGhost(RACE), home, clock=clock) as player:
        screen = await start(player, clock)
        clock.now_ms += 60_000
        await player.until(lambda: screen.ghost.counts[GHOST] == RACE.at(60_000).counts[GHOST] > 4)
        await player.sees(f"{RACE.at(60_000).counts[GHOST]} bob")
        await player.sees("bob 4 of 52 shown")


@parametrize_with_long("size", [(50, 16), (60, 20), (80, 24), (120, 40)], ids=str, quick=2)
async def test_a_move_is_made_at_its_time_at_every_size(home: Path, clock: HandClock, size: tuple[int, int]) -> None:
    async with terminal(AgainstGhost(RACE), home, clock=clock, columns=size[0], lines=size[1]) as player:
        screen = await start(player, clock)
        clock.now_ms += 1234
        await player.press("b")
        assert [(at_ms, move.text) for at_ms, move in screen.ghost.own] == [(1234, "sb")]


@pytest.mark.long
async def test_a_whole_race_is_won_and_kept_as_the_best_run(home: Path, clock: HandClock) -> None:
    async with terminal(AgainstGhost(RACE), home, clock=clock) as player:
        screen = await start(player, clock)
        for move in solve_race(RACE.race, 0).line:
            clock.now_ms += 100
            await player.make(move)
            if not screen.ghost.own or screen.ghost.own[-1][1] is not move:
                await player.press(str(move.target + 1))
        await player.is_on(GhostResultScreen)
        await player.sees("You win against bob by 28 cards.")
        await player.sees("This is your best run on this deal")
    best = load_best_run(RECORD.rules, RECORD.rounds[0].seed)
    assert best is not None and best.finish().is_won


@pytest.mark.long
async def test_a_player_who_stops_may_let_the_ghost_finish_at_once(home: Path, clock: HandClock) -> None:
    async with terminal(AgainstGhost(RACE), home, clock=clock) as player:
        await start(player, clock)
        await player.press("escape")
        await player.is_on(GhostMenu)
        await player.press("down", "down", "enter")
        await player.sees("You stopped.")
        await player.press("a")
        await player.sees("Your race is over.")
        await player.press("f")
        await player.is_on(GhostResultScreen)
        await player.sees("bob wins by 20 cards.")


async def test_the_result_draws_the_curves_of_both(home: Path, clock: HandClock) -> None:
    async with terminal(AgainstGhost(RACE), home, clock=clock) as player:
        await start(player, clock)
        await player.press("escape")
        await player.is_on(GhostMenu)
        await player.press("down", "down", "enter")
        await player.sees("You stopped.")
        await player.press("f")
        await player.is_on(GhostResultScreen)
        await player.until(lambda: len(player.read("chart").splitlines()) > 5)


@pytest.mark.long
async def test_the_run_of_a_player_who_leaves_before_the_ghost_has_finished_is_kept(
    home: Path, clock: HandClock
) -> None:
    async with terminal(AgainstGhost(RACE), home, clock=clock) as player:
        screen = await start(player, clock)
        placed = next(at for at, move in enumerate(solve_race(RACE.race, 0).line) if move.places)
        for move in solve_race(RACE.race, 0).line[: placed + 1]:
            await player.make(move)
            if screen.ghost.own[-1:] != ((0, move),):
                await player.press(str(move.target + 1))
        await player.press("escape")
        await player.is_on(GhostMenu)
        await player.press("down", "down", "enter")
        await player.sees("You stopped.")
        await player.press("ctrl+q")
    best = load_best_run(RECORD.rules, RECORD.rounds[0].seed)
    assert best is not None and best.finish().placed == 5


@pytest.mark.long
async def test_the_result_waits_until_the_menu_is_closed(home: Path, clock: HandClock) -> None:
    async with terminal(AgainstGhost(RACE), home, clock=clock) as player:
        screen = await start(player, clock)
        await player.press("escape")
        await player.is_on(GhostMenu)
        clock.now_ms += 10**8
        await player.until(lambda: screen.ghost.race.is_over)
        assert isinstance(player.app.screen, GhostMenu)
        await player.press("escape")
        await player.is_on(GhostResultScreen)


@pytest.mark.long
async def test_the_result_leads_to_the_race_again_to_practice_and_back(home: Path, clock: HandClock) -> None:
    async with terminal(AgainstGhost(RACE), home, clock=clock) as player:
        await start(player, clock)
        clock.now_ms += 10**8
        await player.is_on(GhostResultScreen)
        await player.press("b")
        await player.sees("No run of yours on this deal is stored.")
        await player.press("p")
        assert (await player.is_on(PracticeScreen)).game.seed == RACE.seed.hex()
        await player.press("escape", "up", "up", "enter")
        await player.is_on(GhostResultScreen)
        await player.press("z")
        assert (await start(player, clock)).ghost.own == ()
        clock.now_ms += 10**8
        await player.is_on(GhostResultScreen)
        await player.press("escape")
        await player.is_on(HomeScreen)


@pytest.mark.long
async def test_a_player_of_a_replay_is_raced_by_a_key(home: Path, clock: HandClock) -> None:
    async with terminal(AtReplay(RECORD), home, clock=clock) as player:
        await player.is_on(ReplayScreen)
        await player.press("g")
        await player.is_on(GhostChoice)
        await player.sees("bob, 24 of 52 cards in 1:50")
        await player.press("enter")
        assert (await start(player, clock)).ghost.name == "bob"


async def test_a_match_of_the_history_is_raced_by_a_key(home: Path, clock: HandClock) -> None:
    records_folder().mkdir(parents=True, exist_ok=True)
    (records_folder() / "race.jsonl").write_text(text_of(RECORD))
    (home / "settings.json").write_text('{"name": "ann"}')
    async with terminal(AtHome(), home, clock=clock) as player:
        await player.press("m")
        await player.is_on(HistoryScreen)
        await player.sees("ann against bob")
        await player.press("g")
        await player.is_on(GhostChoice)
        await player.sees("ann (you), 21 of 52 cards in 2:00")
        await player.press("up", "enter")
        assert (await start(player, clock)).ghost.name == "ann"


async def test_the_training_deal_of_the_day_is_raced_from_home(home: Path, clock: HandClock) -> None:
    async with terminal(AtHome(), home, clock=clock) as player:
        await player.press("g")
        screen = await start(player, clock)
        assert screen.ghost.name == "bot-learner"
        assert screen.ghost.seed == read_seed("daily 2026-11-24 classic")


async def test_a_name_with_control_characters_reaches_no_terminal(home: Path, clock: HandClock) -> None:
    hostile = replace(RACE, name="\x1b[2J")
    async with terminal(AgainstGhost(hostile), home, clock=clock) as player:
        await start(player, clock)
        clock.now_ms += 10**8
        await player.is_on(GhostResultScreen)
        assert "\x1b" not in player.text
