"""From keys and clicks to moves: what is picked up, and what the next key or click means. Pure."""

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
"""The turned card as a source; piles are sources from 0."""

PILE_KEYS: Final[dict[Keys, str]] = {
    Keys.LETTERS: PILE_LETTERS,
    Keys.HOME_ROW: "asdfjkl;",
    Keys.TYPED: PILE_LETTERS,
}
SEND_UP_KEYS: Final[dict[Keys, str]] = {Keys.LETTERS: "ABCDEFGH", Keys.HOME_ROW: "ASDFJKL:", Keys.TYPED: ""}
"""`PILE_KEYS` with Shift, which play the top card of that pile to a foundation."""

ON_ITS_WAY: Final = "The next card is on its way; wait for it."


class InputResult(Value):
    """The effect of a key or a click: a move to make, a source that is now picked up, or a sentence for the player."""

    picked: int | None = None
    move: Move | None = None
    sentence: str = ""


def press_key(keys: Keys, key: str, picked: int | None, board: Board) -> InputResult | None:
    """Return the effect of `key` while `picked` is picked up, or None for a key without a meaning on this board."""
    if key in FOUNDATION_DIGITS[: len(board.layout)]:
        return _to_foundation(FOUNDATION_DIGITS.index(key), STOCK if picked is None else picked, board, keys)
    if key == "r":
        return _move_or_reason(REDEAL, board)
    if keys is Keys.TYPED and picked is None:
        if key == "s":
            return _pick_up(STOCK, board)
        return _pick_up(PILE_LETTERS.index(key), board) if key in PILE_LETTERS[: len(board.piles)] else None
    if key in PILE_KEYS[keys][: len(board.piles)]:
        return _to_pile(PILE_KEYS[keys].index(key), STOCK if picked is None else picked, board)
    if key in SEND_UP_KEYS[keys][: len(board.piles)]:
        return _send_up(SEND_UP_KEYS[keys].index(key), board)
    return None


def click_slot(kind: str, number: int, picked: int | None, board: Board) -> InputResult:
    """Return the effect of a click on a slot: its `kind` is `foundation`, `pile` or `stock`."""
    match kind:
        case "foundation":
            return click_foundation(number, picked, board)
        case "pile":
            return click_pile(number, picked, board)
        case _:
            return click_stock(picked, board)


def click_foundation(target: int, picked: int | None, board: Board) -> InputResult:
    """Play the card that is picked up, or else the turned card, to this foundation."""
    return _to_foundation(target, STOCK if picked is None else picked, board)


def click_pile(target: int, picked: int | None, board: Board) -> InputResult:
    """Lay the turned card here if it is picked up; else pick up the top card, and at a second click send it up."""
    if picked == STOCK:
        return _to_pile(target, STOCK, board)
    if picked == target:
        return _send_up(target, board)
    return _pick_up(target, board)


def click_stock(picked: int | None, board: Board) -> InputResult:
    """Pick up the turned card, and at a second click send it up; with an empty stock, redeal if the rules allow it."""
    if board.turned is None and board.refusal(REDEAL) is None:
        return InputResult(move=REDEAL)
    if picked == STOCK:
        return _send_up(STOCK, board)
    return _pick_up(STOCK, board)


def pile_span(keys: Keys, piles: int) -> str:
    """Return the keys of the piles for people: `a-d`, or all letters where they do not follow one another."""
    letters = PILE_KEYS[keys][:piles]
    return letters if keys is Keys.HOME_ROW or piles == 1 else f"{letters[0]}-{letters[-1]}"


def fitting_foundations(source: int, board: Board) -> list[int]:
    """Return the foundations that need the turned card (`STOCK`) or the top card of a pile."""
    card = _top_rank(source, board)
    return [] if card is None else [to for to, wanted in enumerate(board.next_ranks()) if wanted == card]


def _pick_up(source: int, board: Board) -> InputResult:
    if _top_rank(source, board) is None:
        return InputResult(sentence=_why_empty(source, board))
    sentence = f"You picked up {_name(source, board)}: choose where it goes. Esc puts it back."
    return InputResult(picked=source, sentence=sentence)


def _send_up(source: int, board: Board) -> InputResult:
    """Play the card to the only foundation that needs it; if several do, pick it up and ask for the digit."""
    if _top_rank(source, board) is None:
        return InputResult(sentence=_why_empty(source, board))
    targets = fitting_foundations(source, board)
    if not targets:
        return InputResult(sentence=f"No foundation needs {_name(source, board)} now.")
    if len(targets) > 1:
        digits = " or ".join(FOUNDATION_DIGITS[target] for target in targets)
        sentence = f"More than one foundation needs {_name(source, board)}: press {digits}."
        return InputResult(picked=source, sentence=sentence)
    return _to_foundation(targets[0], source, board)


def _to_foundation(target: int, source: int, board: Board, keys: Keys | None = None) -> InputResult:
    """Play the card to the foundation. If another card is needed, say which of `keys` plays a top card there."""
    move = stock_to_foundation(target) if source == STOCK else pile_to_foundation(source, target)
    illegal = board.refusal(move)
    if illegal is Illegal.RANK_NOT_NEEDED:
        wanted = board.next_ranks()[target]
        needs = "" if wanted is None else rank_name(wanted)
        way = "" if keys is None else _pile_key(target, board, keys)
        needed = f"Foundation {FOUNDATION_DIGITS[target]} needs {_with_article(needs)}{way}"
        sentence = f"{needed}, not {_name(source, board)}."
        return InputResult(sentence=sentence)
    return _move_or_reason(move, board)


def _pile_key(target: int, board: Board, keys: Keys) -> str:
    """Return in brackets the keys that play a pile's top card to this foundation, or nothing if none fits."""
    pile = next((number for number in range(len(board.piles)) if target in fitting_foundations(number, board)), None)
    if pile is None:
        return ""
    if keys is Keys.TYPED:
        return f" ({PILE_KEYS[keys][pile]}, then {FOUNDATION_DIGITS[target]})"
    return f" (Shift+{PILE_KEYS[keys][pile]})"


def _to_pile(target: int, source: int, board: Board) -> InputResult:
    if source != STOCK:
        return InputResult(sentence=SENTENCES[Refusal.PILE_TO_PILE])
    return _move_or_reason(stock_to_pile(target), board)


def _move_or_reason(move: Move, board: Board) -> InputResult:
    illegal = board.refusal(move)
    if illegal is None:
        return InputResult(move=move)
    if illegal is Illegal.NOTHING_TURNED and board.stock:
        # Only the server knows the next card; until it answers, nothing is turned.
        return InputResult(sentence=ON_ITS_WAY)
    return InputResult(sentence=SENTENCES[Refusal(illegal)])


def _top_rank(source: int, board: Board) -> int | None:
    if source == STOCK:
        return None if board.turned is None else rank(board.turned)
    return rank(board.piles[source][-1]) if board.piles[source] else None


def _name(source: int, board: Board) -> str:
    number = _top_rank(source, board)
    return "nothing" if number is None else f"the {rank_name(number)}"


def _with_article(name: str) -> str:
    return f"an {name}" if name in ("A", "8") else f"a {name}"


def _why_empty(source: int, board: Board) -> str:
    if source == STOCK:
        return ON_ITS_WAY if board.stock else SENTENCES[Refusal.NOTHING_TURNED]
    return SENTENCES[Refusal.PILE_EMPTY]
