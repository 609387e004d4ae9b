"""Every key, and the rules in five lines with the sequences of the race: what `?` shows."""

from collections.abc import Iterator
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen

from fairest_cli.tui.board.board_lines import sequence
from fairest_cli.tui.board.card_input import PILE_KEYS
from fairest_cli.tui.board.card_style import GOLD, QUIET
from fairest_cli.tui.settings import Keys
from fairest_cli.tui.widgets.text_lines import TextLines
from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.moves import FOUNDATION_DIGITS
from fairest_protocol.calculation.rules import VARIANTS, Foundation, RolledFoundations


class KeysScreen(ModalScreen[None]):
    """Shown over whatever screen is open, which goes on below it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,question_mark,q,enter", "close", "Back")]

    def __init__(self, keys: Keys, board: Board | None) -> None:
        super().__init__()
        self._lines = list(tell_keys(keys, board))

    def compose(self) -> ComposeResult:
        """The text, which scrolls where the terminal is small."""
        with VerticalScroll(id="keys"):
            picture = TextLines(id="keys-text")
            picture.show(self._lines)
            picture.styles.height = len(self._lines)
            yield picture

    def action_close(self) -> None:
        """Back to what was open."""
        self.dismiss()


def tell_rules() -> Iterator[Text]:
    """How to play, in five lines."""
    yield Text("How to play", f"bold {GOLD}")
    yield Text("Each foundation counts by its own step; [ ] is wanted next, in any suit.")
    yield Text("Put the turned card on a foundation that wants it, or on any waste pile.")
    yield Text("The top of a pile may go to a foundation at any time. Nothing else moves.")
    yield Text("Who first places every card wins; if nobody can, more placed cards win.")


def tell_keys(keys: Keys, board: Board | None) -> Iterator[Text]:
    """The rules of the game, the sequences, and the keys of this layout."""
    layout = board.layout if board else _usual_layout()
    piles = len(board.piles) if board else 4
    yield from tell_rules()
    yield Text()
    for number, foundation in enumerate(layout):
        placed = len(board.foundations[number]) if board else 1
        head = (f" {FOUNDATION_DIGITS[number]}  by {foundation.step:+d} ", QUIET)
        yield Text.assemble(head, sequence(foundation, placed))
    yield Text()
    yield Text("Keys in a race", f"bold {GOLD}")
    digits, letters = f"1-{len(layout)}", _span(PILE_KEYS[keys][:piles])
    if keys is Keys.TYPED:
        yield _key("s then " + digits, "the turned card to that foundation")
        yield _key("s then " + letters, "the turned card onto that waste pile")
        yield _key(f"{letters} then {digits}", "the top of that pile to that foundation")
    else:
        yield _key(digits, "the turned card to that foundation")
        yield _key(letters, "the turned card onto that waste pile")
        yield _key(f"Shift+{letters}", "the top of that pile to the foundation that wants it;")
        yield _key("", "if two want it, the digit says which")
    yield _key("r", "redeal, if the rules have one and the stock is empty")
    yield _key("Esc", "put a card back that is picked up; else the menu")
    yield _key("mouse", "click a card, then where it goes; click it twice: up")
    yield _key("? Ctrl+Q", "this page; quit (a race asks first)")


def _key(key: str, meaning: str) -> Text:
    return Text.assemble((f" {key:<16} ", f"bold {GOLD}"), meaning)


def _span(letters: str) -> str:
    return f"{letters[0]}-{letters[-1]}" if letters in "abcdefgh" and len(letters) > 1 else " ".join(letters)


def _usual_layout() -> tuple[Foundation, ...]:
    foundations = VARIANTS["classic"].rules.foundations
    assert not isinstance(foundations, RolledFoundations)
    return foundations
