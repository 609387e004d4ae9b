"""One seat's board, from docs/rules.md and docs/protocol.md: which moves are legal, and what they change."""

import random
from dataclasses import dataclass
from typing import Any

from benchmarks.histories.sealing import Column, rank

Turn = tuple[int, int]
BEHIND_THE_LAST_CARD = 1_000_000
"""The position of the turn at which the stock is empty. It is compared only, so its number does not matter."""
ENDS = "stop", "resign"


class IllegalMoveError(Exception):
    """A move that the rules do not allow on this board."""


@dataclass
class Board:
    """Foundations and piles, bottom card first, and the turned card; `stock` counts the cards face down."""

    layout: list[Column]
    foundations: list[list[str]]
    piles: list[list[str]]
    stock: int
    redeals: int
    """The number of redeals that the rules allow."""
    turned: str | None = None
    pass_number: int = 0
    position: int = -1
    turns: int = 0
    direct: int = 0
    moves: int = 0

    @property
    def turn(self) -> Turn:
        """How far this seat has seen."""
        if self.turned is None and self.stock == 0:
            return self.pass_number, BEHIND_THE_LAST_CARD
        return self.pass_number, self.position

    @property
    def placed(self) -> int:
        return sum(map(len, self.foundations))

    @property
    def is_complete(self) -> bool:
        return self.placed == sum(column.length for column in self.layout)

    def turn_card(self, pass_number: int, position: int, card: str) -> None:
        """Turn a card of the stock. Raises IllegalMoveError."""
        if self.turned is not None:
            raise IllegalMoveError(f"{card} is turned while {self.turned} is")
        if self.stock < 1:
            raise IllegalMoveError(f"{card} is turned from an empty stock")
        if pass_number != self.pass_number or position <= self.position:
            raise IllegalMoveError(f"turn {pass_number}, {position} follows {self.pass_number}, {self.position}")
        if self.redeals == 0 and position != self.position + 1:
            raise IllegalMoveError(f"position {position} follows {self.position}")
        self.turned, self.position, self.stock = card, position, self.stock - 1
        self.turns += 1

    def play(self, move: str) -> str | None:
        """Make a move; return the card that moved. Raises IllegalMoveError."""
        card = self._take(move)
        self.moves += 1
        return card

    def _take(self, move: str) -> str | None:
        if move in ENDS:
            return None
        if move == "redeal":
            if self.turned or self.stock or self.pass_number >= self.redeals or not any(self.piles):
                raise IllegalMoveError("no redeal is possible")
            self.stock = sum(map(len, self.piles))
            self.piles = [[] for _ in self.piles]
            self.pass_number, self.position = self.pass_number + 1, -1
            return None
        source, destination = move[0], move[1:]
        pile = None if source == "s" else self._pile(source)
        card = self.turned if pile is None else pile[-1] if pile else None
        if card is None:
            raise IllegalMoveError(f"there is no card for {move}")
        if destination.isdigit():
            place = int(destination) - 1
            if place >= len(self.layout) or self.layout[place].needs(len(self.foundations[place])) != rank(card):
                raise IllegalMoveError(f"{card} does not fit foundation {destination}")
            self.foundations[place].append(card)
            self.direct += pile is None
        elif pile is not None:
            raise IllegalMoveError("a card moves from pile to pile")
        else:
            self._pile(destination).append(card)
        if pile is None:
            self.turned = None
        else:
            pile.pop()
        return card

    def _pile(self, letter: str) -> list[str]:
        place = "abcdefgh".index(letter)
        if place >= len(self.piles):
            raise IllegalMoveError(f"there is no pile {letter}")
        return self.piles[place]

    def legal_moves(self) -> list[str]:
        """Return the legal moves except `stop` and `resign`, those to foundations first."""
        tops = [("s", self.turned)] + [
            (letter, pile[-1]) for letter, pile in zip("abcdefgh", self.piles, strict=False) if pile
        ]
        moves = [
            f"{source}{place}"
            for source, card in tops
            if card
            for place, column in enumerate(self.layout, 1)
            if column.needs(len(self.foundations[place - 1])) == rank(card)
        ]
        if self.turned:
            moves += [f"s{letter}" for letter in "abcdefgh"[: len(self.piles)]]
        elif not self.stock and self.pass_number < self.redeals and any(self.piles):
            moves.append("redeal")
        return moves


@dataclass
class Chooser:
    """A careless player: mostly a card to a foundation, sometimes the end, sometimes a move that must be refused."""

    chance: random.Random

    def choose(self, board: Board, *, may_end: bool = True) -> str | None:
        """Return a move that the rules allow, or None if there is none."""
        moves = board.legal_moves()
        if not moves:
            return None
        if may_end and self.chance.random() < 0.002:
            return self.chance.choice(ENDS)
        to_foundations = [move for move in moves if move[1:].isdigit()]
        return self.chance.choice(to_foundations if to_foundations and self.chance.random() < 0.8 else moves)

    def choose_illegal(self, board: Board) -> str:
        """Return a well-formed move that the rules refuse on this board."""
        allowed = board.legal_moves()
        return self.chance.choice([move for move in ("ab", "s8", "redeal", "h1", "sh") if move not in allowed])


def board_from_scene(scene: dict[str, Any], seat: int) -> Board | None:
    """Return the board of a seat as a snapshot shows it, None if nothing is dealt."""
    shown = scene["seats"][seat]
    if shown["board"] is None:
        return None
    told = shown["board"]
    pass_number, position = shown["turn"] or (0, -1)
    board = Board(
        [Column(**column) for column in told["layout"]],
        [list(cards) for cards in told["foundations"]],
        [list(cards) for cards in told["piles"]],
        told["stock"],
        scene["options"]["redeals"],
        told["turned"],
        pass_number,
        position,
        direct=told["direct"],
        moves=shown["moves"],
    )
    done = board.redeals - told["redeals"]
    if done > pass_number:
        # The redeal has been shown, and the first card behind it has not.
        board.pass_number, board.position = done, -1
    return board
