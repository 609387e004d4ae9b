"""The linear pile policy on its own, with as much noise as wanted: the policy of the roll-outs, and of the learner."""

import math
import random

from fairest_cli.bots.layout_tables import tables_of
from fairest_cli.bots.pile_weights import URGENCIES
from fairest_cli.bots.position import NO_CARD, Position, distinct_moves, read_position
from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.moves import REDEAL, Move
from fairest_protocol.calculation.rules import Foundation, Rules


def score_piles(layout: tuple[Foundation, ...], position: Position, rank: int) -> list[float]:
    """Return the score of each waste pile for a card of `rank`, as a roll-out computes it."""
    tables = tables_of(layout)
    state = tables[position.key]
    top_scores, row = tables.top_scores(position.key, rank), state.blocking[rank]
    scores = []
    for pile in position.piles:
        score = top_scores[pile[-1] if pile else NO_CARD]
        # One by one, as in a roll-out. `sum` rounds in another way from Python 3.12 on, and equal piles would differ.
        for other in pile:
            score -= row[URGENCIES * position.unseen[other] + state.urgency[other]]
        scores.append(score)
    return scores


def choose_by_score(board: Board, rules: Rules, chance: random.Random, temperature: float) -> tuple[Move, float]:
    """Return a move, and its lead over the second best pile in the score, from 0 to 1.

    Plays to the least advanced foundation if a card fits one, else to the pile with the highest score, to which noise
    of this `temperature` is added: at 0 the best pile, the higher the more at random (Gumbel noise: a softmax).
    """
    moves = distinct_moves(board)
    fitting = [move for move in moves if move.places]
    if fitting:
        shares = [len(board.foundations[move.target]) / board.layout[move.target].length for move in fitting]
        return fitting[shares.index(min(shares))], 1.0
    piles = [move for move in moves if move is not REDEAL]
    if len(piles) < 2:
        return moves[0], 1.0
    position = read_position(board, rules)
    assert position.turned is not None, "cards go to piles from the stock only"
    scores = score_piles(board.layout, position, position.turned)
    noisy = sorted(
        ((scores[move.target] - temperature * math.log(chance.expovariate(1.0)), -number)
         for number, move in enumerate(piles)),
        reverse=True,
    )  # fmt: skip
    lead = noisy[0][0] - noisy[1][0]
    return piles[-noisy[0][1]], min(1.0, lead / 10)
