"""What one could do now, in a sentence that names the key: enough for somebody who knows no rules. Pure."""

from typing import Final

from fairest_cli.tui.board.card_input import LIFT_KEYS, PILE_KEYS, STOCK, fitting
from fairest_cli.tui.settings import Keys
from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.cards import rank_name
from fairest_protocol.calculation.moves import FOUNDATION_DIGITS, REDEAL

WAITING: Final = "The next card is on its way ..."


def advise(board: Board, keys: Keys, *, hints: bool) -> str:
    """What to do with the turned card, and which pile's top could go up. Without hints, only what there is."""
    if board.is_won:
        return "Every card is placed."
    if board.turned is None and board.stock:
        return WAITING
    if not hints:
        return "" if board.turned is not None else _end_of_stock(board)
    sentences = [_for_piles(board, keys)]
    if board.turned is not None:
        sentences.append(_for_turned(board, keys))
    else:
        sentences.append(_end_of_stock(board))
    return "  ".join(sentence for sentence in sentences if sentence)


def _for_turned(board: Board, keys: Keys) -> str:
    first = "s then " if keys is Keys.TYPED else ""
    targets = fitting(STOCK, board)
    letters = PILE_KEYS[keys][: len(board.piles)]
    if not targets:
        if len(letters) == 1:
            return f"No foundation wants this card: lay it on the pile, {first}{letters}."
        choice = f"{', '.join(letters[:-1])} or {letters[-1]}"
        return f"No foundation wants this card: lay it on a pile, {first}{choice}."
    digits = " or ".join(FOUNDATION_DIGITS[target] for target in targets)
    return f"This card fits: {first}{digits}."


def _for_piles(board: Board, keys: Keys) -> str:
    ready = [number for number in range(len(board.piles)) if fitting(number, board)]
    if not ready:
        return ""
    if keys is Keys.TYPED:
        ways = ", ".join(f"{PILE_KEYS[keys][pile]} then {FOUNDATION_DIGITS[fitting(pile, board)[0]]}" for pile in ready)
    else:
        ways = ", ".join(f"Shift+{LIFT_KEYS[keys][pile]}" for pile in ready)
    return f"From the piles: {ways}."


def _end_of_stock(board: Board) -> str:
    if board.refusal(REDEAL) is None:
        return f"The stock is empty: r deals the waste again ({board.redeals} left)."
    wanted = sorted({wanted for wanted in board.next_ranks() if wanted is not None})
    names = ", ".join(rank_name(number) for number in wanted)
    return "" if any(fitting(pile, board) for pile in range(len(board.piles))) else f"Nothing fits any more ({names})."
