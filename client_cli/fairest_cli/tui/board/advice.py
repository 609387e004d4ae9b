"""The advice that stands on the card or slot that it is about. Pure.

Each piece of advice comes in several wordings, the fullest first: the drawing takes the first that fits its place. All
wordings of a place say the same, so that nothing is lost in a small terminal except words.
"""

from collections.abc import Sequence

from fairest_cli.tui.board.card_input import PILE_KEYS, SEND_UP_KEYS, STOCK, fitting_foundations, pile_span
from fairest_cli.tui.board.card_style import CardStyle
from fairest_cli.tui.settings import Keys
from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.moves import FOUNDATION_DIGITS, REDEAL

Wordings = tuple[str, ...]
"""The same advice in several lengths, the longest first."""


def stock_advice(board: Board, keys: Keys) -> list[Wordings]:
    """Return what can be done with the turned card, line by line."""
    if board.turned is None:
        return [_for_empty_stock(board)] if not board.stock else [("on its way ...", "wait ...", "...")]
    targets = fitting_foundations(STOCK, board)
    span = pile_span(keys, len(board.piles))
    if not targets:
        if keys is Keys.TYPED:
            ways: Wordings = (
                f"lay it on a pile: s, then {span}",
                f"pile: s, then {span}",
                f"s, then {span}",
                f"s {span}",
            )
        else:
            ways = (f"lay it on pile {span}", f"pile {span}", span)
        return [("fits no foundation:", "fits nothing:", "no fit:", "no fit"), ways]
    digits = [FOUNDATION_DIGITS[target] for target in targets]
    fits = _fits(digits)
    first = "s, then " if keys is Keys.TYPED else ""
    return [(f"{fits[0]}: press {first}{' or '.join(digits)}", *fits)]


def pile_advice(pile: int, board: Board, keys: Keys, card_style: CardStyle) -> Wordings:
    """Return where the top card of `pile` can go; nothing if no foundation needs it."""
    digits = [FOUNDATION_DIGITS[target] for target in fitting_foundations(pile, board)]
    if not digits:
        return ()
    fits = _fits(digits)
    if keys is Keys.TYPED:
        full = f"{fits[0]}: {PILE_KEYS[keys][pile]}, then {' or '.join(digits)}"
    else:
        full = f"{fits[0]}: Shift+{SEND_UP_KEYS[keys][pile]}"
    return (full, *fits, f"{card_style.arrow}{''.join(digits)}")


def foundation_advice(number: int, board: Board, keys: Keys, card_style: CardStyle) -> Wordings:
    """Return the cards that fit the foundation now: the turned card by name, piles by their letters."""
    fitting = [PILE_KEYS[keys][pile] for pile in range(len(board.piles)) if number in fitting_foundations(pile, board)]
    if board.turned is not None and number in fitting_foundations(STOCK, board):
        fitting.insert(0, card_style.name(board.turned))
    if not fitting:
        return ()
    verb = "fits" if len(fitting) == 1 else "fit"
    count = (f"{len(fitting)} fit",) if len(fitting) > 2 else ()
    return (f"{', '.join(fitting)} {verb}", f"{' '.join(fitting)} {verb}", " ".join(fitting), *count)


def _fits(digits: Sequence[str]) -> Wordings:
    return (f"fits {' and '.join(digits)}", f"fits {' '.join(digits)}")


def _for_empty_stock(board: Board) -> Wordings:
    if board.refusal(REDEAL) is None:
        return ("r: waste becomes stock", "press r: redeal", "r: redeal")
    if board.is_won:
        return ("complete",)
    can_go_on = any(fitting_foundations(pile, board) for pile in range(len(board.piles)))
    return ("only piles are left", "piles only", "empty") if can_go_on else ("no card fits", "stuck")
