"""The hints of practice: the move of the strongest rival. Every hint of the client comes from here."""

from fairest_cli.bots.levels import STRONGEST, decide
from fairest_cli.bots.thinking import SHARED
from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.moves import Move
from fairest_protocol.calculation.rules import Rules


def choose_hint(board: Board, rules: Rules, seed: int) -> Move:
    """Return the move of the strongest rival on a board with a legal move. Takes up to half a second."""
    return decide(STRONGEST, board, rules, seed).move


async def think_of_hint(board: Board, rules: Rules, seed: int) -> Move:
    """Return the move of `choose_hint`, found in another process. Raises `ThinkingFailed`. Safe to cancel."""
    decision = await SHARED.hint(board, rules, seed)
    return decision.move
