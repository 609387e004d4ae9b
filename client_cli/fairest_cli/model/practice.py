"""A practice game: one player alone with a deal, who takes moves back, asks for hints and looks into the stock. Pure.

Both faces show this value: the full screen (`tui/screens/practice.py`) and the lines of text (`text/practice.py`). The
help that the player took is counted, and stands beside the score.
"""

import random
import shlex
from collections.abc import Callable

from fairest_cli.model.seeds import read_seed
from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.cards import Card
from fairest_protocol.calculation.deal import make_deal
from fairest_protocol.calculation.moves import Move
from fairest_protocol.calculation.race import Race, Racer, start_race
from fairest_protocol.calculation.record import BadRecord, Record
from fairest_protocol.calculation.rules import Rules
from fairest_protocol.value import Value, replace

ChooseMove = Callable[[Board, Rules, int], Move]
"""Returns a legal move for a board that has one; the last argument is a seed."""


class Practice(Value):
    """A game: its seed as typed, every position so far with the present one last, and the help that was taken.

    `undone` holds the positions that were taken back, the next one to `redo` last. `hints` and `undos` count since the
    start of the game; `has_seen_stock` says whether the stock was open in it. `hint` is the move that was advised for
    the present position.
    """

    rules: Rules
    seed: str
    positions: tuple[Race, ...]
    undone: tuple[Race, ...] = ()
    shows_stock: bool = False
    hint: Move | None = None
    hints: int = 0
    undos: int = 0
    has_seen_stock: bool = False

    @property
    def race(self) -> Race:
        """The present position."""
        return self.positions[-1]

    @property
    def player(self) -> Racer:
        """The player in the only seat."""
        return self.race.racers[0]

    @property
    def board(self) -> Board:
        """The player's board."""
        return self.player.board

    @property
    def to_come(self) -> list[Card]:
        """The cards still face down in this pass, the next one first."""
        order = self.race.deal.orders[self.player.turn.pass_number]
        return [order[position] for position in self.player.ahead]


def start_practice(rules: Rules, seed: str, *, shows_stock: bool = False) -> Practice:
    """Return a new game with its first card turned. The seed is read as `fairest deal` reads it."""
    deal = make_deal(rules, read_seed(seed))
    race = start_race(rules, deal, seats=1)
    return Practice(rules, seed, (race,), shows_stock=shows_stock, has_seen_stock=shows_stock)


def start_from_record(record: Record, number: int | None = None) -> Practice:
    """Return a new game on the deal of a record's round; `number` counts from 0, None is the last one that was dealt.

    Raises `BadRecord` if no such round was dealt.
    """
    dealt = [place for place, played in enumerate(record.rounds) if played.is_dealt]
    chosen = (dealt[-1] if dealt else 0) if number is None else number
    if chosen not in dealt:
        rounds = ", ".join(str(place + 1) for place in dealt) or "none"
        raise BadRecord(f"the cards of round {chosen + 1} were never dealt; rounds with cards: {rounds}")
    return start_practice(record.rules, record.rounds[chosen].seed.hex())


def play(game: Practice, move: Move) -> Practice:
    """Return the game after a legal move in a game that is not over. Moves that were taken back are forgotten."""
    positions = (*game.positions, game.race.play(0, move))
    return replace(game, positions=positions, undone=(), hint=None)


def undo(game: Practice) -> Practice:
    """Return the game without its last move; the game itself at its start."""
    if len(game.positions) == 1:
        return game
    *before, last = game.positions
    return replace(game, positions=tuple(before), undone=(*game.undone, last), hint=None, undos=game.undos + 1)


def redo(game: Practice) -> Practice:
    """Return the game with the move that was taken back last; the game itself if there is none."""
    if not game.undone:
        return game
    *rest, following = game.undone
    return replace(game, positions=(*game.positions, following), undone=tuple(rest), hint=None)


def start_again(game: Practice) -> Practice:
    """Return the same deal from its start, with no help taken yet."""
    return Practice(
        game.rules,
        game.seed,
        game.positions[:1],
        shows_stock=game.shows_stock,
        has_seen_stock=game.shows_stock,
    )


def toggle_stock(game: Practice) -> Practice:
    """Return the game with its stock open, or closed if it was open."""
    shows_stock = not game.shows_stock
    return replace(game, shows_stock=shows_stock, has_seen_stock=game.has_seen_stock or shows_stock)


def give_hint(game: Practice, choose_move: ChooseMove) -> Practice:
    """Return the game with a hint for its present position; the game itself if it is over or has one already."""
    if not wants_hint(game):
        return game
    return with_hint(game, choose_move(game.board, game.rules, hint_seed(game)))


def wants_hint(game: Practice) -> bool:
    """Return whether the position can have a hint and has none yet: a hint for the same position is counted once."""
    return not game.race.is_over and game.hint is None


def with_hint(game: Practice, move: Move) -> Practice:
    """Return the game with this hint for its present position."""
    return replace(game, hint=move, hints=game.hints + 1)


def hint_seed(game: Practice) -> int:
    """Return the seed of the hint: the same position of the same deal has the same hint."""
    return random.Random(f"{game.seed}:{len(game.positions)}").getrandbits(32)


def command_for(game: Practice) -> str:
    """Return the command that plays the same deal again. The seed is quoted for a shell."""
    chosen = f"{game.rules.name} --piles {game.rules.piles} --redeals {game.rules.redeals}"
    return f"fairest practice {chosen} --seed {shlex.quote(game.seed)}"


def describe_help_taken(game: Practice) -> str:
    """Return the help that the player took in this game, ``2 hints, 1 undo, open stock``; empty for none."""
    parts = [
        f"{count} {noun}{'s' * (count > 1)}" for count, noun in ((game.hints, "hint"), (game.undos, "undo")) if count
    ]
    return ", ".join([*parts, *(["open stock"] if game.has_seen_stock else [])])
