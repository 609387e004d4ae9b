"""One race on one deal: how far each seat is, and how the race ends.

A race knows the whole deal, so it exists only where the deal may be known: in the server, in a replay, and in
practice. It knows no time: the caller that judges time limits and absence calls `Race.stop`.
"""

from collections.abc import Sequence
from enum import StrEnum
from functools import cache
from typing import Final, NamedTuple

from fairest_protocol.calculation.board import Board, Illegal, lay_out
from fairest_protocol.calculation.deal import Deal
from fairest_protocol.calculation.distance import Timing, first_by_correction
from fairest_protocol.calculation.moves import REDEAL, RESIGN, STOP, Move
from fairest_protocol.calculation.rules import Rules
from fairest_protocol.value import Value, message_dataclass, replace


class Turn(NamedTuple):
    """How far a player has seen. Turns compare in the order in which a player reaches them.

    `position` is a position in the committed order of *all* stock cards of the pass, from 0. An empty stock is one
    more turn: the position after the last card.
    """

    pass_number: int
    position: int


_turn: Final = cache(Turn)
"""A turn, made once: a race has a few hundred of them, and each move would take 0.2 us more."""

OpensAt = tuple[Turn, bool]
"""When an entry may be shown to everybody, as a pair `(turn, is_decision)` that compares with a horizon.

A turned card opens at `(turn, False)`: as soon as every player still racing has reached its turn. A decision opens at
`(turn, True)`, which sorts between this turn and the next one: as soon as all of them have gone past its turn.

It is a plain tuple, because each move makes three of them: a NamedTuple takes 0.2 us more to make, each time.
"""


class Ending(StrEnum):
    """How one seat's race ended."""

    WON = "won"
    STUCK = "stuck"
    STOPPED = "stopped"
    OUT_OF_TIME = "out_of_time"
    AWAY = "away"
    RESIGNED = "resigned"
    NOT_REVEALED = "not_revealed"
    ROUND_OVER = "round_over"
    """The seat was still racing when the other seat placed every card, resigned or did not reveal its entropy.

    In a room with credit: when it could no longer be first by corrected time.
    """


class Racer(Value):
    """One seat in the race.

    `ahead` holds the positions of the cards still face down in this pass, ascending. `moves` counts the accepted moves,
    so the next move of this seat has the sequence number `moves + 1`; `last_move` is the newest accepted one. `seen`
    counts the stock cards turned in all passes.
    """

    board: Board
    turn: Turn
    ahead: Sequence[int]
    moves: int = 0
    seen: int = 1
    ending: Ending | None = None
    last_move: Move | None = None


@message_dataclass
class Score:
    """The score of a seat in its race. `cards_turned` counts the stock cards that it was shown."""

    placed: int
    goal: int
    direct: int
    cards_turned: int
    ending: Ending

    @property
    def is_near_miss(self) -> bool:
        """Whether 45 or more of 52 cards were placed without winning; for another goal, the same share (86.5 %)."""
        return self.placed < self.goal and self.placed * 52 >= 45 * self.goal


@message_dataclass
class Outcome:
    """The result of a round: the winning seat, or None for a draw, and each seat's score.

    `ledger` has the times of both seats, if one placed every card in a room with credit; None otherwise.
    """

    winner: int | None
    scores: tuple[Score, ...]
    ledger: tuple[Timing, Timing] | None = None

    @property
    def counts(self) -> tuple[int, ...]:
        """The cards that each seat placed, those of the winner first; in a draw, the higher number first."""
        seats = sorted(range(len(self.scores)), key=lambda seat: (seat != self.winner, -self.scores[seat].placed))
        return tuple(self.scores[seat].placed for seat in seats)


class Race(Value):
    """A race under way or over. It is immutable: `play` and `stop` return the next one.

    `has_credit`: a seat that places every card does not end the race of the other one, which may be first by corrected
    time. The caller stops the other seat with `Ending.ROUND_OVER` once it can not.
    """

    rules: Rules
    deal: Deal
    racers: tuple[Racer, ...]
    direct_breaks_ties: bool = False
    has_credit: bool = False

    @property
    def is_over(self) -> bool:
        """Whether every seat's race has ended."""
        return all(racer.ending for racer in self.racers)

    @property
    def has_started(self) -> bool:
        """Whether a race that is over had started: not if it was over in the countdown, before anybody saw a card."""
        return any(racer.seen for racer in self.racers)

    @property
    def horizon(self) -> OpensAt | None:
        """The latest `OpensAt` that is open: an entry may be shown to everybody if it opens no later than this.

        It is the lowest turn among the players still racing; if that is the last turn of the race, decisions made at
        it are open too. None means that nobody is racing any more, and everything is open.
        """
        last: Racer | None = None
        for racer in self.racers:
            if not racer.ending and (last is None or racer.turn < last.turn):
                last = racer
        if last is None:
            return None
        # With cards face down it is not the last turn, so that nearly all moves do not ask.
        return last.turn, not last.ahead and self.is_last_turn(last.turn)

    def refusal(self, seat: int, move: Move) -> Illegal | None:
        """Return why the rules forbid this move of this seat, or None if it is legal.

        It does not check whether the seat is still racing.
        """
        return self.racers[seat].board.refusal(move)

    def play(self, seat: int, move: Move) -> "Race":
        """Return the race after a legal move of a seat that is still racing."""
        racer = self.racers[seat]
        if move is STOP or move is RESIGN:
            chosen = Ending.STOPPED if move is STOP else Ending.RESIGNED
            return self._with(seat, replace(racer, moves=racer.moves + 1, ending=chosen, last_move=move))
        turn, ahead, seen, next_card = racer.turn, racer.ahead, racer.seen, None
        if move.takes_turned or move is REDEAL:
            pass_number = turn.pass_number
            if move is REDEAL:
                pass_number += 1
                ahead = self._redealt(racer.board, pass_number)
            order = self.deal.orders[pass_number]
            if ahead:
                turn, ahead, seen = _turn(pass_number, ahead[0]), ahead[1:], seen + 1
                next_card = order[turn.position]
            else:
                turn = _turn(pass_number, len(order))
        board = racer.board.play(move, next_card)
        has_placed = board.foundations is not racer.board.foundations
        ending = None
        if has_placed and board.is_won:
            ending = Ending.WON
        elif board.turned is None and board.is_stuck:
            ending = Ending.STUCK
        return self._with(seat, Racer(board, turn, ahead, racer.moves + 1, seen, ending, move))

    def stop(self, seats: Sequence[int], ending: Ending) -> "Race":
        """Return the race after these seats, still racing, were stopped: by the clock, by absence or by leaving."""
        stopped = self
        for seat in seats:
            stopped = stopped._with(seat, replace(stopped.racers[seat], ending=ending))
        return stopped

    def stop_before_start(self, seats: Sequence[int], ending: Ending) -> "Race":
        """Return the race after these seats were stopped in the countdown: those that it ends have seen no card."""
        stopped = self.stop(seats, ending)
        racers = tuple(replace(racer, seen=0) if racer.ending else racer for racer in stopped.racers)
        return replace(stopped, racers=racers)

    def outcome(self, ledger: tuple[Timing, Timing] | None = None) -> Outcome:
        """Return the result of a race that is over. `judge` says which seat wins, by `ledger` if both placed all cards.

        The ledger is required if a seat won and the race has credit, and not part of the result otherwise.
        """
        scores = tuple(_score(racer) for racer in self.racers)
        is_timed = self.has_credit and any(score.ending is Ending.WON for score in scores)
        kept = ledger if is_timed else None
        return Outcome(judge(scores, direct_breaks_ties=self.direct_breaks_ties, ledger=kept), scores, kept)

    def is_last_turn(self, turn: Turn) -> bool:
        """Return whether nothing is hidden at this turn any more: the stock is empty and no redeal is left."""
        pass_number, position = turn
        return position == len(self.deal.orders[-1]) and pass_number == self.rules.redeals

    def _redealt(self, board: Board, pass_number: int) -> Sequence[int]:
        """Return the positions of the cards of the waste in the order of the pass that begins."""
        waste = {card for pile in board.piles for card in pile}
        return [position for position, card in enumerate(self.deal.orders[pass_number]) if card in waste]

    def _with(self, seat: int, racer: Racer) -> "Race":
        racers = (*self.racers[:seat], racer, *self.racers[seat + 1 :])
        if racer.ending in DECISIVE and not (self.has_credit and racer.ending is Ending.WON):
            racers = tuple(other if other.ending else replace(other, ending=Ending.ROUND_OVER) for other in racers)
        return Race(self.rules, self.deal, racers, self.direct_breaks_ties, self.has_credit)


DECISIVE = frozenset({Ending.WON, Ending.RESIGNED, Ending.NOT_REVEALED})
"""The endings of one seat that end the round for the other one too."""


def start_race(
    rules: Rules, deal: Deal, seats: int = 2, direct_breaks_ties: bool = False, has_credit: bool = False
) -> Race:
    """Return a race in which each of `seats` seats has its first card turned."""
    stock = deal.orders[0]
    board = lay_out(rules, deal).turn(stock[0])
    racer = Racer(board, Turn(0, 0), range(1, len(stock)))
    return Race(rules, deal, (racer,) * seats, direct_breaks_ties, has_credit)


def undealt_outcome(rules: Rules, endings: Sequence[Ending]) -> Outcome:
    """Return the result of a round that ended before the deal: a player left, or did not reveal its entropy."""
    scores = tuple(Score(0, rules.goal, 0, 0, ending) for ending in endings)
    return Outcome(judge(scores, direct_breaks_ties=False), scores)


def _score(racer: Racer) -> Score:
    assert racer.ending is not None, "the round is not over"
    board = racer.board
    return Score(board.placed, board.goal, board.direct, racer.seen, racer.ending)


def judge(scores: Sequence[Score], *, direct_breaks_ties: bool, ledger: Sequence[Timing] | None = None) -> int | None:
    """Return the seat that wins with these scores, or None for a draw.

    A seat that placed every card wins; if both did, the ledger says which was first by corrected time. A seat that
    resigned or did not reveal its entropy loses. Otherwise more cards on foundations win, then, with
    `direct_breaks_ties`, more cards played straight from the stock.
    """
    won = [seat for seat, score in enumerate(scores) if score.ending is Ending.WON]
    if won:
        return won[0] if len(won) == 1 or ledger is None else first_by_correction(ledger)
    standing = [
        (score.ending not in (Ending.RESIGNED, Ending.NOT_REVEALED), score.placed, score.direct * direct_breaks_ties)
        for score in scores
    ]
    best = max(standing)
    return standing.index(best) if standing.count(best) == 1 else None
