"""The line with the keys of a race, in shorter words where there is less room. Pure."""

from rich.text import Text

from fairest_cli.tui.board.advice import Wordings
from fairest_cli.tui.board.card_input import SEND_UP_KEYS, pile_span
from fairest_cli.tui.board.card_style import key_line
from fairest_cli.tui.settings import Keys
from fairest_cli.untrusted_text import clean
from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.moves import REDEAL


def race_key_line(keys: Keys, board: Board, columns: int) -> Text:
    """Return the keys that move cards, with their meanings as far as `columns` allow."""
    lines = [key_line(pairs) for pairs in _wordings(keys, board)]
    return next((line for line in lines if line.cell_len <= columns), lines[-1])


def after_race_key_line(other_name: str, *, may_ask: bool) -> Text:
    """Return the keys once our race has ended; `may_ask` is whether the other player may still be asked to finish."""
    ask = [("f", f"ask {other_name} to finish now")] if may_ask else []
    return key_line([*ask, ("?", "help"), ("Esc", "menu")])


def describe_unknown_key(key: str, keys: Keys, board: Board, *, is_over: bool) -> Wordings:
    """Return that a key does nothing here, and which keys do; the longest wording first."""
    name = {" ": "Space", "\r": "Enter", "\n": "Enter"}.get(key, clean(key))
    if is_over:
        return (f"{name} does nothing now: your race is over. The line below has the keys.",)
    digits, span = f"1-{len(board.layout)}", pile_span(keys, len(board.piles))
    ways = (
        f"s or {span}, then {digits} or {span}"
        if keys is Keys.TYPED
        else f"{digits} is a foundation, {span} a pile, Shift+{span} plays a pile's top"
    )
    return (
        f"{name} does nothing here: {ways}; ? shows all.",
        f"{name} does nothing here. The keys are below; ? shows all.",
        f"{name} does nothing. Keys: below, and ?",
    )


def _wordings(keys: Keys, board: Board) -> list[list[tuple[str, str]]]:
    """Return the same keys with long, short and very short words."""
    piles = len(board.piles)
    digits, span = f"1-{len(board.layout)}", pile_span(keys, piles)
    redeal = [("r", "redeal")] if board.redeals or board.refusal(REDEAL) is None else []
    if keys is Keys.TYPED:
        long = [(f"s {digits}", "to foundation"), (f"s {span}", "to pile"), (f"{span} {digits}", "play its top")]
        medium = [(f"s {digits}", "foundation"), (f"s {span}", "pile"), (f"{span} {digits}", "its top")]
        short = [(f"s {digits}", "up"), (f"s {span}", "lay"), (f"{span} {digits}", "top up")]
    else:
        letters = SEND_UP_KEYS[keys][:piles]
        capitals = letters if "-" not in span else f"{letters[0]}-{letters[-1]}"
        long = [(digits, "to foundation"), (span, "to pile"), (f"Shift+{span}", "play its top")]
        medium = [(digits, "foundation"), (span, "pile"), (f"Shift+{span}", "its top")]
        short = [(digits, "up"), (span, "lay"), (capitals, "top up")]
    return [
        [*long, *redeal, ("Tab", "all ranks"), ("?", "help"), ("Esc", "menu")],
        [*medium, *redeal, ("Tab", "all ranks"), ("?", "help"), ("Esc", "menu")],
        [*short, *redeal, ("Tab", "all ranks"), ("?", "help"), ("Esc", "menu")],
        [*short, *redeal, ("Tab", "ranks"), ("?", ""), ("Esc", "")],
        [*short, *redeal, ("Tab", ""), ("?", "")],
        [(name, "") for name, _ in (*short, *redeal, ("Tab", ""), ("?", ""))],
    ]
