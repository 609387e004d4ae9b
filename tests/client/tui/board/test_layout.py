"""The places of a table: nothing overlaps, nothing is cut, and both boards have their share, at every size."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairest_cli.tui.board.layout import Rect, race_layout, table_layout

columns = st.integers(50, 240)
lines = st.integers(11, 67)
foundations = st.sampled_from([4, 8])
piles = st.integers(1, 8)


def overlap(one: Rect, other: Rect) -> bool:
    return (
        one.x < other.x + other.columns
        and other.x < one.x + one.columns
        and one.y < other.y + other.lines
        and other.y < one.y + one.lines
    )


@given(columns=columns, lines=lines, foundations=foundations, piles=piles, markers=st.booleans(), rival=st.booleans())
def test_no_two_slots_overlap_and_all_are_on_the_screen(
    columns: int, lines: int, foundations: int, piles: int, markers: bool, rival: bool
) -> None:
    layout = race_layout(columns, lines, foundations, piles, has_markers=markers, has_rival=rival)
    rects = [layout.head, layout.side, *layout.own.slots]
    assert not [pair for pair in itertools.combinations(rects, 2) if overlap(*pair)]
    assert all(rect.x >= 0 and rect.x + rect.columns <= columns for rect in rects)
    assert all(rect.y >= 0 and rect.y + rect.lines <= lines for rect in rects)


@given(columns=columns, lines=lines, foundations=foundations, piles=piles)
def test_every_pile_has_a_head_and_two_lines_for_its_top(
    columns: int, lines: int, foundations: int, piles: int
) -> None:
    layout = race_layout(columns, lines, foundations, piles)
    assert all(rect.columns >= 4 and rect.lines >= 3 for rect in layout.own.piles)


@pytest.mark.parametrize("size", [(160, 57), (200, 57), (240, 67)])
def test_from_160_columns_on_both_boards_have_the_same_size(size: tuple[int, int]) -> None:
    layout = race_layout(*size, 4, 4)
    assert layout.side.columns == size[0] - layout.side.x == layout.head.columns
    assert table_layout(layout.side.columns, layout.side.lines - 1, 4, 4) == layout.own.moved(0, -1)


def test_a_player_without_a_rival_keeps_most_of_a_wide_terminal() -> None:
    assert race_layout(200, 57, 4, 4, has_rival=False).side.columns < 60


def test_cards_grow_with_the_terminal() -> None:
    widths = [race_layout(*size, 4, 4).own.piles[0].columns for size in ((50, 13), (60, 17), (80, 21), (200, 57))]
    assert widths == sorted(set(widths))
    heights = [race_layout(*size, 4, 4).own.foundations[0].lines for size in ((80, 21), (120, 37), (200, 57))]
    assert heights == sorted(set(heights))


@pytest.mark.parametrize("size", [(80, 21), (120, 37), (200, 57)])
def test_less_than_a_tenth_of_a_large_table_is_outside_of_all_places(size: tuple[int, int]) -> None:
    layout = race_layout(*size, 4, 4)
    covered = sum(rect.columns * rect.lines for rect in (layout.head, layout.side, layout.chart, *layout.own.slots))
    assert covered > 0.9 * size[0] * size[1]
