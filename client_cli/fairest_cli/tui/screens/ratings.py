"""The ratings of the server: the leaderboard of each variant, and the page of each player, our own one first."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from functools import partial
from typing import ClassVar, Final

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from fairest_cli.records.own_names import GUEST, own_names
from fairest_cli.session.server_pages import PageUnreadable
from fairest_cli.text.ratings import (
    describe_player,
    describe_ranks,
    fetch_leaderboard,
    fetch_player,
)
from fairest_cli.tui.board.card_style import GOLD, QUIET, fitted_key_line
from fairest_cli.tui.screens.base import FairestScreen
from fairest_cli.tui.screens.help import OwnKeys
from fairest_cli.tui.screens.text_page import TextPage
from fairest_cli.tui.widgets.text_lines import Paragraph, TextLines
from fairest_cli.untrusted_text import clean
from fairest_protocol.calculation.rules import VARIANTS
from fairest_protocol.messages.ratings import Leaderboard

RULES: Final = tuple(VARIANTS)
EDGE_COLUMNS: Final = 8
"""The columns of a row that its player does not have: the blanks at both edges, and the scroll bar."""
NOBODY: Final = "Nobody has an established rating in {rules} yet: it takes some 17 rounds against people."
NO_NAME: Final = "You have no name yet: give yourself one in the settings, and race people under it."


class RatingsScreen(FairestScreen):
    """Lists a page of the leaderboard of a variant, each player of which leads to its own page."""

    MIN_SIZE: ClassVar[tuple[int, int]] = (50, 16)
    OWN_KEYS: ClassVar[OwnKeys] = OwnKeys(
        "Keys in the ratings",
        (
            ("Left Right", "another variant"),
            ("Enter", "the page of the player, with your score against each other"),
            ("y", "your own page, under the name of the settings"),
            ("n b", "the next page, and the one before"),
            ("Esc", "back"),
        ),
        is_race=False,
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "close", "Back"),
        Binding("right", "variant(1)", "Next variant"),
        Binding("left", "variant(-1)", "Last variant"),
        Binding("n", "page(1)", "Next page"),
        Binding("b", "page(-1)", "Last page"),
        Binding("y", "own", "Your page"),
    ]

    def __init__(self, server_url: str) -> None:
        super().__init__()
        self._server_url = server_url
        self._rules = RULES[0]
        self._board: Leaderboard | None = None
        """The page that is shown, None while it is read."""

    def compose_body(self) -> ComposeResult:
        """Yield a heading, the heads of the columns, the players, a notice, and the keys."""
        yield TextLines(id="heading")
        with Vertical(id="ratings"):
            yield TextLines(id="rank-heads")
            yield OptionList(id="ranks", markup=False)
            yield Paragraph(id="answer-note")
        yield TextLines(id="key-line")

    def on_mount(self) -> None:
        """Read the first page."""
        self.query_one(OptionList).focus()
        self._read(0)

    def _read(self, page: int) -> None:
        self._board = None
        self._show_notice("Reading the ratings ...")
        self.draw()
        self.run_in_background(partial(self._read_page, self._rules, page), exclusive=True, group="ratings")

    async def _read_page(self, rules: str, page: int) -> None:
        ranks = self.query_one(OptionList)
        ranks.clear_options()
        self.query_one("#rank-heads", TextLines).update("")
        try:
            board = await asyncio.to_thread(fetch_leaderboard, self._server_url, rules, page)
        except PageUnreadable as reason:
            self._show_notice(clean(str(reason)), is_error=True)
            return
        self.show_board(board)

    def show_board(self, board: Leaderboard) -> None:
        """Show a page of a leaderboard."""
        ranks = self.query_one(OptionList)
        self._board = board
        if board.players:
            heads, *lines = describe_ranks(board, self.size.width - EDGE_COLUMNS)
            self.query_one("#rank-heads", TextLines).update(Text(f"  {heads}", QUIET))
            ranks.add_options([Option(Text(f" {line}", no_wrap=True)) for line in lines])
            ranks.highlighted = 0
        self._show_notice("" if board.players else NOBODY.format(rules=board.rules))
        self.draw()

    def _show_notice(self, sentence: str, *, is_error: bool = False) -> None:
        notice = self.query_one("#answer-note", Paragraph)
        notice.update(Text(sentence, "bold #ff8a70" if is_error else QUIET))
        notice.refresh(layout=True)

    def draw(self) -> None:
        """Redraw the heading and the keys."""
        if not self.is_mounted or self.is_too_small:
            return
        board = self._board
        pages = f"  page {board.page + 1} of {board.pages}" if board is not None and board.pages > 1 else ""
        heading = Text.assemble((" Ratings ", f"bold {GOLD}"), (f"< {self._rules} >", "bold"), (pages, QUIET))
        self.query_one("#heading", TextLines).update(heading)
        keys = [("Left Right", "variant"), ("y", "your page")]
        keys += [("Enter", "player")] if board is not None and board.players else []
        keys += [("n b", "page")] if pages else []
        keys += [("Esc", "back"), ("?", "help")]
        self.query_one("#key-line", TextLines).update(fitted_key_line(keys, self.size.width))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Open the page of the selected player."""
        if self._board is not None:
            self._open_player(self._board.players[event.option_index].name)

    def action_variant(self, steps: int) -> None:
        """Show the first page of another variant, round and round."""
        self._rules = RULES[(RULES.index(self._rules) + steps) % len(RULES)]
        self._read(0)

    def action_page(self, steps: int) -> None:
        """Show another page of the same variant, if there is one."""
        if self._board is not None and 0 <= self._board.page + steps < self._board.pages:
            self._read(self._board.page + steps)

    def action_own(self) -> None:
        """Open our own page."""
        name = self._own_name
        if name:
            self._open_player(name)
        else:
            self._show_notice(NO_NAME)

    @property
    def _own_name(self) -> str:
        """The name under which we play on servers, empty if none is known."""
        return next((name for name in own_names(self.settings.name) if name != GUEST), "")

    def _open_player(self, name: str) -> None:
        other = self._own_name
        against = other if other and other.lower() != name.lower() else None
        self.app.push_screen(player_page(self._server_url, name, against))

    def action_close(self) -> None:
        """Return to the screen below."""
        self.dismiss()


def player_page(server_url: str, name: str, against: str | None) -> TextPage:
    """Return the page with what `fairest player` prints about a player."""
    return TextPage(f"{clean(name)} on {server_url}", _player_lines(server_url, name, against))


def _player_lines(server_url: str, name: str, against: str | None) -> Callable[[], AsyncGenerator[str, None]]:
    async def lines() -> AsyncGenerator[str, None]:
        try:
            found = await asyncio.to_thread(fetch_player, server_url, name, against)
        except PageUnreadable as reason:
            yield clean(str(reason))
            return
        for line in describe_player(found):
            yield line

    return lines
