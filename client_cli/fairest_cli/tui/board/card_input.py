"""From keys and clicks to moves: what is picked up, and what the next key means. Pure."""

from typing import Final

from fairest_cli.tui.settings import Keys
from fairest_protocol.calculation.board import Board, Illegal
from fairest_protocol.calculation.cards import rank, rank_name
from fairest_protocol.calculation.moves import (
    FOUNDATION_DIGITS,
    PILE_LETTERS,
    REDEAL,
    Move,
    pile_to_foundation,
    stock_to_foundation,
    stock_to_pile,
)
from fairest_protocol.messages.refusals import SENTENCES, Refusal
from fairest_protocol.value import Value

STOCK: Final = -1
"""The turned card, among the piles that are counted from 0."""

PILE_KEYS: Final[dict[Keys, str]] = {
    Keys.LETTERS: PILE_LETTERS,
    Keys.HOME_ROW: "asdfjkl;",
    Keys.TYPED: PILE_LETTERS,
}
LIFT_KEYS: Final[dict[Keys, str]] = {Keys.LETTERS: "ABCDEFGH", Keys.HOME_ROW: "ASDFJKL:", Keys.TYPED: ""}
"""With Shift: the top of that pile goes up."""

ON_ITS_WAY: Final = "The next card is on its way; wait for it."


class Answer(Value):
    """What a key or a click came to: the source that is picked up now, a move to make, or a sentence."""

    picked: int | None = None
    move: Move | None = None
    sentence: str = ""


def press(keys: Keys, key: str, picked: int | None, board: Board) -> Answer | None:
    """What a key means on this board, with this picked up before; None for a key that moves nothing."""
    if key in FOUNDATION_DIGITS[: len(board.layout)]:
        return to_foundation(FOUNDATION_DIGITS.index(key), STOCK if picked is None else picked, board)
    if key == "r":
        return _judged(REDEAL, board)
    if keys is Keys.TYPED and picked is None:
        if key == "s":
            return pick(STOCK, board)
        return pick(PILE_LETTERS.index(key), board) if key in PILE_LETTERS[: len(board.piles)] else None
    if key in PILE_KEYS[keys][: len(board.piles)]:
        return _to_pile(PILE_KEYS[keys].index(key), STOCK if picked is None else picked, board)
    if key in LIFT_KEYS[keys][: len(board.piles)]:
        return lift(LIFT_KEYS[keys].index(key), board)
    return None


def click_foundation(target: int, picked: int | None, board: Board) -> Answer:
    """A click on a foundation: what is picked up goes there, or else the turned card."""
    return to_foundation(target, STOCK if picked is None else picked, board)


def click_pile(target: int, picked: int | None, board: Board) -> Answer:
    """A click on a pile: the turned card goes there if it is picked up; else its top is, and again sends it up."""
    if picked == STOCK:
        return _to_pile(target, STOCK, board)
    if picked == target:
        return lift(target, board)
    return pick(target, board)


def click_stock(picked: int | None, board: Board) -> Answer:
    """A click on the turned card picks it up; a second one puts it on the foundation that it fits, if there is one."""
    if board.turned is None and board.refusal(REDEAL) is None:
        return Answer(move=REDEAL)
    if picked == STOCK:
        return lift(STOCK, board)
    return pick(STOCK, board)


def pick(source: int, board: Board) -> Answer:
    """Pick up the turned card or the top of a pile."""
    if _top(source, board) is None:
        return Answer(sentence=_nothing_there(source, board))
    return Answer(picked=source, sentence=f"{_name(source, board)} is picked up: say where it goes. Esc puts it back.")


def lift(source: int, board: Board) -> Answer:
    """The top of a pile, or the turned card, to the foundation that takes it; of several, the player says which."""
    if _top(source, board) is None:
        return Answer(sentence=_nothing_there(source, board))
    targets = fitting(source, board)
    if not targets:
        return Answer(sentence=f"No foundation needs {_name(source, board)} now.")
    if len(targets) > 1:
        digits = " or ".join(FOUNDATION_DIGITS[target] for target in targets)
        return Answer(picked=source, sentence=f"{_name(source, board)} fits more than one foundation: {digits}?")
    return to_foundation(targets[0], source, board)


def fitting(source: int, board: Board) -> list[int]:
    """The foundations that take the turned card or the top of this pile."""
    card = _top(source, board)
    return [] if card is None else [to for to, wanted in enumerate(board.next_ranks()) if wanted == card]


def to_foundation(target: int, source: int, board: Board) -> Answer:
    """The turned card, or the top of a pile, to a foundation."""
    move = stock_to_foundation(target) if source == STOCK else pile_to_foundation(source, target)
    illegal = board.refusal(move)
    if illegal is Illegal.RANK_NOT_NEEDED:
        wanted = board.next_ranks()[target]
        needs = "" if wanted is None else rank_name(wanted)
        return Answer(sentence=f"Foundation {FOUNDATION_DIGITS[target]} needs {_a(needs)}, not {_name(source, board)}.")
    return _judged(move, board)


def _to_pile(target: int, source: int, board: Board) -> Answer:
    if source != STOCK:
        return Answer(sentence=SENTENCES[Refusal.PILE_TO_PILE])
    return _judged(stock_to_pile(target), board)


def _judged(move: Move, board: Board) -> Answer:
    illegal = board.refusal(move)
    if illegal is None:
        return Answer(move=move)
    if illegal is Illegal.NOTHING_TURNED and board.stock:
        return Answer(sentence=ON_ITS_WAY)
    return Answer(sentence=SENTENCES[Refusal(illegal)])


def _top(source: int, board: Board) -> int | None:
    """The rank of what lies there to be moved."""
    if source == STOCK:
        return None if board.turned is None else rank(board.turned)
    return rank(board.piles[source][-1]) if board.piles[source] else None


def _name(source: int, board: Board) -> str:
    number = _top(source, board)
    return "nothing" if number is None else f"the {rank_name(number)}"


def _a(name: str) -> str:
    return f"an {name}" if name in ("A", "8") else f"a {name}"


def _nothing_there(source: int, board: Board) -> str:
    if source == STOCK:
        return ON_ITS_WAY if board.stock else SENTENCES[Refusal.NOTHING_TURNED]
    return SENTENCES[Refusal.PILE_EMPTY]
