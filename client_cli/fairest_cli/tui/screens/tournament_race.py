"""Our race in a tournament on the full screen."""

from textwrap import wrap
from typing import ClassVar, Final

from rich.text import Text

from fairest_cli.model.cheated import Cheated
from fairest_cli.model.tournament_game import TournamentGame, refusal_of
from fairest_cli.session.own_clock import now_ms
from fairest_cli.session.tournament_connection import TournamentConnection
from fairest_cli.session.websocket import Rejected
from fairest_cli.text.board_text import format_time
from fairest_cli.text.tournament import describe_score
from fairest_cli.tui.board.card_input import InputResult
from fairest_cli.tui.board.card_style import GOLD, QUIET, longest_fit
from fairest_cli.tui.screens.help import OwnKeys
from fairest_cli.tui.screens.judged_table import JudgedRace, JudgedTable
from fairest_cli.tui.screens.practice_menu import TournamentRaceMenu
from fairest_cli.untrusted_text import clean
from fairest_protocol.calculation.moves import STOP, Move
from fairest_protocol.calculation.rules import find_variant

ABOUT: Final = (
    "All players of the round have this deck, and race it now. Of another race, nobody is shown more than the number "
    "of cards placed in it."
)


class TournamentRaceScreen(JudgedTable):
    """Races the deal of a round. `connection` is that of the screen below, which follows the tournament."""

    OWN_KEYS: ClassVar[OwnKeys] = OwnKeys(
        "Keys in a tournament", (("Esc", "the menu: stop, the standings; the time goes on meanwhile"),)
    )

    def __init__(self, connection: TournamentConnection) -> None:
        assert connection.known is not None, "the tournament is shown"
        self._connection = connection
        self._code = connection.known.shown.code
        self.game: TournamentGame | None = None
        """Our race, None before the server has shown it."""
        race = JudgedRace(
            game=lambda: self.game,
            is_over=self._is_over,
            refusal=self._refusal,
            head=self._head,
            side=self._side,
            wordings=self._wordings,
        )
        super().__init__(find_variant(connection.known.shown.rules).rules, race, self._open_race_menu)

    def on_mount(self) -> None:
        """Begin the race, or come back to it."""
        self.set_interval(1.0, self._tick)
        self.run_in_background(self._follow, exclusive=True, group="race")
        self.draw()

    async def _follow(self) -> None:
        try:
            self.game = await self._connection.race()
            self.show_notice("Your race is over." if self.game.result else "Go!")
            self.draw()
            await self.play_moves(self._connection.play, self._on_played)
        except (Rejected, Cheated) as reason:
            self.show_notice(clean(str(reason)), is_error=True)

    def _tick(self) -> None:
        self.draw_head()
        self._boards.draw_side(self._side(*self._boards.side_size))

    def _on_played(self) -> None:
        self.game = self._connection.game

    def _is_over(self) -> bool:
        return self.game is not None and self.game.result is not None

    def _refusal(self, move: Move) -> str:
        assert self.game is not None, "moves are made in a race"
        return refusal_of(self.game, move)

    def _wordings(self) -> tuple[str, ...]:
        result = None if self.game is None else self.game.result
        if result is None:
            return ()
        score = describe_score(result)
        return f"Your race is over: {score}. Esc: the standings.", f"Over: {score}.", f"Over: {result.placed} cards."

    def _head(self) -> Text:
        game = self.game
        if game is None:
            return Text(f" Tournament {self._code}", "bold", no_wrap=True)
        left = f"  {format_time(game.seconds_left(now_ms()))} left" if game.result is None else "  over"
        count = f"{game.board.placed} of {game.board.goal}"
        titles = (f" Round {game.number} of {game.code} ", f" Round {game.number} ")
        title = longest_fit(titles, self.size.width - len(count) - len(left))
        return Text.assemble((title, "bold"), (count, GOLD), (left, QUIET), no_wrap=True)

    def _side(self, columns: int, lines: int) -> list[Text]:
        """Return the cards that all players have placed, our opponent first, in at most `lines` lines."""
        known = self._connection.known
        pair = None if known is None else known.pair
        rows = [Text(" Cards placed", f"bold {GOLD}")] if self._connection.counts else []
        counts = sorted(
            self._connection.counts,
            key=lambda each: (pair is None or each.name not in pair.names, -each.placed, each.name),
        )
        for each in counts:
            is_pair = pair is not None and each.name in pair.names
            ended = " ended" if each.ended else ""
            name = f"{clean(each.name)[: max(4, columns - 12)]}"
            rows.append(Text(f" {each.placed:>3}  {name}{ended}", "bold" if is_pair else QUIET))
        rows += [Text(), *(Text(f" {line}", QUIET) for line in wrap(ABOUT, max(10, columns - 2)))]
        return rows[:lines]

    def _open_race_menu(self) -> None:
        self.app.push_screen(TournamentRaceMenu(is_over=self._is_over()), self._on_menu_choice)

    def _on_menu_choice(self, choice: str | None) -> None:
        match choice:
            case "stop" if self.game is not None and self.game.result is None:
                self.apply(InputResult(None, STOP))
            case "standings":
                self.dismiss()
            case "quit":
                self.program.quit_now()
            case _:
                pass
