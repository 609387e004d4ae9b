"""Practice on the full screen: a whole game by keys and by mouse, undo and redo, hints, and every way to a deal."""

import random
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from fairest_cli.bots.hints import choose_hint
from fairest_cli.bots.policies import choose_greedy
from fairest_cli.model.practice import Practice, hint_seed, start_practice
from fairest_cli.tui.launch import AtHome, InPractice
from fairest_cli.tui.screens.help import HelpScreen
from fairest_cli.tui.screens.home import HomeScreen
from fairest_cli.tui.screens.practice import PracticeScreen
from fairest_cli.tui.screens.practice_form import PracticeForm
from fairest_cli.tui.screens.practice_menu import PracticeMenu
from fairest_cli.tui.screens.text_prompt import TextPrompt
from fairest_protocol.calculation.cards import rank, rank_name
from fairest_protocol.calculation.moves import Move
from fairest_protocol.calculation.rules import choose_rules
from tests.support.full_screen import Terminal, terminal
from tests.support.long_tests import parametrize_with_long

pytestmark = pytest.mark.usefixtures("home")

Mover = Callable[[Terminal, Move], Awaitable[None]]


def a_game(variant: str = "classic", seed: str = "abc") -> InPractice:
    return InPractice(start_practice(choose_rules(variant), seed))


def game_of(player: Terminal) -> Practice:
    screen = player.app.screen
    assert isinstance(screen, PracticeScreen)
    return screen.game


async def make_greedily(player: Terminal, make: Mover) -> None:
    """Make a move of the greedy policy; where two foundations need the card, press the digit as well."""
    move = choose_greedy(game_of(player).board, random.Random(len(game_of(player).positions)))
    placed = len(game_of(player).positions)
    await make(player, move)
    if len(game_of(player).positions) == placed:
        await player.press(str(move.target + 1))
    assert game_of(player).race.racers[0].last_move is move


@pytest.mark.long
@parametrize_with_long("make", [Terminal.make, Terminal.click], quick=1, ids=("keys", "mouse"))
async def test_a_whole_game_is_played_with_undo_and_redo(home: Path, make: Mover) -> None:
    """Every tenth move is taken back and made again."""
    async with terminal(a_game(), home) as player:
        await player.is_on(PracticeScreen)
        undos = 0
        while not game_of(player).race.is_over:
            await make_greedily(player, make)
            after = game_of(player).race
            if len(game_of(player).positions) % 10 == 0:
                await player.press("u")
                assert game_of(player).race != after
                await player.press("y")
                assert game_of(player).race == after
                undos += 1
        game = game_of(player)
        assert game.undos == undos > 1
        await player.sees(f"{game.board.placed} of 52 cards, with {game.undos} undos")


async def test_undo_brings_back_a_game_that_is_over(home: Path) -> None:
    async with terminal(a_game(), home) as player:
        await player.press("escape")
        await player.is_on(PracticeMenu)
        await player.press("down", "down", "down", "down", "enter")
        await player.sees("Stopped: 4 of 52 cards, without help.")
        await player.press("a")
        await player.sees("This game is over")
        await player.press("u")
        assert not game_of(player).race.is_over


async def test_a_hint_is_written_in_words_and_lights_its_slots(home: Path) -> None:
    async with terminal(a_game(), home, columns=120, lines=40) as player:
        await player.press("t")
        await player.until(lambda: game_of(player).hint)
        game = game_of(player)
        assert game.hint is choose_hint(game.board, game.rules, hint_seed(game))
        await player.sees("Hint: ")
        await player.sees("1 hint")


async def test_the_open_stock_shows_the_cards_to_come(home: Path) -> None:
    async with terminal(a_game(), home) as player:
        names = " ".join(rank_name(rank(card)) for card in game_of(player).to_come[:8])
        assert names not in player.text
        await player.press("o")
        await player.sees(names)
        await player.press("o")
        await player.until(lambda: names not in player.text)


@parametrize_with_long("size", [(50, 16), (60, 20), (80, 24), (120, 40), (200, 60)], quick=2, ids=str)
async def test_the_keys_of_practice_are_named_at_every_size(home: Path, size: tuple[int, int]) -> None:
    columns, lines = size
    async with terminal(a_game(), home, columns=columns, lines=lines) as player:
        await player.is_on(PracticeScreen)
        for word in ("undo", "redo", "hint"):
            await player.sees(word)


async def test_the_same_deal_again_and_a_new_deal_are_one_key_each(home: Path) -> None:
    async with terminal(a_game(), home) as player:
        await player.press("a", "b", "z")
        assert (game_of(player).seed, len(game_of(player).positions)) == ("abc", 1)
        await player.press("n")
        assert game_of(player).seed != "abc"


@pytest.mark.long
async def test_another_variant_and_any_seed_are_chosen_from_the_menu(home: Path) -> None:
    async with terminal(a_game(), home) as player:
        await player.press("escape", "down", "down", "down", "enter")
        await player.is_on(PracticeForm)
        await player.press("down", "right", "right", "right", "up", "up", "enter")
        await player.is_on(TextPrompt)
        await player.press(*"xyz", "enter")
        await player.is_on(PracticeForm)
        await player.press("down", "enter")
        await player.is_on(PracticeScreen)
        await player.sees("senior")
        assert game_of(player) == start_practice(choose_rules("senior"), "xyz")
        await player.press("h")
        assert len(game_of(player).positions) == (2 if choose_rules("senior").piles == 8 else 1)


@pytest.mark.long
async def test_the_page_of_keys_has_those_of_practice(home: Path) -> None:
    async with terminal(a_game(), home) as player:
        await player.press("question_mark")
        await player.is_on(HelpScreen)
        await player.sees("take the last move back")
        await player.press("u", "escape")
        assert game_of(player).undos == 0


@pytest.mark.long
async def test_leaving_the_program_names_the_deal(home: Path) -> None:
    async with terminal(a_game(seed="it's"), home) as player:
        await player.press("ctrl+q")
        assert any("--seed 'it'" in line for line in player.app.last_words)


async def test_a_hostile_seed_reaches_no_terminal(home: Path) -> None:
    async with terminal(a_game(seed="\x1b[2J\u202e"), home, columns=120, lines=40) as player:
        await player.press("n", "z")
        assert "\x1b" not in player.text and "\u202e" not in player.text


@pytest.mark.long
async def test_home_is_below_a_game(home: Path) -> None:
    async with terminal(a_game(), home) as player:
        await player.press("escape", "up", "up", "enter")
        await player.is_on(HomeScreen)


async def test_too_small_a_terminal_moves_no_card(home: Path) -> None:
    async with terminal(a_game(), home, columns=40, lines=10) as player:
        await player.press("a", "u", "n")
        assert (game_of(player).seed, len(game_of(player).positions)) == ("abc", 1)


async def test_practice_opens_from_home(home: Path) -> None:
    async with terminal(AtHome(), home) as player:
        await player.press("p")
        await player.is_on(PracticeForm)
        await player.press("enter")
        await player.is_on(PracticeScreen)
