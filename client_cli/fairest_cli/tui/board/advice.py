"""The advice below the boards: the moves that are possible now, or why the player's race is over. Pure.

The moves are two sentences with their keys, enough to play without knowing the rules. Both fit on the line of a
terminal of 80 columns, unless the top cards of more than three piles fit a foundation.
"""

from typing import Final

from fairest_cli.tui.board.card_input import PILE_KEYS, SEND_UP_KEYS, STOCK, fitting_foundations, pile_span
from fairest_cli.tui.settings import Keys
from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.cards import rank_name
from fairest_protocol.calculation.moves import FOUNDATION_DIGITS, REDEAL

WAITING: Final = "The next card is on its way ..."


def describe_advice(board: Board, keys: Keys, *, hints: bool) -> str:
    """Return what the player can do with the turned card and the tops of piles. Without `hints`, name no card."""
    if board.is_won:
        return "Every card is placed."
    if board.turned is None and board.stock:
        return WAITING
    if not hints:
        return "" if board.turned is not None else _for_empty_stock(board)
    sentences = [_for_piles(board, keys)]
    if board.turned is not None:
        sentences.append(_for_turned(board, keys))
    else:
        sentences.append(_for_empty_stock(board))
    return "  ".join(sentence for sentence in sentences if sentence)


def describe_end(board: Board, other_name: str) -> str:
    """Return why the player's own race is over, and that the other player may still be racing."""
    why = "No card fits any more: your" if board.is_stuck else "Your"
    return f"{why} race ends with {board.placed} cards. {other_name} may still be racing."


def _for_turned(board: Board, keys: Keys) -> str:
    first = "s then " if keys is Keys.TYPED else ""
    targets = fitting_foundations(STOCK, board)
    if not targets:
        target = f"a pile: {first}" if keys is Keys.TYPED else "pile "
        return f"No foundation needs this card: lay it on {target}{pile_span(keys, len(board.piles))}."
    digits = " or ".join(FOUNDATION_DIGITS[target] for target in targets)
    return f"This card fits: {first}{digits}."


def _for_piles(board: Board, keys: Keys) -> str:
    ready = [number for number in range(len(board.piles)) if fitting_foundations(number, board)]
    if not ready:
        return ""
    if keys is Keys.TYPED:
        ways = ", ".join(
            f"{PILE_KEYS[keys][pile]} then {FOUNDATION_DIGITS[fitting_foundations(pile, board)[0]]}" for pile in ready
        )
    else:
        *others, last = (SEND_UP_KEYS[keys][pile] for pile in ready)
        ways = f"Shift+{', '.join(others)} or {last}" if others else f"Shift+{last}"
    return f"Move up: {ways}."


def _for_empty_stock(board: Board) -> str:
    if board.refusal(REDEAL) is None:
        return f"The stock is empty: r turns the waste into a new stock ({board.redeals} left)."
    needed = sorted({wanted for wanted in board.next_ranks() if wanted is not None})
    names = ", ".join(rank_name(number) for number in needed)
    can_go_on = any(fitting_foundations(pile, board) for pile in range(len(board.piles)))
    return "" if can_go_on else f"No card fits any more (needed: {names})."
