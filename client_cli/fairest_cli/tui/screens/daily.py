"""The daily deal on the full screen: the table of a race for one player, whose moves the server judges."""

import asyncio
from functools import partial
from textwrap import wrap
from typing import ClassVar, Final

from rich.text import Text

from fairest_cli.model.cheated import Cheated
from fairest_cli.model.daily_game import DailyGame, refusal_of
from fairest_cli.model.drand_beacon import describe_drand_briefly
from fairest_cli.records.daily_notes import daily_folder, day_under_way, keep_note
from fairest_cli.session.daily_chain import look_up_daily
from fairest_cli.session.daily_connection import DailyConnection
from fairest_cli.session.identity import IdentityInUse, open_identity
from fairest_cli.session.own_clock import now_ms
from fairest_cli.session.websocket import Rejected
from fairest_cli.text.board_text import format_time
from fairest_cli.text.daily import describe_result
from fairest_cli.text.daily_opening import describe_yesterday
from fairest_cli.text.narration import describe_broken_seal
from fairest_cli.tui.board.card_input import InputResult
from fairest_cli.tui.board.card_style import GOLD, QUIET, longest_fit
from fairest_cli.tui.screens.base import FairestScreen
from fairest_cli.tui.screens.help import OwnKeys
from fairest_cli.tui.screens.judged_table import JudgedRace, JudgedTable
from fairest_cli.tui.screens.practice_menu import DailyMenu
from fairest_cli.tui.screens.text_page import TextPage, made_in_thread
from fairest_cli.untrusted_text import clean
from fairest_protocol.calculation.moves import STOP, Move
from fairest_protocol.calculation.rules import Rules
from fairest_protocol.messages.daily import AttemptResult

TITLE: Final = " Daily deal"
ABOUT: Final = (
    "Everybody has this deck today, and races it once. Its cards are hidden from all who have not turned them.",
    "Ranked by: every card placed, cards, cards played straight from the stock, time.",
    "Opened when the day is over: the table, each attempt, its replay and its analysis.",
)


class DailyScreen(JudgedTable):
    """Races the daily deal of a server."""

    OWN_KEYS: ClassVar[OwnKeys] = OwnKeys(
        "Keys in the daily deal", (("Esc", "the menu: stop, yesterday's table, leave; the time goes on meanwhile"),)
    )

    def __init__(self, rules: Rules, server: str, name: str | None) -> None:
        """`name` is that of our player, None for the first one of this machine that is free."""
        self._rules, self._server, self._player = rules, server, name
        self.game: DailyGame | None = None
        """Our attempt, None before the server has shown it."""
        race = JudgedRace(
            game=lambda: self.game,
            is_over=self._is_over,
            refusal=self._refusal,
            head=self._head,
            side=lambda columns, lines: _side_lines(self.game, columns, lines),
            wordings=self._wordings,
        )
        super().__init__(rules, race, self._open_daily_menu)

    def on_mount(self) -> None:
        """Begin the attempt, or come back to it."""
        self.set_interval(1.0, self.draw_head)
        self.show_notice("The server is asked ...")
        self.run_in_background(self._follow, exclusive=True, group="daily")
        self.draw()

    async def _follow(self) -> None:
        """Play the moves that are made, for as long as the screen is open."""
        try:
            with open_identity(self._server, self._player) as identity:
                day = day_under_way(self._server, self._player, self._rules.name, now_ms())
                connection = DailyConnection(self._server, identity, self._rules, self._player, day)
                try:
                    await self._begin(connection)
                    await self.play_moves(connection.play, lambda: self._on_played(connection))
                finally:
                    await connection.close()
        except (Rejected, IdentityInUse) as reason:
            self.show_notice(clean(str(reason)), is_error=True)
        except Cheated as reason:
            self.app.push_screen(cheated_page(reason))

    async def _begin(self, connection: DailyConnection) -> None:
        self.game = await connection.begin()
        if connection.problem:
            self.app.notify(clean(connection.problem), severity="warning", markup=False)
        begun = "Your attempt is over." if self.game.result else "Go! Your time goes on, whatever happens."
        self.show_notice(begun)
        _keep_note(self, self._server, connection.name, self.game)
        self.run_in_background(partial(self._look_up, self.game), exclusive=True, group="daily-chain")
        self.draw()

    async def _look_up(self, game: DailyGame) -> None:
        """Look the deal up in the server's chain of rounds; a contradiction is an alarm, whatever has been played."""
        try:
            proof = await asyncio.to_thread(look_up_daily, self._server, game.rules, game.day, game.seal)
        except Cheated as reason:
            self.app.push_screen(cheated_page(reason))
        else:
            if self.game is game:
                number = game.seal.beacon_number
                self.show_notice(proof if game.seal.drand is None else f"{describe_drand_briefly(number)} {proof}")

    def _on_played(self, connection: DailyConnection) -> None:
        self.game = connection.game
        result = self.game.result if self.game is not None else None
        if self.game is not None and result is not None:
            self.show_notice(f"Rank {result.rank} of {result.ended} so far.")
            _keep_note(self, self._server, connection.name, self.game)

    def _is_over(self) -> bool:
        return self.game is not None and self.game.result is not None

    def _refusal(self, move: Move) -> str:
        assert self.game is not None, "moves are made in an attempt"
        return refusal_of(self.game, move)

    def _wordings(self) -> tuple[str, ...]:
        result = None if self.game is None else self.game.result
        return () if result is None else _result_wordings(result)

    def _head(self) -> Text:
        game = self.game
        if game is None:
            return Text.assemble((f" Daily deal, {self._rules.name} ", "bold"), no_wrap=True)
        left = f"  {format_time(game.seconds_left(now_ms()))} left" if game.result is None else "  over"
        count = f"{game.board.placed} of {game.board.goal}"
        titles = (f" Daily deal {game.day}, {game.rules.name} ", f" Daily deal, {game.rules.name} ", " Daily deal ")
        title = longest_fit(titles, self.size.width - len(count) - len(left))
        return Text.assemble((title, "bold"), (count, GOLD), (left, QUIET), no_wrap=True)

    def _open_daily_menu(self) -> None:
        """Open the menu, while the time of the attempt goes on; leave at once where there is no attempt to lose."""
        if self.game is None:
            self.dismiss()
        else:
            self.app.push_screen(DailyMenu(is_over=self.game.result is not None), self._on_menu_choice)

    def _on_menu_choice(self, choice: str | None) -> None:
        match choice:
            case "stop" if self.game is not None and self.game.result is None:
                self.apply(InputResult(None, STOP))
            case "yesterday":
                self.app.push_screen(yesterday_page(self._server, self._rules))
            case "home":
                self.dismiss()
            case "quit":
                self.program.quit_now()
            case _:
                pass


def _result_wordings(result: AttemptResult) -> tuple[str, ...]:
    took = format_time(result.time_ms / 1000)
    return (
        next(describe_result(result)),
        f"{result.placed} of {result.goal} cards, {result.direct} straight from the stock, in {took}.",
        f"{result.placed} cards, {result.direct} straight, in {took}.",
    )


def _side_lines(game: DailyGame | None, columns: int, lines: int) -> list[Text]:
    """Return what the daily deal is, or the result of our attempt, in at most `lines` lines of `columns` columns."""
    result = None if game is None else game.result
    rows = [Text(TITLE, f"bold {GOLD}")]
    for paragraph in ABOUT if result is None else [" ".join(describe_result(result))]:
        rows += [Text(), *(Text(f" {line}", QUIET) for line in wrap(paragraph, max(10, columns - 2)))]
    return rows[:lines]


def _keep_note(screen: FairestScreen, server: str, name: str, game: DailyGame) -> None:
    """Keep a note of the attempt on this machine, and say so where that is impossible."""
    try:
        keep_note(server, name, game)
    except OSError as reason:
        screen.app.notify(f"Your attempt could not be noted: {reason.strerror or reason}", markup=False)


def yesterday_page(server: str, rules: Rules) -> TextPage:
    """Return the page with the table of yesterday's deal, as `fairest daily --yesterday` prints it."""
    return TextPage("fairest daily --yesterday", lambda: made_in_thread(lambda: describe_yesterday(server, rules)))


def cheated_page(reason: Cheated) -> TextPage:
    """Return the page that says which promise the server broke."""
    lines = list(describe_broken_seal(reason, daily_folder()))
    return TextPage("The daily deal", lambda: made_in_thread(lambda: lines))
