"""The advice on the cards: what can be done, with the keys for it, on boards that are built for each case."""

from itertools import product

import pytest

from fairest_cli.tui.board.advice import foundation_advice, pile_advice, stock_advice
from fairest_cli.tui.board.card_style import CardStyle
from fairest_cli.tui.board.race_keys import race_key_line
from fairest_cli.tui.settings import Keys
from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.cards import Card
from fairest_protocol.calculation.rules import VARIANTS, RolledFoundations
from fairest_protocol.value import replace
from tests.support.random_boards import random_board

STYLE = CardStyle()


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


def test_the_turned_card_says_where_it_fits_and_which_key_plays_it(board: Board) -> None:
    assert stock_advice(board, Keys.LETTERS)[0][:2] == ("fits 2: press 2", "fits 2")
    assert stock_advice(board, Keys.TYPED)[0][0] == "fits 2: press s, then 2"


def test_a_turned_card_that_fits_nothing_names_the_piles(board: Board) -> None:
    king = replace(board, turned=Card("KC"))
    assert [words[0] for words in stock_advice(king, Keys.LETTERS)] == ["fits no foundation:", "lay it on pile a-d"]
    assert stock_advice(king, Keys.HOME_ROW)[1][0] == "lay it on pile asdf"
    assert stock_advice(king, Keys.TYPED)[1][0] == "lay it on a pile: s, then a-d"


def test_a_turned_card_that_two_foundations_need_names_both(board: Board) -> None:
    both = replace(board, foundations=(*board.foundations[:2], cards("3S", "6S", "9S"), cards("4S", "8S")))
    queen = replace(both, turned=Card("QH"))
    assert stock_advice(queen, Keys.LETTERS)[0][:2] == ("fits 3 and 4: press 3 or 4", "fits 3 and 4")


def test_a_pile_says_where_its_top_fits_and_which_key_plays_it(board: Board) -> None:
    assert pile_advice(0, board, Keys.LETTERS, STYLE) == ("fits 3: Shift+A", "fits 3", "fits 3", "►3")
    assert pile_advice(0, board, Keys.TYPED, STYLE)[0] == "fits 3: a, then 3"
    assert pile_advice(1, board, Keys.LETTERS, STYLE) == ()


def test_a_foundation_names_the_cards_that_fit_it(board: Board) -> None:
    assert foundation_advice(1, board, Keys.LETTERS, STYLE)[0] == "4♣ fits"
    assert foundation_advice(2, board, Keys.LETTERS, STYLE)[0] == "a fits"
    assert foundation_advice(0, board, Keys.LETTERS, STYLE) == ()


def test_a_foundation_names_the_turned_card_before_the_piles(board: Board) -> None:
    six = replace(board, turned=Card("6C"))
    assert foundation_advice(2, six, Keys.LETTERS, STYLE)[0] == "6♣, a fit"


def test_an_empty_stock_says_that_the_waste_can_be_dealt_again(board: Board) -> None:
    empty = replace(board, turned=None, stock=0, redeals=1)
    assert stock_advice(empty, Keys.LETTERS) == [("r: waste becomes stock", "press r: redeal", "r: redeal")]


def test_an_empty_stock_without_a_redeal_says_whether_a_card_still_fits(board: Board) -> None:
    empty = replace(board, turned=None, stock=0)
    assert stock_advice(empty, Keys.LETTERS)[0][0] == "only piles are left"
    assert stock_advice(replace(empty, piles=((), (), (), ())), Keys.LETTERS)[0][0] == "no card fits"


def test_a_card_that_the_server_has_not_sent_yet_is_on_its_way(board: Board) -> None:
    assert stock_advice(replace(board, turned=None), Keys.LETTERS)[0][0] == "on its way ..."


def wordings_on(board: Board) -> list[tuple[str, ...]]:
    """Return the advice of every place of a board, each in all its wordings."""
    return [
        *stock_advice(board, Keys.LETTERS),
        *(pile_advice(number, board, Keys.TYPED, STYLE) for number in range(len(board.piles))),
        *(foundation_advice(number, board, Keys.HOME_ROW, STYLE) for number in range(len(board.layout))),
    ]


def test_wordings_get_shorter() -> None:
    longer = [
        (seed, words)
        for seed in range(40)
        for words in wordings_on(random_board(seed))
        if list(words) != sorted(words, key=len, reverse=True)
    ]
    assert longer == []


KEY_LINES = list(product(Keys, (50, 60, 80, 120), (0, 1)))
"""Keys, columns and redeals of lines of keys."""


def test_the_line_of_keys_fits(board: Board) -> None:
    too_long = [
        (keys, columns, line)
        for keys, columns, redeals in KEY_LINES
        if len(line := race_key_line(keys, replace(board, redeals=redeals), columns).plain) > columns
    ]
    assert too_long == []


def test_the_line_of_keys_names_tab_the_help_and_a_redeal_that_is_left(board: Board) -> None:
    missing = [
        (keys, columns, words)
        for keys, columns, redeals in KEY_LINES
        for words in (("Tab", "?", " r ") if redeals else ("Tab", "?"))
        if words not in race_key_line(keys, replace(board, redeals=redeals), columns).plain
    ]
    assert missing == []


def test_the_line_of_keys_has_long_words_where_there_is_room(board: Board) -> None:
    assert race_key_line(Keys.LETTERS, board, 120).plain.startswith(
        " 1-4 to foundation  a-d to pile  Shift+a-d play its top  Tab all ranks"
    )
