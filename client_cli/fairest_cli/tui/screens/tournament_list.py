"""The tournaments of a server: those that are open, under way or over, refreshed while the screen is open."""

import asyncio
from textwrap import wrap
from typing import ClassVar, Final

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from fairest_cli.session.server_pages import PageUnreadable
from fairest_cli.session.tournament_connection import Entering
from fairest_cli.session.tournament_pages import fetch_tournaments
from fairest_cli.text.tournament import FORMATS, describe_phase
from fairest_cli.tui.board.card_style import GOLD, QUIET, key_line
from fairest_cli.tui.screens.base import FairestScreen
from fairest_cli.tui.screens.help import OwnKeys
from fairest_cli.tui.screens.room_code_prompt import RoomCodePrompt, read_code
from fairest_cli.tui.screens.tournament import TournamentScreen
from fairest_cli.tui.screens.tournament_form import TournamentForm
from fairest_cli.tui.widgets.text_lines import TextLines
from fairest_cli.untrusted_text import clean
from fairest_protocol.messages.tournaments import (
    CreateTournament,
    JoinTournament,
    ListedTournament,
    TournamentList,
    TournamentPhase,
    WatchTournament,
)

REFRESH_SECONDS: Final = 3.0


class TournamentListScreen(FairestScreen):
    """Enter enters a tournament that is open, goes back to one that we play in, and watches any other one."""

    MIN_SIZE: ClassVar[tuple[int, int]] = (50, 16)
    OWN_KEYS: ClassVar[OwnKeys] = OwnKeys(
        "Keys in the list of tournaments",
        (
            ("Enter", "enter the tournament if it is open, go back to it if you play in it, else watch it"),
            ("w", "watch it, also while it is open"),
            ("j", "enter a tournament by its code, or come back to it"),
            ("c", "create a tournament"),
        ),
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "close", "Back"),
        Binding("w", "watch", "Watch"),
        Binding("j", "join", "By a code"),
        Binding("c", "create", "Create"),
    ]

    def __init__(self, server_url: str, player: str | None) -> None:
        """`player` is the name of our player, None for the first one that is free."""
        super().__init__()
        self._server_url, self._player = server_url, player
        self._typed_code = ""
        self._rows: tuple[ListedTournament, ...] = ()

    def compose_body(self) -> ComposeResult:
        """Yield a heading, the list, a line for the number of tournaments or an error, and the keys."""
        with Vertical(id="tournaments"):
            yield TextLines(Text(f" Tournaments of {self._server_url}", "bold"), id="tournaments-head")
            yield OptionList(id="tournament-rows", markup=False)
            yield TextLines(id="tournaments-notice")
        keys = (("Enter", "enter"), ("w", "watch"), ("j", "code"), ("c", "create"), ("Esc", "back"))
        yield TextLines(key_line(keys), id="key-line")

    def on_mount(self) -> None:
        """Fetch the list now and every `REFRESH_SECONDS`."""
        self.query_one(OptionList).focus()
        self.refresh_list()
        self.set_interval(REFRESH_SECONDS, self.refresh_list)

    def refresh_list(self) -> None:
        """Fetch the list in the background; a fetch under way is given up."""
        self.run_in_background(self._fetch, exclusive=True, group="tournaments")

    async def _fetch(self) -> None:
        try:
            found = await asyncio.to_thread(fetch_tournaments, self._server_url)
        except PageUnreadable as reason:
            self._show_notice(clean(str(reason)), "bold #ff8a70")
            return
        self._show_list(found)
        count = len(found.tournaments)
        now = f"{count or 'No'} {'tournament is' if count < 2 else 'tournaments are'} open or under way."
        self._show_notice(f"{now} c creates one.")

    def _show_notice(self, sentence: str, style: str = QUIET) -> None:
        notice = self.query_one("#tournaments-notice", TextLines)
        lines = [Text(f" {line}", style) for line in wrap(sentence, max(20, self.size.width - 4))]
        notice.styles.height = len(lines)
        notice.update(lines)

    def _show_list(self, found: TournamentList) -> None:
        """List the tournaments and keep the highlighted one, if it is still there."""
        rows = (*found.tournaments, *found.ended)
        if rows == self._rows:
            return
        options, before = self.query_one(OptionList), self._highlighted
        self._rows = rows
        options.clear_options()
        options.add_options([Option(describe_row(row), id=row.code) for row in rows])
        codes = [row.code for row in rows]
        if codes:
            options.highlighted = codes.index(before.code) if before is not None and before.code in codes else 0

    @property
    def _highlighted(self) -> ListedTournament | None:
        place = self.query_one(OptionList).highlighted
        return None if place is None or place >= len(self._rows) else self._rows[place]

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Enter the tournament if it is open, else look at it: its players go on in it, others watch."""
        code = event.option.id or ""
        row = next((each for each in self._rows if each.code == code), None)
        is_open = row is not None and row.phase is TournamentPhase.OPEN
        self._open(JoinTournament(tournament=code) if is_open else WatchTournament(tournament=code))

    def action_watch(self) -> None:
        """Watch the highlighted tournament."""
        row = self._highlighted
        if row is not None:
            self._open(WatchTournament(tournament=row.code))

    def action_join(self) -> None:
        """Ask for the code of a tournament, and enter it."""

        def on_typed(code: str | None) -> None:
            if code:
                self._typed_code = code
                self._open(JoinTournament(tournament=read_code(code)))

        self.app.push_screen(RoomCodePrompt("join", self._typed_code, "tournament"), on_typed)

    def action_create(self) -> None:
        """Ask what tournament to create, and create it."""

        def on_chosen(request: CreateTournament | None) -> None:
            if request is not None:
                self._open(request)

        self.app.push_screen(TournamentForm(), on_chosen)

    def _open(self, entering: Entering) -> None:
        self.app.push_screen(TournamentScreen(entering, self._server_url, self._player))

    def action_close(self) -> None:
        """Return to the screen below."""
        self.dismiss()


def describe_row(row: ListedTournament) -> Text:
    """Return the two lines of a tournament in the list: a code of three long words fills most of one."""
    action = "enter" if row.phase is TournamentPhase.OPEN else "watch"
    where = f"round {row.round}" if row.round else f"{row.players} of {row.most_players}"
    winners = f", won by {' and '.join(map(clean, row.winners))}" if row.winners else ""
    return Text.assemble(
        (f" {action}  ", f"bold {GOLD}"),
        (f"{FORMATS[row.format]}, {clean(row.rules)}, {where}, {describe_phase(row.phase)}{winners}", "bold"),
        (f"\n        {row.code}, by {clean(row.creator)}", QUIET),
        no_wrap=True,
    )
