"""Players of a load that play random legal games to their ends, against our server and against the hand-written race.

A random game of classic ends when nothing is legal any more, after some 58 moves.
"""

import json
import random
from typing import Any

from benchmarks.controls import deal_stock
from benchmarks.delivery import TimedRacer
from fairest_protocol.calculation.board import Board, lay_out
from fairest_protocol.calculation.cards import Card
from fairest_protocol.calculation.deal import make_deal
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.calculation.rules import choose_rules
from fairest_server.load.clients import VIEW, Sender, play
from fairest_server.load.websocket_client import frame

MOST_MOVES = 200
"""More than any game of classic without a redeal has."""


def start_board() -> Board:
    """Return a board of classic on which no card is turned yet. The suits of its foundations do not matter here."""
    rules = choose_rules("classic")
    return lay_out(rules, make_deal(rules, bytes(32)))


class RandomRacer(TimedRacer):
    """A player that follows its board, and makes a random one of the legal moves."""

    board: Board

    def make_frames(self) -> list[bytes]:
        """Return one frame for each move that there may be; `send_next` fills it in."""
        self.board = start_board()
        return [b""] * MOST_MOVES

    def on_text(self, payload: bytes) -> None:
        """Follow our board in views of the race."""
        if self.is_racing and payload.startswith(VIEW):
            self._take(json.loads(payload)["entries"])
        super().on_text(payload)

    def follow(self, entries: list[dict[str, Any]]) -> None:
        """Turn the first card of the race as well."""
        self._take(entries)
        super().follow(entries)

    def _take(self, entries: list[dict[str, Any]]) -> None:
        for entry in entries:
            if entry.get("seat") == self.seat:
                if entry["type"] == "moved":
                    self.board = self.board.play(MOVES[entry["move"]])
                elif entry["type"] == "turned":
                    self.board = self.board.turn(entry["card"])

    def on_answer(self) -> None:
        """Be done when nothing is legal any more."""
        if self.board.is_stuck or self.board.is_won:
            del self.frames[self.number + 1 :]
            self.upto = len(self.frames)
        super().on_answer()

    def send_next(self) -> None:
        """Send a random legal move."""
        move = self.chance.choice(list(self.board.legal_moves()))
        self.frames[self.number] = frame(play(self.number + 1, move.text))
        super().send_next()


class RandomEchoed(Sender):
    """A client of the hand-written race, whose deal is known, with a random legal game on it."""

    def on_open(self) -> None:
        """Be ready: no message has to come before the first move."""
        self.is_ready.set_result(None)

    def on_text(self, payload: bytes) -> None:
        """Count an answer; a notice of the other client's message begins with `!`."""
        if not payload.startswith(b"!"):
            assert b'"moved"' in payload, payload
            self.on_answer()

    def make_frames(self) -> list[bytes]:
        """Return the moves of a random game."""
        return [frame(play(number, move)) for number, move in enumerate(random_game(self.chance), 1)]


def random_game(chance: random.Random) -> list[str]:
    """Return the moves of a random legal game on the deal of the hand-written race."""
    stock = [Card(text) for text in deal_stock()]
    board = start_board().turn(stock.pop())
    moves: list[str] = []
    while legal := list(board.legal_moves()):
        move = chance.choice(legal)
        board = board.play(move, stock.pop() if move.takes_turned and stock else None)
        moves.append(move.text)
    return moves
