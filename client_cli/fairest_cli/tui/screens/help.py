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
from fairest_cli.tui.settings import Keys
from fairest_cli.tui.widgets.text_lines import TextLines
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


class HelpScreen(ModalScreen[None]):
    """The help page. It lies over another screen, which goes on below it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,question_mark,q,enter", "close", "Back")]

    def __init__(self, keys: Keys, board: Board | None, *, arrow: str = "►", own_keys: OwnKeys = NO_KEYS) -> None:
        """`board` gives the sequences and the number of piles; without it, those of the usual rules are shown.

        `arrow` is the sign before a wanted rank. `own_keys` are the keys of the screen below, which stand first.
        """
        super().__init__()
        rules = describe_help(keys, board, arrow) if own_keys.is_race else describe_sequences(board, arrow)
        self._text = [*describe_own_keys(own_keys), *rules]

    def compose(self) -> ComposeResult:
        """Show the text, which scrolls where the terminal is small."""
        with VerticalScroll(id="help"):
            page = TextLines(id="help-text")
            page.update(self._text)
            page.styles.height = len(self._text)
            yield page

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


def describe_sequences(board: Board | None, arrow: str = "►") -> Iterator[Text]:
    """Yield the rules, and the sequences of the foundations of `board`, or of the usual ones."""
    yield from describe_rules(arrow)
    yield Text()
    for number, foundation in enumerate(board.layout if board else _usual_layout()):
        placed = len(board.foundations[number]) if board else 1
        head = (f" {FOUNDATION_DIGITS[number]}  by {foundation.step:+d} ", QUIET)
        yield Text.assemble(head, sequence(foundation, placed, arrow))
    yield Text()


def describe_help(keys: Keys, board: Board | None, arrow: str = "►") -> Iterator[Text]:
    """Yield the rules, the sequences of the foundations, and every key of the layout `keys`."""
    layout = board.layout if board else _usual_layout()
    piles = len(board.piles) if board else 4
    yield from describe_sequences(board, arrow)
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


def _key(key: str, meaning: str) -> Text:
    return Text.assemble((f" {key:<16} ", f"bold {GOLD}"), meaning)


def _usual_layout() -> tuple[Foundation, ...]:
    foundations = VARIANTS["classic"].rules.foundations
    assert not isinstance(foundations, RolledFoundations)
    return foundations
