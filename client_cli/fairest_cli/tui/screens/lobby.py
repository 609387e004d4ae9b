"""The lobby of a server: its public rooms, refreshed while the screen is open."""

import asyncio
from textwrap import wrap
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from fairest_cli.session.server_pages import PageUnreadable
from fairest_cli.text.lobby import describe_listed_rules, describe_players, fetch_lobby
from fairest_cli.tui.board.card_style import GOLD, QUIET, key_line
from fairest_cli.tui.screens.base import FairestScreen
from fairest_cli.tui.widgets.text_lines import TextLines
from fairest_cli.untrusted_text import clean
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_server import ListedRoom, LobbyPage
from fairest_protocol.messages.options import Spectators

REFRESH_SECONDS = 3.0


class LobbyScreen(FairestScreen):
    """A page of rooms. Enter joins a room that waits for a player and watches one with a race."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "close", "Back"),
        Binding("pagedown,n", "turn(1)", "Next page"),
        Binding("pageup,p", "turn(-1)", "Previous page"),
    ]

    def __init__(self, server_url: str) -> None:
        super().__init__()
        self._server_url = server_url
        self._page_number = 0
        self._page: LobbyPage | None = None

    def compose_body(self) -> ComposeResult:
        """Yield a heading, the list, a line for the number of rooms or an error, and the keys."""
        with Vertical(id="lobby"):
            yield TextLines(Text(f" Lobby of {self._server_url}", "bold"), id="lobby-head")
            yield OptionList(id="rooms", markup=False)
            yield TextLines(id="lobby-notice")
        yield TextLines(key_line((("Enter", "join or watch"), ("n p", "page"), ("Esc", "back"))), id="key-line")

    def on_mount(self) -> None:
        """Fetch the page now and every `REFRESH_SECONDS`."""
        self.query_one(OptionList).focus()
        self.refresh_lobby()
        self.set_interval(REFRESH_SECONDS, self.refresh_lobby)

    def refresh_lobby(self) -> None:
        """Fetch the page in the background; a fetch under way is given up."""
        self.run_in_background(self._fetch, exclusive=True, group="lobby")

    async def _fetch(self) -> None:
        try:
            page = await asyncio.to_thread(fetch_lobby, self._server_url, self._page_number)
        except PageUnreadable as reason:
            self._show_notice(clean(str(reason)), "bold #ff8a70")
            return
        if page.total and not page.rooms and self._page_number:
            # Rooms have gone, and with them this page: the next fetch starts at the first one.
            self._page_number = 0
        if page != self._page:
            self._show_page(page)
        pages = f" Page {page.page + 1} of {page.pages}." if page.pages > 1 else ""
        rooms = f"{page.total} {'room' if page.total == 1 else 'rooms'}.{pages}"
        empty = "There are no rooms here. To open one, press c on the first screen and set In the lobby to yes."
        self._show_notice(rooms if page.total else empty)

    def _show_notice(self, sentence: str, style: str = QUIET) -> None:
        """Show `sentence` below the list, on as many lines as it needs."""
        notice = self.query_one("#lobby-notice", TextLines)
        lines = [Text(f" {line}", style) for line in wrap(sentence, max(20, self.size.width - 4))]
        notice.styles.height = len(lines)
        notice.update(lines)

    def _show_page(self, page: LobbyPage) -> None:
        """List the rooms of `page` and keep the highlighted room, if it is still there."""
        rooms = self.query_one(OptionList)
        highlighted = None if rooms.highlighted is None else rooms.get_option_at_index(rooms.highlighted).id
        self._page = page
        rooms.clear_options()
        rooms.add_options([Option(_line(listed), id=listed.room) for listed in page.rooms])
        codes = [listed.room for listed in page.rooms]
        if codes:
            rooms.highlighted = codes.index(highlighted) if highlighted in codes else 0

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Join or watch the selected room, or say why neither is possible."""
        rooms = self._page.rooms if self._page else ()
        listed = next((each for each in rooms if each.room == event.option.id), None)
        if listed is None:
            return
        if listed.phase is Phase.WAITING:
            self.program.rooms.join(listed.room)
        elif listed.spectators is not Spectators.CLOSED:
            self.program.rooms.watch(listed.room)
        else:
            self._show_notice("This room admits no spectators.")

    def action_turn(self, pages: int) -> None:
        """Turn `pages` pages on, or back if negative, within the pages that there are."""
        last = self._page.pages - 1 if self._page else 0
        self._page_number = max(0, min(self._page_number + pages, last))
        self.refresh_lobby()

    def action_close(self) -> None:
        """Return to the screen below."""
        self.dismiss()


def _line(listed: ListedRoom) -> Text:
    action = "join " if listed.phase is Phase.WAITING else "watch"
    if listed.phase is not Phase.WAITING and listed.spectators is Spectators.CLOSED:
        action = "     "
    return Text.assemble(
        (f" {action}  ", f"bold {GOLD}"),
        (f"{describe_players(listed):<24}", "bold"),
        f" {describe_listed_rules(listed)}  ",
        (listed.room, QUIET),
        no_wrap=True,
    )
