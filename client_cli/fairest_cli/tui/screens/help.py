"""The help page, opened by `?`: the rules in four sentences, the sequences of the race, and every key."""

from collections.abc import Iterator
from typing import ClassVar, Final

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen

from fairest_cli.tui.board.board_lines import sequence
from fairest_cli.tui.board.card_input import pile_span
from fairest_cli.tui.board.card_style import GOLD, QUIET
from fairest_cli.tui.board.foundation_cards import RANK_COLUMNS
from fairest_cli.tui.settings import Keys
from fairest_cli.tui.widgets.text_lines import CONSOLE, TextLines
from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.moves import FOUNDATION_DIGITS
from fairest_protocol.calculation.rules import VARIANTS, Foundation, RolledFoundations
from fairest_protocol.value import Value


class OwnKeys(Value):
    """The keys of one screen under a heading: pairs of a key and its meaning. `is_race`: those of a race hold too."""

    heading: str = ""
    pairs: tuple[tuple[str, str], ...] = ()
    is_race: bool = True


NO_KEYS: Final = OwnKeys()
MAX_COLUMNS: Final = 100
"""The widest page, with its frame."""
EDGE_COLUMNS: Final = 7
"""Of the frame, the blanks within it, and the scroll bar."""
KEY_COLUMNS: Final = 18
"""A key and the blanks behind it."""


class HelpScreen(ModalScreen[None]):
    """The help page. It lies over another screen, which goes on below it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,question_mark,q,enter", "close", "Back")]

    def __init__(self, keys: Keys, board: Board | None, *, arrow: str = "►", own_keys: OwnKeys = NO_KEYS) -> None:
        """`board` gives the sequences and the number of piles; without it, those of the usual rules are shown.

        `arrow` is the sign before a wanted rank. `own_keys` are the keys of the screen below, which stand first.
        """
        super().__init__()
        self._keys, self._board, self._arrow, self._own_keys = keys, board, arrow, own_keys

    def compose(self) -> ComposeResult:
        """Show the text, which scrolls where the terminal is small."""
        with VerticalScroll(id="help"):
            yield TextLines(id="help-text")

    def on_resize(self) -> None:
        """Write the page for the new width."""
        columns = min(self.size.width, MAX_COLUMNS) - EDGE_COLUMNS
        keys, board, arrow, own_keys = self._keys, self._board, self._arrow, self._own_keys
        rules = describe_help(keys, board, arrow, columns) if own_keys.is_race else None
        rules = rules or describe_sequences(board, arrow, columns)
        lines = [part for line in (*describe_own_keys(own_keys), *rules) for part in wrapped(line, columns)]
        page = self.query_one("#help-text", TextLines)
        page.update(lines)
        page.styles.height = len(lines)

    def action_close(self) -> None:
        """Return to the screen below."""
        self.dismiss()


def describe_own_keys(own_keys: OwnKeys) -> Iterator[Text]:
    """Yield the heading and the keys of one screen; nothing for a screen without keys of its own."""
    if own_keys.pairs:
        yield Text(own_keys.heading, f"bold {GOLD}")
        yield from (_key(key, meaning) for key, meaning in own_keys.pairs)
        yield Text()


def describe_rules(arrow: str = "►") -> Iterator[Text]:
    """Yield a heading and the rules in four sentences."""
    yield Text("How to play", f"bold {GOLD}")
    yield Text(f"Each foundation counts up by its own step; {arrow} is wanted next, of any suit.")
    yield Text("Play the turned card to a foundation that needs it, or onto a waste pile.")
    yield Text("A pile's top card may go to a foundation at any time. Nothing else moves.")
    yield Text("The first to place every card wins. If nobody can, more placed cards win.")


def describe_sequences(board: Board | None, arrow: str = "►", columns: int = MAX_COLUMNS) -> Iterator[Text]:
    """Yield the rules, and the sequences of the foundations of `board`, or of the usual ones."""
    yield from describe_rules(arrow)
    yield Text()
    for number, foundation in enumerate(board.layout if board else _usual_layout()):
        placed = len(board.foundations[number]) if board else 1
        head = (f" {FOUNDATION_DIGITS[number]}  by {foundation.step} ", QUIET)
        room = (columns - len(head[0])) // foundation.length
        yield Text.assemble(head, sequence(foundation, placed, arrow, max(3, min(RANK_COLUMNS, room))))
    yield Text()


def describe_help(keys: Keys, board: Board | None, arrow: str = "►", columns: int = MAX_COLUMNS) -> Iterator[Text]:
    """Yield the rules, the sequences of the foundations, and every key of the layout `keys`."""
    layout = board.layout if board else _usual_layout()
    piles = len(board.piles) if board else 4
    yield from describe_sequences(board, arrow, columns)
    yield Text("Keys in a race", f"bold {GOLD}")
    digits, letters = f"1-{len(layout)}", pile_span(keys, piles)
    if keys is Keys.TYPED:
        yield _key("s then " + digits, "play the turned card to that foundation")
        yield _key("s then " + letters, "lay the turned card onto that waste pile")
        yield _key(f"{letters} then {digits}", "play the top card of that pile to that foundation")
    else:
        yield _key(digits, "play the turned card to that foundation")
        yield _key(letters, "lay the turned card onto that waste pile")
        yield _key(f"Shift+{letters}", "play the top card of that pile to a foundation;")
        yield _key("", "if two need it, press the digit of one")
    yield _key("r", "redeal, if the rules allow it and the stock is empty")
    yield _key("Tab", "show every sequence as a whole, or hide them again")
    yield _key("Esc", "put a picked-up card back; otherwise, open the menu")
    yield _key("mouse", "click a card, then its target (twice: to a foundation)")
    yield _key("? Ctrl+Q", "show this page; quit (asks first in a race)")


def wrapped(line: Text, columns: int) -> list[Text]:
    """Return `line` on as many lines as it needs; the meaning of a key goes on below its first word."""
    if line.cell_len <= columns:
        return [line]
    indent = KEY_COLUMNS if line.plain.startswith(" ") else 0
    head, meaning = line.divide([indent])
    first, *rest = meaning.wrap(CONSOLE, columns - indent)
    return [head + first, *(Text(" " * indent) + part for part in rest)]


def _key(key: str, meaning: str) -> Text:
    return Text.assemble((f" {key:<{KEY_COLUMNS - 2}} ", f"bold {GOLD}"), meaning)


def _usual_layout() -> tuple[Foundation, ...]:
    foundations = VARIANTS["classic"].rules.foundations
    assert not isinstance(foundations, RolledFoundations)
    return foundations
