"""Practice alone and offline, with any rules: moves can be taken back, and the stock can be shown. Pure.

A practice game is a value: `answer` takes a typed line and returns the game after it, with the lines to print.
"""

from collections.abc import Callable, Iterator
from typing import Final

from fairest_cli.text.board_text import describe_board, describe_cards, describe_score, row_head
from fairest_cli.text.seeds import read_seed
from fairest_cli.untrusted_text import clean
from fairest_protocol.calculation.deal import make_deal
from fairest_protocol.calculation.moves import MOVES, Move
from fairest_protocol.calculation.race import Race, Racer, start_race
from fairest_protocol.calculation.rules import Rules
from fairest_protocol.messages.refusals import SENTENCES, Refusal
from fairest_protocol.value import Value, replace

HELP: Final = """\
A move names where a card comes from, then where it goes: s1 plays the turned
card to foundation 1, sa puts it on pile a, b4 plays the top of pile b to
foundation 4. With an empty stock, redeal deals the waste again, if it may be.
  stop    end the game here
  undo    take the last move back, as often as you like
  stock   show the cards still to come, or hide them again
  board   show the board again
  again   the same deal from its start
  new     another deal
  quit    leave"""

OVER: Final = "This game is over: undo, or again for the same deal, or new for another."


class Practice(Value):
    """A game: its seed as typed, and every position so far, the present one last."""

    rules: Rules
    seed: str
    positions: tuple[Race, ...]
    shows_stock: bool = False

    @property
    def race(self) -> Race:
        """The present position."""
        return self.positions[-1]

    @property
    def player(self) -> Racer:
        """The player in the only seat."""
        return self.race.racers[0]


def start_practice(rules: Rules, seed: str, *, shows_stock: bool = False) -> Practice:
    """Return a new game with its first card turned. The seed is read as `fairest deal` reads it."""
    deal = make_deal(rules, read_seed(seed))
    return Practice(rules, seed, (start_race(rules, deal, seats=1),), shows_stock)


def answer(practice: Practice, line: str, new_seed: Callable[[], str]) -> tuple[Practice, Iterator[str]]:
    """Return the game after a typed line, and the lines to print. `new_seed` returns the seed of a `new` deal."""
    word = line.lower().replace(" ", "")
    if word in MOVES:
        return _play(practice, MOVES[word])
    match word:
        case "undo" if len(practice.positions) > 1:
            return _show(replace(practice, positions=practice.positions[:-1]))
        case "undo":
            return practice, iter(["There is no move to take back."])
        case "stock":
            return _show(replace(practice, shows_stock=not practice.shows_stock))
        case "again":
            return _show(replace(practice, positions=practice.positions[:1]))
        case "new":
            return _show(start_practice(practice.rules, new_seed(), shows_stock=practice.shows_stock))
        case "" | "board":
            return _show(practice)
        case "help" | "?":
            return practice, iter([HELP])
        case _:
            return practice, iter([f"{clean(line)[:40]!r} is not a move or a word of this program; type help."])


def describe_practice(practice: Practice) -> Iterator[str]:
    """Yield the board, the stock if it is shown, and the result of a game that is over."""
    board = practice.player.board
    yield ""
    yield f"{practice.rules.name}, seed {clean(practice.seed)}: {board.placed} of {board.goal} cards"
    yield from describe_board(board)
    if practice.shows_stock:
        turn = practice.player.turn
        order = practice.race.deal.orders[turn.pass_number]
        yield from describe_cards(
            row_head(" ", "still to come"), [order[position] for position in practice.player.ahead]
        )
    if practice.race.is_over:
        yield "You placed every card." if board.is_won else "The game is over."
        yield from describe_score("you", practice.race.outcome().scores[0])


def _play(practice: Practice, move: Move) -> tuple[Practice, Iterator[str]]:
    if practice.race.is_over:
        return practice, iter([OVER])
    illegal = practice.race.refusal(0, move)
    if illegal:
        return practice, iter([SENTENCES[Refusal(illegal)]])
    return _show(replace(practice, positions=(*practice.positions, practice.race.play(0, move))))


def _show(practice: Practice) -> tuple[Practice, Iterator[str]]:
    return practice, describe_practice(practice)
