"""The side region of a practice game: its help, the cards to come if the stock is open, and the keys. Pure."""

from collections.abc import Sequence
from typing import Final

from rich.text import Text

from fairest_cli.model.practice import Practice, describe_help_taken
from fairest_cli.tui.board.card_style import GOLD, QUIET, CardStyle, key_line
from fairest_cli.untrusted_text import clean
from fairest_protocol.calculation.cards import Card, rank, rank_name

KEYS: Final = (
    ("u", "undo"),
    ("y", "redo"),
    ("t", "hint"),
    ("o", "open stock"),
    ("z", "start again"),
    ("n", "new deal"),
)
SHORT: Final = {"open stock": "stock", "start again": "again", "new deal": "new"}
TALL_LINES: Final = 14
"""From this height on, each key has a line of its own."""


def practice_side(game: Practice, columns: int, lines: int, card_style: CardStyle) -> list[Text]:
    """Return at most `lines` lines of at most `columns` columns, the most needed ones where there are few."""
    if lines < TALL_LINES:
        return _compact(game, columns, lines)
    taken = describe_help_taken(game) or "none yet"
    rows = [
        Text(" Practice", f"bold {GOLD}"),
        Text(f" {game.rules.name}, seed {clean(game.seed)}", QUIET),
        Text(),
        Text.assemble((" help taken: ", QUIET), (taken, "bold")),
        Text(f" moves so far: {len(game.positions) - 1}; to redo: {len(game.undone)}", QUIET),
        Text(),
        *(key_line([(f"{key} ", meaning)]) for key, meaning in KEYS),
        key_line([("Esc", "menu: another deal, variant or seed")]),
        Text(),
    ]
    return [*rows, *_stock(game, columns, max(0, lines - len(rows)), card_style)]


def _compact(game: Practice, columns: int, lines: int) -> list[Text]:
    """Return the stock, if it is open, and the keys in as few lines as they need."""
    keys = _key_rows(columns)
    if lines == 1 and game.shows_stock:
        return [_to_come(game, columns)]
    if lines <= len(keys):
        to_come = [_to_come(game, columns)] if game.shows_stock and lines > 1 else []
        return [*to_come, *keys][:lines]
    taken = describe_help_taken(game)
    head = Text.assemble((" Practice", f"bold {GOLD}"), (f"  {taken or 'no help taken yet'}", QUIET))
    rows = [head, *keys]
    if game.shows_stock:
        rows += [Text(" still to come, the next one first:", QUIET), *_wrapped(game.to_come, columns)]
    return rows[:lines]


def _key_rows(columns: int) -> list[Text]:
    """Return the keys in one line where it fits, in short words if need be, else in two lines."""
    short = [(key, SHORT.get(meaning, meaning)) for key, meaning in KEYS]
    for pairs in (KEYS, short):
        line = key_line(pairs)
        if line.cell_len <= columns:
            return [line]
    return [key_line(short[:3]), key_line(short[3:])]


def _to_come(game: Practice, columns: int) -> Text:
    return _wrapped(game.to_come, columns)[0]


def _stock(game: Practice, columns: int, lines: int, card_style: CardStyle) -> list[Text]:
    if not game.shows_stock:
        return []
    if not game.to_come:
        return [Text(" nothing is left to come", QUIET)][:lines]
    in_line = max(1, (columns - 1) // 5)
    rows = [
        Text.assemble(" ", *(card_style.chip(card) for card in game.to_come[start : start + in_line]))
        for start in range(0, len(game.to_come), in_line)
    ]
    return [Text(" still to come, the next one first:", QUIET), *rows][:lines]


def _wrapped(cards: Sequence[Card], columns: int) -> list[Text]:
    """Return the ranks of cards in lines of at most `columns` columns."""
    rows, row = [], ""
    for name in (rank_name(rank(card)) for card in cards):
        if len(row) + 1 + len(name) > columns and row:
            rows.append(Text(row))
            row = ""
        row += f" {name}"
    return [*rows, Text(row or " nothing is left to come")]
