"""Foundations as cards: at every size, the wanted rank is there, and what follows it where there is room."""

from itertools import product

import pytest

from fairest_cli.tui.board.card_style import CardStyle
from fairest_cli.tui.board.foundation_cards import FoundationState, foundation_lines, progress_bar, sequence
from fairest_cli.tui.board.large_ranks import large_rank
from fairest_cli.tui.settings import Colours
from fairest_protocol.calculation.cards import Card, full_deck, rank, rank_name
from fairest_protocol.calculation.rules import Foundation

STYLE = CardStyle()
ASCII = CardStyle(Colours.MONOCHROME, is_ascii=True)
SIZES = [
    *((columns, lines) for columns in (9, 10, 11, 12, 15, 16, 19, 24, 30) for lines in (3, 4, 5, 7, 8, 10, 11)),
    *((columns, 1) for columns in (24, 30)),
]
CARDS = {rank(card): card for card in full_deck(1)}


def state(placed: int, foundation: Foundation | None = None, advice: tuple[str, ...] = ()) -> FoundationState:
    built_up = foundation or Foundation(2, 2)
    cards = tuple(CARDS[number] for number in built_up.sequence()[:placed])
    return FoundationState(1, built_up, cards, advice=advice)


def drawn(placed: int, columns: int, lines: int, style: CardStyle = STYLE, advice: tuple[str, ...] = ()) -> str:
    return "\n".join(line.plain for line in foundation_lines(state(placed, advice=advice), columns, lines, style))


def shows_wanted(text: str, wanted: int, style: CardStyle) -> bool:
    if f"{style.arrow}{rank_name(wanted)}" in text:
        return True
    figures = (large_rank(wanted, *room, is_ascii=style.is_ascii) for room in ((99, 5), (8, 5), (99, 3)))
    return any(figure and all(row.rstrip() in text for row in figure) for figure in figures)


def test_the_wanted_rank_is_shown_at_every_size() -> None:
    missing = [
        (placed, size, style.is_ascii)
        for placed, size, style in product(range(13), SIZES, (STYLE, ASCII))
        if not shows_wanted(drawn(placed, *size, style), state(placed).wanted or 0, style)
    ]
    assert missing == []


@pytest.mark.long
def test_a_foundation_is_not_wider_than_its_place_at_any_size() -> None:
    too_wide = [
        (placed, (columns, lines), style.is_ascii)
        for placed, (columns, lines), style in product(range(13), SIZES, (STYLE, ASCII))
        if max(map(len, drawn(placed, columns, lines, style).splitlines())) > columns
    ]
    assert too_wide == []


@pytest.mark.parametrize("columns", [18, 19, 24])
def test_the_wanted_rank_is_several_lines_high_where_there_is_room(columns: int) -> None:
    assert "►8" not in drawn(3, columns, 10)
    assert drawn(3, columns, 10).count("█") > 10


def test_the_ranks_after_the_wanted_one_follow() -> None:
    assert "10 Q A 3" in drawn(3, 11, 5)
    assert "then 10 Q A 3 5 7" in drawn(3, 24, 10)


def test_the_digit_the_step_and_the_top_card_are_shown() -> None:
    text = drawn(3, 11, 5)
    assert "2  by 2" in text
    assert "6♠" in text


@pytest.mark.parametrize("size", [(11, 5), (19, 10), (24, 11)])
def test_a_complete_foundation_says_so(size: tuple[int, int]) -> None:
    text = drawn(13, *size)
    assert "COMPLETE" in text or "done" in text
    assert "►" not in text


def test_advice_stands_in_the_lower_edge() -> None:
    assert " 8♦, b fit " in drawn(3, 19, 10, advice=("8♦, b fit", "8♦ b")).splitlines()[-1]


def test_advice_is_shorter_where_there_is_less_room() -> None:
    assert "8♦ b" in drawn(3, 9, 5, advice=("8♦, b fit", "8♦ b")).splitlines()[-1]


def test_a_lit_foundation_has_another_frame_not_only_another_colour() -> None:
    plain, lit = (
        foundation_lines(FoundationState(0, Foundation(1, 1), (), is_lit=is_lit), 11, 5, STYLE)
        for is_lit in (False, True)
    )
    assert plain[0].plain != lit[0].plain


def test_a_bar_has_a_column_for_each_card() -> None:
    assert progress_bar(5, 13, 13, STYLE).plain == "█████········"
    assert progress_bar(5, 12, 13, ASCII).plain == "#####......."


def test_a_bar_has_half_a_column_for_each_card_where_there_is_less_room() -> None:
    assert progress_bar(5, 13, 7, STYLE).plain == "██▌····"


def test_a_bar_is_two_numbers_where_there_is_no_room() -> None:
    assert progress_bar(5, 13, 6, STYLE).plain == "5/13"


@pytest.mark.parametrize("each", [3, 4])
def test_a_sequence_keeps_its_places_while_the_arrow_moves(each: int) -> None:
    lines = [sequence(Foundation(2, 2), placed, each=each).plain for placed in range(1, 14)]
    assert len({line.replace("►", " ") for line in lines}) == 1
    assert [line.count("►") for line in lines] == [1] * 12 + [0]


@pytest.mark.parametrize("is_ascii", [False, True])
def test_the_figures_of_all_ranks_have_the_same_height_and_differ(is_ascii: bool) -> None:
    for room in ((14, 5), (7, 5), (7, 3)):
        figures = [large_rank(number, *room, is_ascii=is_ascii) for number in range(1, 14)]
        assert len({len(figure) for figure in figures}) == 1
        assert len(set(figures)) == 13 or not figures[0]
        assert all(len(row) <= room[0] for figure in figures for row in figure)


def test_an_unconfirmed_top_card_is_marked_with_a_dot() -> None:
    marked = FoundationState(0, Foundation(1, 1), (Card("AS"),), is_unconfirmed=True)
    assert "A♠." in foundation_lines(marked, 11, 5, STYLE)[1].plain
