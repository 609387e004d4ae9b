"""A tournament on the full screen: its standings, the pairs of the round, and one key into our race."""

import asyncio
from functools import partial
from textwrap import wrap
from typing import ClassVar, Final

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll

from fairest_cli.model.cheated import Cheated
from fairest_cli.model.known_tournament import KnownTournament
from fairest_cli.records.receipts import receipts_folder
from fairest_cli.session.identity import IdentityInUse, open_identity
from fairest_cli.session.request_connection import RequestRefused
from fairest_cli.session.server_pages import PageUnreadable
from fairest_cli.session.tournament_connection import Entering, TournamentConnection
from fairest_cli.session.websocket import Rejected
from fairest_cli.text.tournament import describe_due, describe_head, describe_round, describe_standings
from fairest_cli.text.tournament_opening import open_races
from fairest_cli.tui.board.card_style import GOLD, QUIET, key_line, longest_fit
from fairest_cli.tui.board.timeline import timeline_of
from fairest_cli.tui.screens.base import FairestScreen
from fairest_cli.tui.screens.help import OwnKeys
from fairest_cli.tui.screens.practice_menu import TournamentMenu
from fairest_cli.tui.screens.replay import ReplayScreen
from fairest_cli.tui.screens.tournament_race import TournamentRaceScreen
from fairest_cli.tui.widgets.text_lines import Paragraph, TextLines
from fairest_cli.untrusted_text import clean
from fairest_protocol.messages.tournaments import TournamentPhase

LOOK_SECONDS: Final = 1.0
"""Time between two looks at the tournament."""
WIDE_COLUMNS: Final = 120
"""From this width on, the round stands beside the standings."""
STANDINGS_COLUMNS: Final = 66


class TournamentScreen(FairestScreen):
    """Follows a tournament. Our race opens by itself when it starts."""

    MIN_SIZE: ClassVar[tuple[int, int]] = (50, 16)
    OWN_KEYS: ClassVar[OwnKeys] = OwnKeys(
        "Keys in a tournament",
        (
            ("Enter", "get ready for the round, or go back to your race"),
            ("s", "start it, if you have created it"),
            ("v", "look at the races of your pair in the last round that is over: replay and analysis"),
        ),
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,r", "ready", "Ready", priority=True),
        Binding("s", "start", "Start"),
        Binding("v", "view_races", "Look at our last race"),
        Binding("escape", "menu", "Menu"),
    ]

    def __init__(self, entering: Entering, server: str, name: str | None) -> None:
        """`entering` is the first request; `name` is that of our player, None for the first one that is free."""
        super().__init__()
        self._entering, self._server, self._player = entering, server, name
        self._connection: TournamentConnection | None = None
        self._notice = "The server is asked ..."

    def compose_body(self) -> ComposeResult:
        """Yield the head, what is due, the standings with the round, the notice, and the keys."""
        yield TextLines(id="heading")
        yield Paragraph(id="due")
        with VerticalScroll(id="page"):
            yield Paragraph(id="page-text")
        yield TextLines(id="notice")
        yield TextLines(id="key-line")

    def on_mount(self) -> None:
        """Enter the tournament, and follow it."""
        self.query_one(VerticalScroll).focus()
        self.run_in_background(self._follow, exclusive=True, group="tournament")
        self.draw()

    @property
    def known(self) -> KnownTournament | None:
        """The tournament as we know it, None before the first answer."""
        return None if self._connection is None else self._connection.known

    async def _follow(self) -> None:
        """Ask for the tournament once a second, for as long as the screen is open."""
        try:
            with open_identity(self._server, self._player) as identity:
                connection = TournamentConnection(self._server, identity, self._player, receipts_folder())
                self._connection = connection
                try:
                    await connection.enter(self._entering)
                    self._notice = clean(connection.problem)
                    while True:
                        self.draw()
                        self._open_race_if_due(connection)
                        await asyncio.sleep(LOOK_SECONDS)
                        await connection.watch()
                finally:
                    await connection.close()
        except (Rejected, IdentityInUse) as reason:
            self._show(clean(str(reason)))
        except Cheated as reason:
            self._show(f"THE SEAL IS BROKEN. {clean(str(reason))}")

    def _open_race_if_due(self, connection: TournamentConnection) -> None:
        if connection.is_race_due and self.app.screen is self:
            self.app.push_screen(TournamentRaceScreen(connection), lambda _: self.draw())

    # Drawing.

    def draw(self) -> None:
        """Redraw everything from the tournament."""
        if self.is_too_small or not self.is_mounted:
            return
        self.query_one("#notice", TextLines).update(Text(f" {self._notice}", "bold #ff8a70", no_wrap=True))
        known, connection = self.known, self._connection
        if known is None or connection is None:
            self.query_one("#key-line", TextLines).update(key_line((("Esc", "back"), ("?", "keys"))))
            self.query_one("#heading", TextLines).update(Text(" Tournament", f"bold {GOLD}"))
            return
        # A player of it is one whichever key has opened it.
        plays = known.has_entered and not known.has_left
        of_players = (("Enter", "ready"), ("s", "start")) if plays else ()
        keys = (*of_players, ("v", "races"), ("Esc", "menu"), ("?", "keys"))
        self.query_one("#key-line", TextLines).update(key_line(keys))
        shown = known.shown
        seconds = 0.0 if shown.until_ms is None else connection.seconds_until(shown.until_ms)
        head = longest_fit(describe_head(shown), self.size.width - 2)
        self.query_one("#heading", TextLines).update(Text(f" {head}", f"bold {GOLD}", no_wrap=True))
        due = self.query_one("#due", Paragraph)
        sentence = describe_due(shown, known.pair, known.name, seconds, "press Enter", "Press s")
        # A code is typed as it stands, so it is not broken at its hyphens.
        rows = wrap(sentence, self.size.width - 2, break_on_hyphens=False)
        due.update([Text(f" {row}", "bold") for row in rows])
        due.refresh(layout=True)
        page = self.query_one("#page-text", Paragraph)
        page.update(_page_lines(known, connection, self.size.width))
        page.refresh(layout=True)

    def _show(self, notice: str) -> None:
        self._notice = notice
        self.draw()

    # Requests of the player.

    def action_ready(self) -> None:
        """Get ready for the round, or go back to your race."""
        connection, known = self._connection, self.known
        if connection is None or known is None:
            return
        if known.is_ready_wanted:
            self.run_in_background(partial(self._ask, "ready"), group="asking")
        elif connection.game is not None and known.shown.phase is TournamentPhase.RACING:
            self.app.push_screen(TournamentRaceScreen(connection), lambda _: self.draw())

    def action_start(self) -> None:
        """Start the tournament."""
        if self.known is not None:
            self.run_in_background(partial(self._ask, "start"), group="asking")

    def action_view_races(self) -> None:
        """Open the replay of the last round that is over."""
        if self.known is not None:
            self._show("The races are asked for ...")
            self.run_in_background(partial(self._view_races, self.known), exclusive=True, group="viewing")

    async def _view_races(self, known: KnownTournament) -> None:
        try:
            match = await asyncio.to_thread(open_races, self._server, known.shown.code, None, None, [known.name])
        except (PageUnreadable, Cheated) as reason:
            self._show(clean(str(reason)))
            return
        self._show("")
        self.app.push_screen(ReplayScreen(match, timeline_of(match)))

    def action_menu(self) -> None:
        """Open the menu; go back at once where no tournament is shown."""
        if self.known is None:
            self.dismiss()
        else:
            self.app.push_screen(TournamentMenu(is_over=False), self._on_menu_choice)

    def _on_menu_choice(self, choice: str | None) -> None:
        match choice:
            case "leave" if self.known is not None:
                self.run_in_background(partial(self._ask, "leave"), group="asking")
            case "home":
                self.dismiss()
            case "quit":
                self.program.quit_now()
            case _:
                pass

    async def _ask(self, request: str) -> None:
        """Ask for what a key stands for; show why it is refused."""
        connection = self._connection
        assert connection is not None, "it is asked once the tournament is shown"
        try:
            match request:
                case "ready":
                    await connection.get_ready()
                case "start":
                    await connection.start()
                case "leave":
                    await connection.leave()
            self._show("")
        except RequestRefused as refused:
            self._show(clean(str(refused)))
        except (Rejected, Cheated) as reason:
            self._show(clean(str(reason)))


def _page_lines(known: KnownTournament, connection: TournamentConnection, columns: int) -> list[Text]:
    """Return the standings and the newest rounds, side by side in a wide terminal."""
    standings = [Text(line, QUIET if number == 0 else "") for number, line in enumerate(_standings(known))]
    rounds: list[Text] = []
    for played in reversed(known.shown.played[-2:]):
        rounds += [Text(line) for line in describe_round(played, connection.counts)] + [Text()]
    if columns < WIDE_COLUMNS:
        return [*rounds, *standings]
    empty = Text()
    count = max(len(standings), len(rounds))
    padded = [*standings, *[empty] * (count - len(standings))]
    beside = [*rounds, *[empty] * (count - len(rounds))]
    lines = []
    for left, right in zip(padded, beside, strict=True):
        line = left.copy()
        line.truncate(STANDINGS_COLUMNS, pad=True)
        lines.append(line + right)
    return lines


def _standings(known: KnownTournament) -> list[str]:
    return list(describe_standings(known.shown, known.name))
