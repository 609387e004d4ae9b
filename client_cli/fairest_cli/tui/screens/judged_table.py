"""The table of a race for one player, whose moves the server judges: the daily deal, and a race in a tournament."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from rich.text import Text
from textual import events

from fairest_cli.model.solo_game import SoloGame
from fairest_cli.tui.board import card_input
from fairest_cli.tui.board.card_input import InputResult
from fairest_cli.tui.board.card_style import key_line, longest_fit
from fairest_cli.tui.board.optimistic_board import OptimisticBoard
from fairest_cli.tui.board.race_keys import race_key_line
from fairest_cli.tui.screens.table import TableScreen
from fairest_cli.tui.widgets.race_boards import RaceBoards
from fairest_cli.tui.widgets.text_lines import TextLines
from fairest_cli.tui.widgets.typed_keys import typed_character
from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.moves import Move
from fairest_protocol.calculation.rules import Rules
from fairest_protocol.value import Value, replace

OVER_KEYS: Final = key_line((("Tab", "all ranks"), ("?", "help"), ("Esc", "menu")))
NO_RACE_KEYS: Final = key_line((("Esc", "back"), ("?", "help")))


class JudgedRace(Value, gc=True):
    """A race as its table shows it, by functions of the screen.

    `game` returns the race, None before the server has shown it, and `is_over` whether it has ended. `refusal` returns
    why a move cannot be made, or nothing. `head` is the line above the table, `side` returns the lines beside it for so
    many columns and lines, and `wordings` the line below it once the race is over, from the longest to the shortest.
    """

    game: Callable[[], SoloGame | None]
    is_over: Callable[[], bool]
    refusal: Callable[[Move], str]
    head: Callable[[], Text]
    side: Callable[[int, int], list[Text]]
    wordings: Callable[[], Sequence[str]]


class JudgedTable(TableScreen):
    """The table of a race. Keys that come while the server judges a move wait for its answer."""

    def __init__(self, rules: Rules, race: JudgedRace, open_menu: Callable[[], None]) -> None:
        boards = RaceBoards(rules.foundation_count, rules.piles, has_rival=False)
        super().__init__(boards, self._clickable_board, self.apply, open_menu)
        self._race = race
        self._typed: deque[str] = deque()
        self._moves: asyncio.Queue[Move] = asyncio.Queue()
        self._is_judging = False

    async def play_moves(self, play: Callable[[Move], Awaitable[SoloGame]], on_played: Callable[[], None]) -> None:
        """Let the server judge the moves that are made, for as long as the screen is open; `on_played` is called after
        each of them. Raises what `play` raises.
        """
        while True:
            move, before = await self._moves.get(), self._race.game()
            assert before is not None, "moves are made in a race"
            now = await play(move)
            self._is_judging = False
            if now.own.moves > before.own.moves:
                self.show_notice(self.show_play(move, before.board, now.board))
            if self._race.is_over():
                self._typed.clear()
            on_played()
            self.draw()
            while self._typed and not self._is_judging:
                self._press(self._typed.popleft())

    def draw(self) -> None:
        """Redraw everything from the race."""
        if self.is_too_small or not self.is_mounted:
            return
        self.draw_head()
        game, is_over = self._race.game(), self._race.is_over()
        self._boards.draw_side(self._race.side(*self._boards.side_size))
        if game is None:
            self.query_one("#key-line", TextLines).update(NO_RACE_KEYS)
            return
        settings = replace(self.settings, hints=False) if is_over else self.settings
        self._boards.draw_own(OptimisticBoard(game.board), game.scene.markers, self._picked, settings)
        self.set_class(is_over, "-over")
        sentence = longest_fit(self._race.wordings() or ("",), self.size.width - 1)
        self.query_one("#advice", TextLines).update(Text(f" {sentence}", "bold", no_wrap=True))
        keys = OVER_KEYS if is_over else race_key_line(self.settings.keys, game.board, self.size.width)
        self.query_one("#key-line", TextLines).update(keys)

    def draw_head(self) -> None:
        """Redraw the line above the table, whose time goes on."""
        if not self.is_too_small and self.is_mounted:
            self.query_one("#head", TextLines).update(self._race.head())

    def on_key(self, event: events.Key) -> None:
        """Take a key of the table; leave all other keys to the bindings."""
        key = typed_character(event)
        if key is None or self.is_too_small or self._race.game() is None:
            return
        if self._is_judging and event.key not in self.active_bindings:
            event.stop()
            self._typed.append(key)
        elif self._press(key):
            event.stop()

    def apply(self, result: InputResult) -> None:
        """Let the server judge the move that a key or a click stands for, if the rules allow it; or show a sentence."""
        assert self._race.game() is not None, "moves are made in a race"
        self._picked = result.picked
        refused = self._race.refusal(result.move) if result.move is not None else ""
        if refused:
            self.show_notice(refused, is_error=True)
        elif result.move is not None and not self._is_judging:
            self._is_judging = True
            self._moves.put_nowait(result.move)
        elif result.sentence:
            self.show_notice(result.sentence, is_error=result.picked is None)
        self.draw()

    def board_for_help(self) -> Board | None:
        """Return the board, whose sequences the page of keys shows."""
        game = self._race.game()
        return None if game is None else game.board

    def _clickable_board(self) -> Board | None:
        return None if self._is_judging else self.board_for_help()

    def _press(self, key: str) -> bool:
        """Make what the key stands for; return False for a key that is none of the table's."""
        game = self._race.game()
        assert game is not None, "keys are taken in a race"
        result = card_input.press_key(self.settings.keys, key, self._picked, game.board)
        if result is not None:
            self.apply(result)
        return result is not None
