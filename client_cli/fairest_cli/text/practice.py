"""Practice in lines of text: typed words change the game, and sentences say what they did. Pure."""

from collections.abc import Callable, Iterator
from typing import Final

from fairest_cli.model.practice import (
    ChooseMove,
    Practice,
    command_for,
    describe_help_taken,
    give_hint,
    play,
    redo,
    start_again,
    start_practice,
    toggle_stock,
    undo,
)
from fairest_cli.text.board_text import describe_board, describe_cards, describe_score, row_head
from fairest_cli.text.move_text import YOU, capitalized, describe_advice
from fairest_cli.untrusted_text import clean
from fairest_protocol.calculation.moves import MOVES, RESIGN, STOP, Move
from fairest_protocol.messages.refusals import SENTENCES, Refusal

HELP: Final = """\
A move names where a card comes from, then where it goes: s1 plays the turned
card to foundation 1, sa lays it on pile a, b4 plays the top of pile b to
foundation 4. With an empty stock, redeal deals the waste again, if it may be.
  undo    take the last move back, as often as you like
  redo    make the move again that was taken back
  hint    say which move the strongest rival would make; hints are counted
  stock   show the cards still to come, or hide them again
  board   show the board again
  stop    end the game here
  again   the same deal from its start
  new     another deal
  quit    leave"""

OVER: Final = "This game is over: undo, or again for the same deal, or new for another."
NOTHING_TO_UNDO: Final = "There is no move to take back."
NOTHING_TO_REDO: Final = "No move was taken back."


def answer(
    game: Practice, line: str, new_seed: Callable[[], str], choose_hint: ChooseMove
) -> tuple[Practice, Iterator[str]]:
    """Return the game after a typed line, and the lines to print.

    `new_seed` returns the seed of a `new` deal, `choose_hint` the move of a `hint`.
    """
    word = line.lower().replace(" ", "")
    if word in MOVES:
        return _play(game, MOVES[word])
    match word:
        case "undo" | "redo":
            changed = undo(game) if word == "undo" else redo(game)
            if changed is game:
                return game, iter([NOTHING_TO_UNDO if word == "undo" else NOTHING_TO_REDO])
            return _show(changed)
        case "hint":
            return _hint(give_hint(game, choose_hint))
        case "stock":
            return _show(toggle_stock(game))
        case "again":
            return _show(start_again(game))
        case "new":
            return _show(start_practice(game.rules, new_seed(), shows_stock=game.shows_stock))
        case "" | "board":
            return _show(game)
        case "help" | "?":
            return game, iter([HELP])
        case _:
            return game, iter([f"{clean(line)[:40]!r} is not a move or a word of this program; type help."])


def describe_practice(game: Practice) -> Iterator[str]:
    """Yield the board, the stock if it is shown, and the result of a game that is over."""
    board, taken = game.board, describe_help_taken(game)
    yield ""
    with_help = f"; {taken}" if taken else ""
    yield f"{game.rules.name}, seed {clean(game.seed)}: {board.placed} of {board.goal} cards{with_help}"
    yield from describe_board(board)
    if game.shows_stock:
        yield from describe_cards(row_head(" ", "still to come"), game.to_come)
    if game.race.is_over:
        yield "You placed every card." if board.is_won else "The game is over."
        yield from describe_score(YOU, game.race.outcome().scores[0])
        yield f"    with {taken}" if taken else "    without help"


def describe_deal_again(game: Practice) -> str:
    """Return the command that plays the same deal again."""
    return f"This deal again: {clean(command_for(game))}"


def refusal_of(game: Practice, move: Move) -> str:
    """Return why a move cannot be made now, or nothing if it can."""
    if game.race.is_over:
        return OVER
    illegal = game.race.refusal(0, move)
    return SENTENCES[Refusal(illegal)] if illegal else ""


def _play(game: Practice, move: Move) -> tuple[Practice, Iterator[str]]:
    # Nobody races here against whom one could resign.
    move = STOP if move is RESIGN else move
    refused = refusal_of(game, move)
    return (game, iter([refused])) if refused else _show(play(game, move))


def _hint(game: Practice) -> tuple[Practice, Iterator[str]]:
    if game.hint is None:
        return game, iter([OVER])
    advice = describe_advice(game.board, game.hint)
    return game, iter([f"{capitalized(advice)}.", f"{_counted(game.hints)} so far."])


def _counted(hints: int) -> str:
    return "1 hint" if hints == 1 else f"{hints} hints"


def _show(game: Practice) -> tuple[Practice, Iterator[str]]:
    return game, describe_practice(game)
