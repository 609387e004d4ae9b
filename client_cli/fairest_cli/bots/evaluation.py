"""The interface of the bots for analysis and for hints: what each move of a board is worth, and the best one.

Cost, plain Python on one core: a roll-out takes 60 to 150 microseconds with four piles and one deck, less towards the
end of a game, and three times as much in `senior`. `evaluate` makes `budget` of them for each distinct legal move (four
to eight), so 100 cost about 60 ms a board, and 1,000 about 0.6 s. A share of `budget` roll-outs has a standard error
of at most `0.5 / sqrt(budget)`; the moves share their sampled stocks, so a difference between two is known better.
`Thinker.evaluate` and `Thinker.hint` do the same in a worker process.
"""

from fairest_cli.bots.levels import STRONGEST, Decision, decide
from fairest_cli.bots.search import Search, start_evaluation
from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.moves import Move
from fairest_protocol.calculation.rules import Rules


def evaluate(board: Board, rules: Rules, seed: int, budget: int) -> dict[Move, float]:
    """Return the chance to win after each distinct legal move of a card, or a redeal; the best move first.

    The chance is the share of `budget` roll-outs in which the linear policy goes on and wins: it is about a fifth at
    the start of classic, where an expert wins four games in five, so compare chances with each other, not with results.
    A second empty pile is left out, since it is the same move. Moves of equal chance stand in the order of their value
    (`Candidate.value`). Pure: only what the board shows matters, and the same arguments give the same answer. Empty for
    a board without such a move.
    """
    search = start_evaluation(board, rules, seed, budget)
    search.finish()
    return chances(search)


def chances(search: Search) -> dict[Move, float]:
    """Return the chance to win after each candidate of an evaluation that is done, the best first."""
    ranked = sorted(search.live, key=lambda candidate: (-candidate.chance_to_win, -candidate.value))
    return {candidate.move: candidate.chance_to_win for candidate in ranked}


def hint(board: Board, rules: Rules, seed: int) -> Decision:
    """Return the decision of the strongest level, in about a tenth to half a second; `Thinker.hint` does not block."""
    return decide(STRONGEST, board, rules, seed)
