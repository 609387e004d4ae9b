"""Boards, piles and charts as lines: every card can be read, and a card that stays keeps its place."""

import pytest
from rich.text import Text

from fairest_cli.tui.board.big_room_code import in_large_letters
from fairest_cli.tui.board.board_lines import fan, large_fan, sequence, side_lines
from fairest_cli.tui.board.card_style import CardStyle
from fairest_cli.tui.board.progress_chart import draw_chart
from fairest_cli.tui.settings import Colours
from fairest_protocol.calculation.cards import full_deck
from fairest_protocol.calculation.rules import Foundation
from fairest_protocol.messages.options import RoomOptions
from tests.support import staged

STYLE = CardStyle()
PILE = full_deck(1)


@pytest.mark.parametrize("count", [1, 5, 12, 13, 24, 36, 48])
def test_every_card_of_a_pile_can_be_read(count: int) -> None:
    text = "\n".join(line.plain for line in fan(PILE[:count], 17, 12, STYLE))
    names = [STYLE.name(card) if count <= 36 else STYLE.name(card)[:-1] for card in PILE[:count]]
    assert sorted(text.split()) == sorted(names)


def test_a_pile_that_is_too_large_shows_the_number_of_hidden_cards() -> None:
    lines = fan(PILE, 8, 10, STYLE)
    assert lines[0].plain.startswith("+33")
    assert sum(len(line.plain.split()) for line in lines) == 20


@pytest.mark.parametrize("count", range(1, 12))
def test_one_more_card_moves_no_other(count: int) -> None:
    before, after = (large_fan(PILE[:cards], 17, 12, STYLE) for cards in (count, count + 1))
    for line in range(count):
        assert before[line].plain[:5].strip() == after[line].plain[:5].strip()


def test_a_sequence_keeps_its_places_while_the_brackets_move() -> None:
    foundation = Foundation(2, 2)
    lines = [sequence(foundation, placed).plain for placed in range(1, 14)]
    assert {line.replace("[", " ").replace("]", " ") for line in lines} == {" 2 4 6 8 10 Q A 3 5 7 9 J K "}


@pytest.mark.parametrize("size", [(30, 6), (40, 20), (60, 34)])
@pytest.mark.parametrize("rules", ["classic", "senior", "single"])
def test_a_side_fits_into_its_part_of_the_screen(size: tuple[int, int], rules: str) -> None:
    board = staged.racing((30, 30), RoomOptions(rules=rules)).model().board
    assert board is not None
    columns, lines = size
    drawn = side_lines(Text("ann"), board, columns, lines, STYLE)
    assert len(drawn) <= lines
    assert max(line.cell_len for line in drawn[1:]) <= columns + 2


def test_ascii_cards_are_ascii() -> None:
    style = CardStyle(Colours.MONOCHROME, is_ascii=True)
    lines = [*style.card(PILE[0]), *style.back(), *style.slot(), style.chip(PILE[9])]
    assert all(line.plain.isascii() for line in lines)


def test_an_unconfirmed_card_is_marked_with_a_dot() -> None:
    assert STYLE.chip(PILE[0], is_unconfirmed=True).plain == "  A♣."


def test_a_curve_rises_from_the_left_to_the_right() -> None:
    lines = draw_chart([((0, 4), (1000, 52))], 52, 24, 6, is_ascii=True)
    assert lines[0].plain.rstrip().endswith("1")
    assert lines[-1].plain.startswith("  0 ")


def test_both_players_have_a_curve() -> None:
    text = "\n".join(line.plain for line in draw_chart([((0, 4), (9, 9)), ((0, 4), (9, 40))], 52, 24, 6, is_ascii=True))
    assert {"1", "2"} <= set(text)


def test_a_round_without_moves_has_no_chart() -> None:
    assert draw_chart([(), ()], 52, 24, 6) == []


def test_a_code_is_large_where_it_fits() -> None:
    assert len(in_large_letters("quiet-amber-otter", 120, 9)) == 3
    assert len(in_large_letters("quiet-amber-otter", 60, 9)) == 9


def test_a_code_is_in_capitals_where_large_letters_do_not_fit() -> None:
    assert in_large_letters("quiet-amber-otter", 60, 3) == ["Q U I E T - A M B E R - O T T E R"]
