"""The levels as pure functions: legal in every variant, ignorant of the future, and in their order."""

from itertools import pairwise, product

import pytest

from fairest_cli.bots.levels import PROFILES, Level, decide
from fairest_protocol.calculation.cards import Card
from fairest_protocol.calculation.moves import REDEAL
from fairest_protocol.calculation.race import start_race
from fairest_protocol.calculation.rules import VARIANTS, choose_rules
from fairest_protocol.value import replace
from tests.support.bot_boards import board_after, deal_of, play_out
from tests.support.long_tests import parametrize_with_long

CLASSIC = choose_rules("classic")
ALL_RULES = [variant.rules for variant in VARIANTS.values()]
FAST = (Level.CARELESS, Level.LEARNER)
SHOWN = {Level.CARELESS: 20, Level.LEARNER: 20, Level.CLUB: 10, Level.STRONG: 7, Level.EXPERT: 3}
"""Cards that both deals of the test of horizons have in common: the more, the longer it takes."""


def test_a_level_plays_a_game_of_every_variant_to_its_end() -> None:
    open_ended = [
        (rules.name, level)
        for rules, level in product(ALL_RULES, FAST)
        if not play_out(rules, deal_of(rules, 4), level, seed=1)[0].is_over
    ]
    assert open_ended == []


def test_a_level_makes_a_legal_move_on_a_board_of_every_variant() -> None:
    levels = [level for level in Level if level is not Level.EXPERT]
    boards = [(rules, board_after(rules, seed=3, moves=60)) for rules in ALL_RULES]
    illegal = [
        (rules.name, level, move)
        for (rules, board), level in product(boards, levels)
        if (move := decide(level, board, rules, seed=1).move) not in set(board.legal_moves())
    ]
    assert illegal == []


@parametrize_with_long("level", Level, quick=2)
def test_a_level_makes_the_same_moves_on_deals_that_agree_up_to_its_horizon(level: Level) -> None:
    """The second deal has the cards that are turned later in the opposite order."""
    deal, shown = deal_of(CLASSIC, 9), SHOWN[level]
    stock = deal.orders[0]
    other = replace(deal, orders=((*stock[:shown], *reversed(stock[shown:])),))
    races = [start_race(CLASSIC, each, seats=1) for each in (deal, other)]
    for number in range(60):
        boards = [race.racers[0].board for race in races]
        if boards[0].stock < len(stock) - shown:
            break
        moves = [decide(level, board, CLASSIC, seed=number).move for board in boards]
        assert moves[0] is moves[1]
        races = [race.play(0, moves[0]) for race in races]
    assert boards[0].stock < len(stock) - shown


@pytest.mark.parametrize("level", Level)
def test_a_level_decides_the_same_for_the_same_seed(level: Level) -> None:
    board = board_after(CLASSIC, seed=8, moves=40)
    assert decide(level, board, CLASSIC, seed=7) == decide(level, board, CLASSIC, seed=7)


@pytest.mark.parametrize("level", Level)
def test_a_level_redeals_when_nothing_else_is_left(level: Level) -> None:
    rules = choose_rules("redeal")
    board = board_after(rules, seed=2, moves=10)
    kings = ((Card("KC"),), (Card("KD"),), (), ())
    at_the_end = replace(board, foundations=((), (), (), ()), piles=kings, turned=None, stock=0)
    assert decide(level, at_the_end, rules, seed=1).move is REDEAL


@pytest.mark.long
def test_a_learner_places_more_cards_than_a_careless_player() -> None:
    placed = [
        sum(play_out(CLASSIC, deal_of(CLASSIC, seed), level, seed)[0].racers[0].board.placed for seed in range(60))
        for level in FAST
    ]
    assert placed[1] > placed[0] + 60


def test_a_stronger_level_thinks_more() -> None:
    budgets = [PROFILES[level].budget for level in Level]
    assert all(weaker <= stronger for weaker, stronger in pairwise(budgets))
