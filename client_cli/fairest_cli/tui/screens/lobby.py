"""The rooms of a server that everybody may join or watch, kept up to date while one looks."""

import asyncio
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from fairest_cli.text.lobby import LobbyUnavailable, describe_listed_rules, describe_players, fetch_lobby
from fairest_cli.tui.board.card_style import GOLD, QUIET, foot
from fairest_cli.tui.screens.base import FairestScreen
from fairest_cli.tui.widgets.text_lines import TextLines
from fairest_cli.untrusted_text import clean
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_server import ListedRoom, LobbyPage
from fairest_protocol.messages.options import Spectators

LOOK_SECONDS = 3.0


class LobbyScreen(FairestScreen):
    """A page of rooms; Enter joins one that waits and watches one that races."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "close", "Back"),
        Binding("pagedown,n", "turn(1)", "Next page"),
        Binding("pageup,p", "turn(-1)", "Previous page"),
    ]

    def __init__(self, server: str) -> None:
        super().__init__()
        self._server = server
        self._page = 0
        self._found: LobbyPage | None = None

    def parts(self) -> ComposeResult:
        """The list and a sentence."""
        with Vertical(id="lobby"):
            yield TextLines(Text(f" Lobby of {self._server}", "bold"), id="lobby-head")
            yield OptionList(id="rooms", markup=False)
            yield TextLines(id="lobby-sentence")
        yield TextLines(foot((("Enter", "join or watch"), ("n p", "page"), ("Esc", "back"))), id="foot")

    def on_mount(self) -> None:
        """Look now, and again and again."""
        self.query_one(OptionList).focus()
        self.look()
        self.set_interval(LOOK_SECONDS, self.look)

    def look(self) -> None:
        """Ask the server, without holding up the screen."""
        self.run_worker(self._look(), exclusive=True, group="lobby")

    async def _look(self) -> None:
        told = self.query_one("#lobby-sentence", TextLines)
        try:
            found = await asyncio.to_thread(fetch_lobby, self._server, self._page)
        except LobbyUnavailable as reason:
            told.show(Text(f" {clean(str(reason))}", "bold #ff8a70"))
            return
        if found.total and not found.rooms and self._page:
            self._page = 0
        if found != self._found:
            self._show(found)
        pages = f" Page {found.page + 1} of {found.pages}." if found.pages > 1 else ""
        empty = " Nobody waits here. Create a room that stands in the lobby: c on the first screen."
        told.show(Text(f" {found.total} rooms.{pages}" if found.total else empty, QUIET))

    def _show(self, found: LobbyPage) -> None:
        """Newer rooms, with the mark where it was."""
        rooms = self.query_one(OptionList)
        marked = None if rooms.highlighted is None else rooms.get_option_at_index(rooms.highlighted).id
        self._found = found
        rooms.clear_options()
        rooms.add_options([Option(_line(listed), id=listed.room) for listed in found.rooms])
        codes = [listed.room for listed in found.rooms]
        if codes:
            rooms.highlighted = codes.index(marked) if marked in codes else 0

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Join, or watch."""
        listed = (
            next((each for each in self._found.rooms if each.room == event.option.id), None) if self._found else None
        )
        if listed is None:
            return
        if listed.phase is Phase.WAITING:
            self.face.join_room(listed.room)
        elif listed.spectators is not Spectators.CLOSED:
            self.face.watch_room(listed.room)
        else:
            self.query_one("#lobby-sentence", TextLines).show(Text(" Its players do not want to be watched.", QUIET))

    def action_turn(self, pages: int) -> None:
        """Another page."""
        most = self._found.pages - 1 if self._found else 0
        self._page = max(0, min(self._page + pages, most))
        self.look()

    def action_close(self) -> None:
        """Back."""
        self.dismiss()


def _line(listed: ListedRoom) -> Text:
    does = "join " if listed.phase is Phase.WAITING else "watch"
    if listed.phase is not Phase.WAITING and listed.spectators is Spectators.CLOSED:
        does = "     "
    return Text.assemble(
        (f" {does}  ", f"bold {GOLD}"),
        (f"{describe_players(listed):<24}", "bold"),
        f" {describe_listed_rules(listed)}  ",
        (listed.room, QUIET),
        no_wrap=True,
    )
