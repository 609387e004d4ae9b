"""Invariants that hold after every move: random moves, legal or not, over random rules, game after game."""

import random

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.cards import full_deck
from fairest_protocol.calculation.deal import make_deal
from fairest_protocol.calculation.moves import MOVES, RESIGN, STOP, Move
from fairest_protocol.calculation.race import Ending, Race, start_race
from fairest_protocol.calculation.rules import VARIANTS, Rules, choose_rules

CARD_MOVES = [move for move in MOVES.values() if move not in (STOP, RESIGN)]
STEPS = 50
"""About ten games in an example: about every fourth step plays a game to its end."""


@st.composite
def any_rules(draw: st.DrawFn) -> Rules:
    variant = VARIANTS[draw(st.sampled_from(sorted(VARIANTS)))]
    piles, redeals = draw(st.sampled_from(variant.piles)), draw(st.sampled_from(variant.redeals))
    return choose_rules(variant.rules.name, piles, redeals)


def moves_left(board: Board) -> tuple[int, int, int]:
    """A measure of the moves left. Every legal move makes it smaller, so every game ends."""
    return board.redeals, board.stock + (board.turned is not None), sum(map(len, board.piles))


class AnyGame(RuleBasedStateMachine):
    race: Race

    @initialize(rules=any_rules(), seed=st.binary(min_size=32, max_size=32))
    def deal(self, rules: Rules, seed: bytes) -> None:
        self.race = start_race(rules, make_deal(rules, seed), seats=1)
        self.all_cards = set(full_deck(rules.decks)) - set(self.race.deal.markers)

    @property
    def board(self) -> Board:
        return self.race.racers[0].board

    def play(self, move: Move) -> bool:
        """Play a move, legal or not: it is refused, or it leads closer to the end. Return whether it was legal."""
        before = self.board
        if self.race.refusal(0, move):
            return False
        self.race = self.race.play(0, move)
        assert moves_left(self.board) < moves_left(before)
        assert self.board.placed == before.placed + move.text[-1].isdigit()
        assert self.board.direct == before.direct + (move.takes_turned and move.places)
        self.cards_are_conserved()
        return True

    @rule(seed=st.integers(0, 2**32), boldness=st.sampled_from([0.0, 0.3, 1.0]))
    @precondition(lambda self: not self.race.is_over)
    def play_to_the_end(self, seed: int, boldness: float) -> None:
        """Play to the end. `boldness` is the share of moves that are drawn from all moves, legal or not."""
        chance = random.Random(seed)
        while not self.race.is_over:
            bold = chance.random() < boldness
            was_legal = self.play(chance.choice(CARD_MOVES if bold else list(self.board.legal_moves())))
            if was_legal and chance.random() < 0.1:
                self.the_legal_moves_listed_are_exactly_those_accepted()
        assert self.race.racers[0].ending is (Ending.WON if self.board.placed == self.board.goal else Ending.STUCK)

    @rule(move=st.sampled_from(CARD_MOVES))
    @precondition(lambda self: not self.race.is_over)
    def try_any_move(self, move: Move) -> None:
        before = self.race
        assert self.play(move) is (move in set(before.racers[0].board.legal_moves()))
        assert (self.race is before) is (before.refusal(0, move) is not None)

    @rule(data=st.data())
    @precondition(lambda self: not self.race.is_over)
    def play_a_legal_move(self, data: st.DataObject) -> None:
        assert self.play(data.draw(st.sampled_from(list(self.board.legal_moves()))))

    @rule(rules=any_rules(), seed=st.binary(min_size=32, max_size=32))
    @precondition(lambda self: self.race.is_over)
    def deal_again(self, rules: Rules, seed: bytes) -> None:
        self.deal(rules, seed)

    @invariant()
    def cards_are_conserved(self) -> None:
        racer, board = self.race.racers[0], self.board
        cards = [card for stack in (*board.foundations, *board.piles) for card in stack]
        cards.extend(self.race.deal.orders[racer.turn.pass_number][place] for place in racer.ahead)
        cards.extend([board.turned] if board.turned else [])
        assert len(cards) == len(self.all_cards)
        assert set(cards) == self.all_cards
        assert len(racer.ahead) == board.stock

    @invariant()
    def the_legal_moves_listed_are_exactly_those_accepted(self) -> None:
        listed = list(self.board.legal_moves())
        assert len(set(listed)) == len(listed)
        assert set(listed) == {move for move in CARD_MOVES if self.board.refusal(move) is None}

    @invariant()
    def foundations_hold_their_sequences(self) -> None:
        for foundation, cards in zip(self.board.layout, self.board.foundations, strict=True):
            names = [card[0] for card in cards]
            assert names == ["A23456789TJQK"[number - 1] for number in foundation.sequence()[: len(cards)]]

    @invariant()
    def nothing_is_left_to_do_when_it_is_over_and_something_before(self) -> None:
        has_moves = next(iter(self.board.legal_moves()), None) is not None
        assert has_moves is not self.race.is_over


# Two hundred games in make test, three thousand in make test-long.
TestAnyGame = AnyGame.TestCase
TestAnyGame.settings = settings(stateful_step_count=STEPS)
