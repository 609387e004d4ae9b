"""A whole board as lines: at every size and in every variant, nothing is wider than its place and nothing is lost."""

import re
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.text import Text

from fairest_cli.tui.board.big_room_code import in_large_letters
from fairest_cli.tui.board.board_lines import (
    TableLook,
    draw_sequences,
    draw_slots,
    foundation_row,
    join_slots,
    side_lines,
)
from fairest_cli.tui.board.card_style import CardStyle, fitted, longest_fit
from fairest_cli.tui.board.layout import race_layout
from fairest_cli.tui.board.progress_chart import draw_chart
from fairest_cli.tui.board.side_board import head_columns
from fairest_cli.tui.board.standing import describe_other
from fairest_cli.tui.settings import Colours, Keys
from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.cards import rank_name
from fairest_protocol.messages.options import RoomOptions
from tests.client.tui.board.test_foundation_cards import shows_wanted
from tests.support import staged
from tests.support.random_boards import random_board

STYLE = CardStyle()
styles = st.builds(CardStyle, st.sampled_from(Colours), st.booleans())
sizes = st.tuples(st.integers(50, 240), st.integers(12, 67))
seeds = st.integers(0, 10_000)


@given(seed=seeds, size=sizes, style=styles, keys=st.sampled_from(Keys), hints=st.booleans(), dims=st.booleans())
def test_every_slot_fits_into_its_place(
    seed: int, size: tuple[int, int], style: CardStyle, keys: Keys, hints: bool, dims: bool
) -> None:
    board = random_board(seed)
    layout = race_layout(*size, len(board.layout), len(board.piles)).own
    drawn = draw_slots(board, layout, TableLook(style, keys, hints, dims))
    for rect, lines in zip(layout.slots, drawn, strict=True):
        assert len(lines) <= rect.lines
        assert all(line.cell_len <= rect.columns for line in lines)
        assert not style.is_ascii or all(line.plain.isascii() for line in lines)


@given(seed=seeds, size=sizes, style=styles)
def test_the_wanted_rank_of_every_foundation_is_shown(seed: int, size: tuple[int, int], style: CardStyle) -> None:
    board = random_board(seed)
    layout = race_layout(*size, len(board.layout), len(board.piles)).own
    drawn = draw_slots(board, layout, TableLook(style))
    for wanted, lines in zip(board.next_ranks(), drawn, strict=False):
        text = "\n".join(line.plain for line in lines)
        assert "COMPLETE" in text or "done" in text if wanted is None else shows_wanted(text, wanted, style)


@given(seed=seeds, size=sizes, style=styles)
def test_the_number_of_cards_and_the_top_card_of_every_pile_are_shown(
    seed: int, size: tuple[int, int], style: CardStyle
) -> None:
    board = random_board(seed)
    layout = race_layout(*size, len(board.layout), len(board.piles)).own
    drawn = draw_slots(board, layout, TableLook(style))[len(board.layout) + 1 :]
    for pile, lines in zip(board.piles, drawn, strict=True):
        assert re.search(rf"\b{len(pile)}\b" if pile else "-", lines[0].plain)
        name = style.name(pile[-1]) if pile else ""
        assert not pile or any(line.plain.strip(" │|").strip() in (name, name[:-1]) for line in lines)


@given(seed=seeds, columns=st.integers(20, 120), lines=st.integers(1, 60), style=styles)
def test_a_side_fits_into_its_part_of_the_screen(seed: int, columns: int, lines: int, style: CardStyle) -> None:
    drawn = side_lines(Text(" ann"), random_board(seed), columns, lines, style)
    assert len(drawn) <= lines
    assert all(line.cell_len == columns for line in drawn)
    assert not style.is_ascii or all(line.plain.isascii() for line in drawn)


@pytest.mark.parametrize("size", [(50, 1), (50, 2), (36, 6), (40, 20), (60, 34)])
def test_a_side_shows_the_wanted_ranks_at_every_size(size: tuple[int, int]) -> None:
    board = staged.racing((30, 30)).model().board
    assert board is not None
    text = "\n".join(line.plain for line in side_lines(Text(" ann"), board, *size, STYLE))
    assert all(shows_wanted(text, wanted, STYLE) for wanted in board.next_ranks() if wanted)


def test_a_name_of_wide_characters_shifts_no_column() -> None:
    board = staged.racing().model().board
    assert board is not None
    lines = side_lines(Text(" 日本語の名前 11 of 52 shown"), board, 44, 30, STYLE)
    assert {line.cell_len for line in lines} == {44}
    assert fitted(Text("日本語"), 5).cell_len == 5


def test_slots_put_together_stand_where_they_stand_alone() -> None:
    board = staged.racing().model().board
    assert board is not None
    layout = race_layout(80, 21, 4, 4).own
    slots = draw_slots(board, layout, TableLook(STYLE))
    joined = join_slots(slots, layout, 80, 21)
    for rect, lines in zip(layout.slots, slots, strict=True):
        for offset, line in enumerate(lines):
            assert joined[rect.y + offset].plain[rect.x :].startswith(line.plain)


def test_the_same_board_is_drawn_once() -> None:
    board = staged.racing().model().board
    assert board is not None
    layout = race_layout(200, 57, 4, 4).own
    first, second = (draw_slots(board, layout, TableLook(STYLE)) for _ in range(2))
    assert all(one is other for one, other in zip(first, second, strict=True))


@pytest.mark.parametrize(("columns", "rules"), [(50, "classic"), (50, "senior"), (66, "reverse"), (66, "betsy-ross")])
def test_the_whole_sequences_fit_and_mark_what_is_wanted(columns: int, rules: str) -> None:
    board = staged.racing((30, 30), RoomOptions(rules=rules)).model().board
    assert board is not None
    lines = draw_sequences(board, columns, len(board.layout) + 2, STYLE)
    assert all(line.cell_len <= columns for line in lines)
    for wanted, foundation, line in zip(board.next_ranks(), board.layout, lines[1:], strict=False):
        assert wanted is None or f"►{rank_name(wanted)} " in line.plain
        assert re.findall(r"10|[2-9AJQK]", line.plain)[-foundation.length :] == [
            rank_name(number) for number in foundation.sequence()
        ]


def test_a_foundation_of_the_countdown_fits_into_62_columns() -> None:
    board = staged.racing().model().board
    assert board is not None
    assert {foundation_row(number, board, STYLE).cell_len for number in range(4)} == {64}


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


def has_whole_state(board: Board, lines: int) -> bool:
    """Return whether the first line of a side of 50 columns has the state of the other player, uncut."""
    state = describe_other("bob", 16, 52, 13, has_stopped=True, is_away=False)
    head = longest_fit(state, head_columns(board, 50, lines, STYLE) - 1)
    return bool(head) and f" {head} " in side_lines(Text(f" {head} "), board, 50, lines, STYLE)[0].plain


def test_the_state_of_the_other_player_is_not_cut_where_the_wanted_ranks_stand_beside_it() -> None:
    cut = [case for case in product(range(8), (1, 2)) if not has_whole_state(random_board(case[0]), case[1])]
    assert cut == []
