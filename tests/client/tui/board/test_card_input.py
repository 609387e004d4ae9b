"""From keys and clicks to moves, on boards that are built for each case."""

import pytest

from fairest_cli.tui.board.card_input import (
    ON_ITS_WAY,
    STOCK,
    InputResult,
    click_foundation,
    click_pile,
    click_stock,
    press_key,
)
from fairest_cli.tui.settings import Keys
from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.cards import Card
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.calculation.rules import VARIANTS, RolledFoundations
from fairest_protocol.value import replace


def cards(*texts: str) -> tuple[Card, ...]:
    return tuple(map(Card, texts))


@pytest.fixture
def board() -> Board:
    """Return a board that needs 2, 4, 6, 8: a 4 is turned, a 6 tops pile a, a king pile b; c and d are empty."""
    layout = VARIANTS["classic"].rules.foundations
    assert not isinstance(layout, RolledFoundations)
    starters = tuple(cards(text) for text in ("AS", "2S", "3S", "4S"))
    piles = (cards("9H", "6H"), cards("KD"), (), ())
    return Board(layout, starters, piles, Card("4C"), stock=40, redeals=0)


def pressed(board: Board, key: str, picked: int | None = None, keys: Keys = Keys.LETTERS) -> InputResult:
    result = press_key(keys, key, picked, board)
    assert result is not None
    return result


def test_a_digit_plays_the_turned_card(board: Board) -> None:
    assert pressed(board, "2") == InputResult(move=MOVES["s2"])


def test_a_digit_of_a_foundation_that_needs_another_rank_says_so(board: Board) -> None:
    assert pressed(board, "4").sentence == "Foundation 4 needs an 8, not the 4."


def test_a_digit_that_means_the_top_of_a_pile_names_the_keys_that_play_it(board: Board) -> None:
    assert pressed(board, "3").sentence == "Foundation 3 needs a 6 (Shift+a), not the 4."
    assert pressed(board, "3", STOCK, Keys.TYPED).sentence == "Foundation 3 needs a 6 (a, then 3), not the 4."


def test_a_letter_lays_the_turned_card_onto_a_pile(board: Board) -> None:
    assert pressed(board, "c") == InputResult(move=MOVES["sc"])


def test_shift_sends_the_top_of_a_pile_up(board: Board) -> None:
    assert pressed(board, "A") == InputResult(move=MOVES["a3"])


def test_shift_on_a_pile_that_fits_no_foundation_says_so(board: Board) -> None:
    assert pressed(board, "B").sentence == "No foundation needs the K now."


def test_shift_on_an_empty_pile_says_so(board: Board) -> None:
    assert pressed(board, "C") == InputResult(sentence="This waste pile is empty.")


@pytest.fixture
def contested(board: Board) -> Board:
    """Return a board with a queen on pile a that two foundations need."""
    piles = (cards("QH"), *board.piles[1:])
    foundations = (*board.foundations[:2], cards("3S", "6S", "9S"), cards("4S", "8S"))
    return replace(board, piles=piles, foundations=foundations)


def test_a_card_that_two_foundations_need_waits_for_a_digit(contested: Board) -> None:
    result = pressed(contested, "A")
    assert (result.picked, result.move) == (0, None)
    assert pressed(contested, "4", picked=result.picked) == InputResult(move=MOVES["a4"])


def test_a_card_from_a_pile_does_not_go_to_another_pile(contested: Board) -> None:
    assert pressed(contested, "c", picked=0) == InputResult(sentence="Cards never move from one waste pile to another.")


def test_no_key_moves_a_card_that_is_not_turned_yet(board: Board) -> None:
    assert pressed(replace(board, turned=None), "c") == InputResult(sentence=ON_ITS_WAY)


@pytest.mark.parametrize("key", ["e", "5", "E", "x", "z", " "])
def test_a_key_without_a_meaning_on_this_board_has_no_effect(board: Board, key: str) -> None:
    assert press_key(Keys.LETTERS, key, None, board) is None


def test_the_home_row_has_its_own_letters(board: Board) -> None:
    assert pressed(board, "f", keys=Keys.HOME_ROW) == InputResult(move=MOVES["sd"])
    assert pressed(board, "A", keys=Keys.HOME_ROW) == InputResult(move=MOVES["a3"])


def test_typed_keys_are_source_then_destination(board: Board) -> None:
    assert pressed(board, "s", keys=Keys.TYPED).picked == STOCK
    assert pressed(board, "b", picked=STOCK, keys=Keys.TYPED) == InputResult(move=MOVES["sb"])
    assert pressed(board, "a", keys=Keys.TYPED).picked == 0
    assert pressed(board, "3", picked=0, keys=Keys.TYPED) == InputResult(move=MOVES["a3"])


def test_a_click_on_a_pile_picks_up_its_top_and_one_on_a_foundation_puts_it_there(board: Board) -> None:
    assert click_pile(0, None, board).picked == 0
    assert click_foundation(2, 0, board) == InputResult(move=MOVES["a3"])


def test_two_clicks_on_a_pile_send_its_top_up(board: Board) -> None:
    assert click_pile(0, 0, board) == InputResult(move=MOVES["a3"])


def test_the_turned_card_is_clicked_onto_a_pile(board: Board) -> None:
    assert click_stock(None, board).picked == STOCK
    assert click_pile(1, STOCK, board) == InputResult(move=MOVES["sb"])


def test_two_clicks_on_the_turned_card_send_it_up(board: Board) -> None:
    assert click_stock(STOCK, board) == InputResult(move=MOVES["s2"])


def test_an_empty_stock_is_redealt_by_a_click_and_by_a_key(board: Board) -> None:
    empty = replace(board, turned=None, stock=0, redeals=1)
    assert click_stock(None, empty) == pressed(empty, "r") == InputResult(move=MOVES["redeal"])
