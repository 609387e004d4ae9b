"""Practice on the full screen: the table of a race for one player, who takes moves back and asks for hints."""

from functools import partial
from typing import ClassVar, Final

from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType

from fairest_cli.bots.hints import think_of_hint
from fairest_cli.bots.thinking import ThinkingFailed
from fairest_cli.model.practice import (
    Practice,
    describe_help_taken,
    hint_seed,
    play,
    redo,
    start_again,
    start_practice,
    toggle_stock,
    undo,
    with_hint,
)
from fairest_cli.model.seeds import new_seed
from fairest_cli.text.move_text import describe_advice
from fairest_cli.text.practice import NOTHING_TO_REDO, NOTHING_TO_UNDO
from fairest_cli.tui.board import card_input
from fairest_cli.tui.board.card_input import InputResult
from fairest_cli.tui.board.card_style import GOLD, QUIET
from fairest_cli.tui.board.optimistic_board import OptimisticBoard
from fairest_cli.tui.board.practice_side import practice_side
from fairest_cli.tui.board.race_keys import race_key_line
from fairest_cli.tui.screens.help import OwnKeys
from fairest_cli.tui.screens.practice_form import PracticeForm
from fairest_cli.tui.screens.practice_menu import PracticeMenu
from fairest_cli.tui.screens.table import TableScreen
from fairest_cli.tui.widgets.race_boards import NO_SLOTS, RaceBoards
from fairest_cli.tui.widgets.text_lines import TextLines
from fairest_cli.tui.widgets.typed_keys import typed_character
from fairest_cli.untrusted_text import clean
from fairest_protocol.calculation.moves import STOP, Move
from fairest_protocol.value import replace

OVER_NOTICE: Final = "This game is over: u takes a move back, z starts it again, n deals anew."


class PracticeScreen(TableScreen):
    """Shows a `Practice` and changes it by keys and clicks. Each change makes a new value, so nothing is ever lost."""

    OWN_KEYS: ClassVar[OwnKeys] = OwnKeys(
        "Keys in practice",
        (
            ("u", "take the last move back, as often as you like"),
            ("y", "make the move again that was taken back"),
            ("t", "a hint: the move of the strongest rival; hints are counted"),
            ("o", "show the cards still to come, or hide them"),
            ("z", "the same deal from its start"),
            ("n", "another deal of the same variant"),
            ("Esc", "the menu: another variant or seed, stop, home"),
        ),
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("u,backspace", "change('undo')", "Undo"),
        Binding("y", "change('redo')", "Redo"),
        Binding("t", "change('hint')", "Hint"),
        Binding("o", "change('stock')", "Open stock"),
        Binding("z", "change('again')", "The same deal"),
        Binding("n", "change('new')", "New deal"),
    ]

    def __init__(self, game: Practice) -> None:
        self.game = game
        super().__init__(_boards_of(game), lambda: self.game.board, self._apply, self._open_practice_menu)

    def on_mount(self) -> None:
        """Draw, and name the keys that only practice has."""
        self.draw()
        self.show_notice("Alone with the deck: u takes back, t hints.")

    # Drawing.

    def draw(self) -> None:
        """Redraw everything from the game."""
        if self.is_too_small or not self.is_mounted:
            return
        game, board = self.game, self.game.board
        self.query_one("#head", TextLines).update(_head(game))
        settings = replace(self.settings, hints=False) if game.race.is_over else self.settings
        lit = NO_SLOTS if game.hint is None else _slots_of(game.hint)
        self._boards.draw_own(OptimisticBoard(board), game.race.deal.markers, self._picked, settings, lit)
        self._boards.draw_side(practice_side(game, *self._boards.side_size, self.card_style))
        self.set_class(game.race.is_over, "-over")
        self.query_one("#advice", TextLines).update(Text(f" {_describe_end(game)}", "bold", no_wrap=True))
        self.query_one("#key-line", TextLines).update(race_key_line(self.settings.keys, board, self.size.width))

    # Moving.

    def on_key(self, event: events.Key) -> None:
        """Make the move that the key stands for, or pick up a card; leave all other keys to the bindings."""
        key = typed_character(event)
        if key is None or self.is_too_small:
            return
        result = card_input.press_key(self.settings.keys, key, self._picked, self.game.board)
        if result is not None:
            event.stop()
            self._apply(result)

    def _apply(self, result: InputResult) -> None:
        """Make the move that a key or a click stands for, or show its sentence."""
        if self.game.race.is_over:
            self.show_notice(OVER_NOTICE, is_error=True)
            return
        self._picked = result.picked
        if result.move is not None:
            before = self.game.board
            self.game = play(self.game, result.move)
            self.show_notice(self.show_play(result.move, before, self.game.board))
        elif result.sentence:
            self.show_notice(result.sentence, is_error=result.picked is None)
        self.draw()

    # The words of practice.

    def action_change(self, word: str) -> None:
        """Change the game by one of the words of `fairest practice`: undo, redo, hint, stock, again or new."""
        if self.is_too_small:
            return
        self._picked = None
        if word == "hint" and self.game.race.is_over:
            self.show_notice(OVER_NOTICE, is_error=True)
            return
        if word == "hint":
            self.show_notice("The strongest rival thinks ...")
            self.run_in_background(partial(self._hint, self.game), exclusive=True, group="hint")
            return
        game, sentence = _changed(self.game, word)
        self.show_notice(sentence, is_error=game is self.game)
        self.game = game
        self.draw()

    async def _hint(self, game: Practice) -> None:
        """Show a hint for `game`, found in another process; a move made meanwhile makes it void and not counted."""
        try:
            move = game.hint or await think_of_hint(game.board, game.rules, hint_seed(game))
        except ThinkingFailed as reason:
            self.show_notice(f"There is no hint: {reason}", is_error=True)
            return
        if self.game is game:
            self.game = game if game.hint else with_hint(game, move)
            self.show_notice(f"Hint: {describe_advice(game.board, move).partition(' (')[0]}.")
            self.draw()

    async def show_game(self, game: Practice | None) -> None:
        """Play `game` from now on, which may have another number of piles; go on as before with None."""
        if game is None:
            return
        self.game, self._picked = game, None
        await self._boards.remove()
        self._boards = _boards_of(game)
        await self.mount(self._boards, before="#advice")
        self.show_notice(f"{game.rules.name}, seed {clean(game.seed)}.")

    def _open_practice_menu(self) -> None:
        """Open the menu with the other deals."""
        self.app.push_screen(PracticeMenu(is_over=self.game.race.is_over), self._on_menu_choice)

    def _on_menu_choice(self, choice: str | None) -> None:
        match choice:
            case "stop" if not self.game.race.is_over:
                self.game = play(self.game, STOP)
                self.draw()
            case "other":
                self.app.push_screen(PracticeForm(self.game.rules), self.show_game)
            case "again" | "new":
                self.action_change(choice)
            case "home":
                self.dismiss()
            case "quit":
                self.program.quit_now()
            case _:
                pass


def _boards_of(game: Practice) -> RaceBoards:
    """Return a table for a game, whose side region has the keys."""
    return RaceBoards(len(game.board.layout), len(game.board.piles), has_rival=False)


def _changed(game: Practice, word: str) -> tuple[Practice, str]:
    """Return the game after one of the words of practice, and a sentence; the game itself if it cannot be changed."""
    match word:
        case "undo":
            changed = undo(game)
            return changed, NOTHING_TO_UNDO if changed is game else "Taken back."
        case "redo":
            changed = redo(game)
            return changed, NOTHING_TO_REDO if changed is game else "Made again."
        case "stock":
            return toggle_stock(game), f"The stock is {'closed' if game.shows_stock else 'open'}."
        case "again":
            return start_again(game), "The same deal from its start."
        case _:
            fresh = start_practice(game.rules, new_seed(), shows_stock=game.shows_stock)
            return fresh, f"A new deal: seed {fresh.seed}."


def _head(game: Practice) -> Text:
    """Return the variant, the count, and the help that was taken."""
    board, taken = game.board, describe_help_taken(game)
    return Text.assemble(
        (f" {game.rules.name} ", "bold"),
        (f"{board.placed} of {board.goal}", GOLD),
        (f"  {taken}" if taken else "", QUIET),
        no_wrap=True,
    )


def _slots_of(move: Move) -> frozenset[str]:
    """Return the ids of the slots between which a move goes."""
    source = f"pile-{move.source}" if move.source >= 0 else "stock"
    target = [f"{'foundation' if move.places else 'pile'}-{move.target}"] if move.target >= 0 else []
    return frozenset([source, *target])


def _describe_end(game: Practice) -> str:
    """Return how a game has ended, with the help that was taken; nothing for a game under way."""
    if not game.race.is_over:
        return ""
    board, taken = game.board, describe_help_taken(game)
    how = "Every card is placed" if board.is_won else "No card fits any more" if board.is_stuck else "Stopped"
    return f"{how}: {board.placed} of {board.goal} cards, {f'with {taken}' if taken else 'without help'}."
