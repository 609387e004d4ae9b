"""Roll-outs against the same policy played move by move on the rules of the game."""

import random

from fairest_cli.bots.layout_tables import tables_of
from fairest_cli.bots.linear_policy import score_piles
from fairest_cli.bots.position import read_position
from fairest_cli.bots.rollout import roll_out
from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.cards import rank
from fairest_protocol.calculation.moves import REDEAL, Move
from fairest_protocol.calculation.race import start_race
from fairest_protocol.calculation.rules import VARIANTS, Rules
from tests.support.bot_boards import deal_of
from tests.support.long_tests import parametrize_with_long

GAMES = 25


def by_the_policy(board: Board, rules: Rules) -> Move:
    """Waste tops first, to the least advanced foundation; then the turned card to one; then to the best pile."""

    def advance(move: Move) -> float:
        return len(board.foundations[move.target]) / board.layout[move.target].length

    moves = list(board.legal_moves())
    for fitting in (
        [move for move in moves if move.places and not move.takes_turned],
        [move for move in moves if move.places],
    ):
        if fitting:
            return min(fitting, key=advance)
    if moves[0] is REDEAL:
        return REDEAL
    position = read_position(board, rules)
    assert position.turned is not None
    scores = score_piles(board.layout, position, position.turned)
    return max((move for move in moves if move is not REDEAL), key=lambda move: scores[move.target])


@parametrize_with_long("variant", [name for name in VARIANTS if name != "redeal"], quick=3)
def test_a_roll_out_places_the_cards_that_the_policy_places_by_the_rules(variant: str) -> None:
    """Of `redeal` the roll-out shuffles its own order, so it is left out; the waste of betsy-ross is turned over."""
    rules = VARIANTS[variant].rules
    for seed in range(GAMES):
        deal = deal_of(rules, seed)
        race = start_race(rules, deal, seats=1)
        board = race.racers[0].board
        order = [rank(card) - 1 for card in deal.orders[0][1:]]
        placed = roll_out(tables_of(board.layout), read_position(board, rules), order, random.Random(0))
        while not race.is_over:
            race = race.play(0, by_the_policy(race.racers[0].board, rules))
        assert placed == race.racers[0].board.placed


def test_a_roll_out_leaves_its_position_as_it_was() -> None:
    rules = VARIANTS["classic"].rules
    board = start_race(rules, deal_of(rules, 1), seats=1).racers[0].board
    position = read_position(board, rules)
    roll_out(tables_of(board.layout), position, [], random.Random(0))
    assert position == read_position(board, rules)
