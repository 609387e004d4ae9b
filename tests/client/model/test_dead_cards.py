"""Dead cards: no card that is called dead is ever placed, and the plain cases are found."""

import random

from fairest_cli.model.dead_cards import dead_cards
from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.cards import Card, full_deck, rank
from fairest_protocol.calculation.rules import VARIANTS, RolledFoundations
from tests.support.random_boards import play_on, random_race


def board_of(piles: tuple[tuple[str, ...], ...], stock: int = 0, redeals: int = 0, kings: int = 12) -> Board:
    """Return a classic board on which foundation 1 has its first `kings` cards and the others are complete."""
    layout = VARIANTS["classic"].rules.foundations
    assert not isinstance(layout, RolledFoundations)
    first = tuple(card for card in full_deck(1) if card[1] == "C")[:kings]
    others = tuple(tuple(full_deck(1)[:13]) for _ in range(3))
    laid = tuple(tuple(map(Card, pile)) for pile in piles)
    return Board(layout, (first, *others), laid, None, stock, redeals)


def placed_though_dead(seed: int) -> set[Card]:
    """Return the cards of a random race that were placed after they had been called dead."""
    chance = random.Random(seed)
    race = random_race(chance)
    dead: set[Card] = set()
    wrong: set[Card] = set()
    for later in play_on(race, chance):
        board = later.racers[0].board
        wrong |= dead & {card for cards in board.foundations for card in cards}
        dead |= dead_cards(board)
    return wrong


def test_no_card_that_is_called_dead_is_ever_placed() -> None:
    assert [(seed, placed) for seed in range(60) if (placed := placed_though_dead(seed))] == []


def test_a_card_whose_rank_no_foundation_needs_any_more_is_dead() -> None:
    assert dead_cards(board_of((("2H", "KS"),))) == {"2H"}


def test_a_card_below_one_that_stays_is_dead() -> None:
    assert dead_cards(board_of((("KS", "2H"),))) == {"KS", "2H"}


def test_a_card_whose_turn_may_come_with_the_stock_is_not_dead() -> None:
    assert dead_cards(board_of((("KS",),), stock=1, kings=11)) == set()


def test_a_card_behind_a_rank_that_is_nowhere_any_more_is_dead() -> None:
    assert dead_cards(board_of((("KS",),), kings=11)) == {"KS"}


def test_the_stock_holds_only_what_is_not_seen_of_its_one_deck() -> None:
    layout = VARIANTS["classic"].rules.foundations
    assert not isinstance(layout, RolledFoundations)
    clubs, *complete = (full_deck(1)[start : start + 13] for start in range(0, 52, 13))
    board = Board(layout, (clubs[:10], *complete), (clubs[11:],), None, 1, 0)
    # The jack is in the stock. Every queen is seen, and the last one lies below a king.
    assert dead_cards(board) == set(clubs[11:])


def test_a_redeal_brings_every_card_of_a_needed_rank_back() -> None:
    assert dead_cards(board_of((("KS", "2H"),), redeals=1)) == {"2H"}


def test_ranks_that_wait_below_one_another_are_dead_together() -> None:
    # The queen is needed before the king, and lies below it.
    board = board_of((("QS", "KS"),), kings=11)
    assert {rank(card) for card in dead_cards(board)} == {12, 13}
