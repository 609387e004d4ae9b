"""A practice game on the page is that of `fairest practice`: the same deal of a seed, the same boards and undo."""

import random
from typing import Any

from pydantic_core import to_jsonable_python

from fairest_cli.bots.policies import choose_greedy
from fairest_cli.model.practice import Practice, play, redo, start_practice, undo
from fairest_protocol.calculation.rules import VARIANTS, choose_rules
from tests.support.long_tests import parametrize_with_long
from tests.support.page_modules import ask_page

STEPS = 60
LONG_SEED = "0123456789abcdefABCDEF0123456789" * 2


def state_of(game: Practice) -> dict[str, Any]:
    return {"board": to_jsonable_python(game.board), "ending": game.player.ending, "undos": game.undos}


def play_at_random(rules: str, seed: str, chance: random.Random) -> tuple[list[str], list[dict[str, Any]]]:
    """Return the steps of a game, some of which take moves back, and the state at its start and after each of them."""
    game = start_practice(choose_rules(rules), seed)
    steps, states = list[str](), [state_of(game)]
    for _ in range(STEPS):
        step = chance.choices(["undo", "redo", "play"], [2, 1, 7])[0]
        if step == "play" and not game.race.is_over:
            move = choose_greedy(game.board, chance)
            game, step = play(game, move), move.text
        else:
            step = "redo" if step == "play" else step
            game = undo(game) if step == "undo" else redo(game)
        steps.append(step)
        states.append(state_of(game))
    return steps, states


@parametrize_with_long("seed", ["spring", "0f3a9b01", LONG_SEED, "\u00fc\u4e2d"], quick=1)
def test_a_game_of_each_variant_has_the_same_boards(seed: str) -> None:
    games = [(rules, *play_at_random(rules, seed, random.Random(seed))) for rules in VARIANTS]
    asked = [{"ask": "practice", "rules": rules, "seed": seed, "steps": steps} for rules, steps, _ in games]
    for (_, _, states), answer in zip(games, ask_page(asked), strict=True):
        assert answer == states


def test_a_move_against_the_rules_changes_nothing() -> None:
    [states] = ask_page([{"ask": "practice", "rules": "classic", "seed": "spring", "steps": ["a1", "redeal", "x"]}])
    assert states == [states[0]] * 4
