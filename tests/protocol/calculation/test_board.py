"""The rules of a move: which moves are legal, why others are refused, and the board after a legal one."""

import random
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairest_protocol.calculation.board import Board, Illegal, lay_out
from fairest_protocol.calculation.cards import Card, full_deck
from fairest_protocol.calculation.deal import make_deal
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.calculation.race import Ending, start_race
from fairest_protocol.calculation.rules import VARIANTS, Foundation, choose_rules
from fairest_protocol.value import replace

CLASSIC = choose_rules("classic")


def cards(text: str) -> tuple[Card, ...]:
    return tuple(Card(word) for word in text.split())


@pytest.fixture
def board() -> Board:
    """Classic, with a 2 turned that fits foundation 1, a 6 on pile a that fits foundation 3, and pile b empty."""
    laid = lay_out(CLASSIC, make_deal(CLASSIC, bytes(32)))
    return replace(laid, turned=Card("2D"), piles=(cards("KH 6S"), (), cards("9C"), ()), stock=30)


@pytest.mark.parametrize(
    ("move", "reason"),
    [
        ("s2", Illegal.RANK_NOT_NEEDED),
        ("s5", Illegal.NO_SUCH_FOUNDATION),
        ("se", Illegal.NO_SUCH_PILE),
        ("a1", Illegal.RANK_NOT_NEEDED),
        ("b1", Illegal.PILE_EMPTY),
        ("h1", Illegal.NO_SUCH_PILE),
        ("ab", Illegal.PILE_TO_PILE),
        ("aa", Illegal.PILE_TO_PILE),
        ("redeal", Illegal.NO_REDEAL_LEFT),
    ],
)
def test_a_move_against_the_rules_is_refused_for_its_own_reason(board: Board, move: str, reason: Illegal) -> None:
    assert board.refusal(MOVES[move]) is reason


@pytest.mark.parametrize("move", ["s1", "sa", "sb", "sd", "a3"])
def test_a_move_within_the_rules_is_not_refused(board: Board, move: str) -> None:
    assert board.refusal(MOVES[move]) is None


def test_a_complete_foundation_accepts_no_card(board: Board) -> None:
    suit = [card for card in full_deck(1) if card.endswith("C")]
    full = replace(board, foundations=(tuple(suit), *board.foundations[1:]), turned=Card("AD"))
    assert full.refusal(MOVES["s1"]) is Illegal.FOUNDATION_COMPLETE


def test_without_a_turned_card_a_move_of_it_is_refused(board: Board) -> None:
    assert replace(board, turned=None, stock=0).refusal(MOVES["sa"]) is Illegal.NOTHING_TURNED


def test_a_redeal_needs_one_left_and_something_to_deal(board: Board) -> None:
    over = replace(board, turned=None, stock=0)
    assert over.refusal(MOVES["redeal"]) is Illegal.NO_REDEAL_LEFT
    assert replace(board, redeals=1).refusal(MOVES["redeal"]) is Illegal.CARD_STILL_TURNED
    assert replace(over, redeals=1, piles=((), (), (), ())).refusal(MOVES["redeal"]) is Illegal.PILE_EMPTY
    assert replace(over, redeals=1).refusal(MOVES["redeal"]) is None


def test_playing_to_a_foundation_counts_as_direct_only_from_the_stock(board: Board) -> None:
    assert board.play(MOVES["s1"]).direct == 1
    assert board.play(MOVES["a3"]).direct == 0


@pytest.mark.parametrize(("move", "card"), [("s1", "2D"), ("sb", "2D"), ("a3", "6S"), ("c3", "9C"), ("redeal", None)])
def test_a_move_moves_the_turned_card_or_the_top_of_its_pile(board: Board, move: str, card: str | None) -> None:
    assert board.card_of(MOVES[move]) == card


def test_a_board_with_a_playable_waste_top_is_not_stuck(board: Board) -> None:
    over = replace(board, turned=None, stock=0)
    assert not over.is_stuck
    assert replace(over, piles=(cards("6S KH"), (), cards("9C"), ())).is_stuck


@given(st.integers(), st.sampled_from(sorted(VARIANTS)))
def test_random_games_conserve_cards_and_end(seed: int, name: str) -> None:
    chance = random.Random(seed)
    rules = choose_rules(name)
    race = start_race(rules, make_deal(rules, chance.randbytes(32)), seats=1)
    everything = Counter(full_deck(rules.decks)) - Counter(race.deal.markers)
    for _ in range(1000):
        if race.is_over:
            break
        racer = race.racers[0]
        laid = Counter(card for stack in (*racer.board.foundations, *racer.board.piles) for card in stack)
        unseen = Counter(race.deal.orders[racer.turn.pass_number][place] for place in racer.ahead)
        assert laid + unseen + Counter([racer.board.turned] if racer.board.turned else []) == everything
        assert len(racer.ahead) == racer.board.stock
        race = race.play(0, chance.choice(list(racer.board.legal_moves())))
    assert race.racers[0].ending in (Ending.WON, Ending.STUCK)


@given(st.integers(), st.sampled_from(sorted(VARIANTS)))
def test_the_legal_moves_listed_are_exactly_those_accepted(seed: int, name: str) -> None:
    chance = random.Random(seed)
    rules = choose_rules(name)
    race = start_race(rules, make_deal(rules, chance.randbytes(32)), seats=1)
    while not race.is_over:
        board = race.racers[0].board
        listed = set(board.legal_moves())
        accepted = {move for move in MOVES.values() if board.refusal(move) is None} - {MOVES["stop"], MOVES["resign"]}
        assert listed == accepted
        race = race.play(0, chance.choice(sorted(listed, key=str)))


def test_a_foundation_can_start_empty() -> None:
    assert Foundation(1, 1).next_rank(0) == 1


@pytest.mark.parametrize("word", ["redeal", "stop", "resign"])
def test_a_move_in_a_word_has_neither_source_nor_target(word: str) -> None:
    move = MOVES[word]
    assert (move.source, move.target, move.takes_turned, move.places) == (-1, -1, False, False)


@pytest.mark.parametrize(
    ("text", "source", "target", "takes_turned", "places"),
    [
        ("s3", -1, 2, True, True),
        ("sc", -1, 2, True, False),
        ("b8", 1, 7, False, True),
        ("hg", 7, 6, False, False),
    ],
)
def test_a_move_counts_its_source_and_its_target_from_0(
    text: str, source: int, target: int, takes_turned: bool, places: bool
) -> None:
    move = MOVES[text]
    assert (move.source, move.target, move.takes_turned, move.places) == (source, target, takes_turned, places)


def test_rules_without_starters_begin_with_empty_foundations() -> None:
    rules = replace(CLASSIC, starters=False)
    board = lay_out(rules, make_deal(rules, bytes(32)))
    assert (board.foundations, board.stock) == (((),) * 4, 52)


def test_a_board_that_is_won_is_not_stuck() -> None:
    laid = lay_out(CLASSIC, make_deal(CLASSIC, bytes(32)))
    full = tuple((Card("AC"),) * foundation.length for foundation in laid.layout)
    won = replace(laid, foundations=full, turned=None, stock=0)
    assert (won.is_won, won.is_stuck) == (True, False)


@pytest.mark.parametrize(
    ("changes", "is_over"),
    [
        ({}, True),
        ({"turned": Card("2D")}, False),
        ({"stock": 1}, False),
        ({"redeals": 1}, False),
        ({"redeals": 1, "piles": ((), (), (), ())}, True),
    ],
    ids=["nothing left", "a card turned", "a card in the stock", "a redeal", "a redeal of nothing"],
)
def test_the_stock_is_over_once_no_card_can_come_from_it(board: Board, changes: dict[str, Any], is_over: bool) -> None:
    assert replace(replace(board, turned=None, stock=0), **changes).stock_is_over == is_over
