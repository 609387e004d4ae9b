"""Practice alone, offline: one seat, any rules; moves can be taken back and the stock looked into. Pure.

A practice game is a value. `answer` takes a typed line and returns the game after it, with the lines to show.
"""

from collections.abc import Callable, Iterator
from typing import Final

from fairest_cli.text.board_text import describe_board, describe_cards, describe_score, row_head
from fairest_cli.text.rule_cards import read_seed
from fairest_cli.untrusted_text import clean
from fairest_protocol.calculation.deal import make_deal
from fairest_protocol.calculation.moves import MOVES, Move
from fairest_protocol.calculation.round import Racer, Round, start_round
from fairest_protocol.calculation.rules import Rules
from fairest_protocol.messages.refusals import SENTENCES, Refusal
from fairest_protocol.value import Value, replace

HELP: Final = """\
A move is where from, then where to: s1 plays the turned card to foundation 1,
sa lays it onto pile a, b4 plays the top of pile b to foundation 4; redeal.
  stop    end the game here
  undo    take the last move back, as often as you like
  stock   show the cards still to come, or hide them again
  board   show the board again
  again   the same deal from its start
  new     another deal
  quit    leave"""

OVER: Final = "This game is over: undo, or again for the same deal, or new for another."


class Practice(Value):
    """A game under way: its seed as typed, and every position so far, the last one on the table."""

    rules: Rules
    seed: str
    positions: tuple[Round, ...]
    shows_stock: bool = False

    @property
    def race(self) -> Round:
        """The position on the table."""
        return self.positions[-1]

    @property
    def player(self) -> Racer:
        """The one seat."""
        return self.race.racers[0]


def start_practice(rules: Rules, seed: str, *, shows_stock: bool = False) -> Practice:
    """A deal with its first card turned. The seed is read as by `fairest deal`."""
    deal = make_deal(rules, read_seed(seed))
    return Practice(rules, seed, (start_round(rules, deal, seats=1),), shows_stock)


def answer(practice: Practice, line: str, draw_seed: Callable[[], str]) -> tuple[Practice, Iterator[str]]:
    """The game after a typed line, and what to show; `draw_seed` names the next deal for `new`."""
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
            return _show(start_practice(practice.rules, draw_seed(), shows_stock=practice.shows_stock))
        case "" | "board":
            return _show(practice)
        case "help" | "?":
            return practice, iter([HELP])
        case _:
            return practice, iter([f"{clean(line)[:40]!r} is no move and no word that is known here; type help."])


def describe_practice(practice: Practice) -> Iterator[str]:
    """The board, the stock if it is open, and the result once there is one."""
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
