"""Piles and the stock: every card is read or counted, the top stands out, and a card that stays keeps its place."""

import re
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.text import Text

from fairest_cli.tui.board.card_style import CardStyle
from fairest_cli.tui.board.pile_cards import PileState, StockState, fan, peek_lines_of, pile_lines, stock_lines
from fairest_cli.tui.settings import Colours
from fairest_protocol.calculation.cards import Card, full_deck, rank, rank_name

STYLE = CardStyle()
ASCII = CardStyle(Colours.MONOCHROME, is_ascii=True)
PILE = full_deck(1)
RANK = re.compile(r"(?<![\w+])(10|[2-9AJQK])(?=[♣♦♥♠CDHS\s]|$)")


def read_ranks(text: str) -> list[str]:
    return RANK.findall(text)


def drawn(cards: tuple[Card, ...], columns: int, lines: int, style: CardStyle = STYLE, peek_lines: int = 1) -> str:
    return "\n".join(line.plain for line in fan(PileState("a", cards, peek_lines), columns, lines, style))


@given(
    cards=st.lists(st.sampled_from(full_deck(2)), min_size=1, max_size=40),
    columns=st.integers(3, 66),
    lines=st.integers(2, 45),
    peek_lines=st.integers(1, 4),
    style=st.sampled_from([STYLE, ASCII]),
)
def test_every_card_is_read_in_its_order_or_counted(
    cards: list[Card], columns: int, lines: int, peek_lines: int, style: CardStyle
) -> None:
    text = drawn(tuple(cards), columns, lines, style, peek_lines)
    counted = re.match(r"\+(\d+)", text)
    hidden = int(counted[1]) if counted else 0
    names = [rank_name(rank(card)) for card in cards[hidden:]]
    assert read_ranks(text)[: len(names)] == names
    assert len(text.splitlines()) <= lines
    assert max(map(len, text.splitlines())) <= columns


def test_one_more_card_moves_no_other() -> None:
    piles = {count: drawn(PILE[:count], 15, 14).splitlines() for count in range(1, 14)}
    moved = [
        (count, line)
        for count in range(1, 13)
        for line in range(count)
        if piles[count][line].strip() != piles[count + 1][line].strip()
    ]
    assert moved == []


@pytest.mark.parametrize("count", [2, 8, 14, 30])
def test_the_top_card_lies_over_the_whole_width_below_all_others(count: int) -> None:
    top, lines = PILE[count - 1], fan(PileState("a", PILE[:count]), 16, 14, STYLE)
    named = [line for line in lines if line.plain.strip() == STYLE.name(top)]
    assert named[0].cell_len == 16
    assert lines.index(named[0]) == max(index for index, line in enumerate(lines) if read_ranks(line.plain)) - (
        len(named) > 1
    ) * (len(lines) - 1 - lines.index(named[0]))


def test_covered_cards_show_more_of_themselves_where_there_is_room() -> None:
    assert [peek_lines_of(8, 15, lines) for lines in (14, 30, 45)] == [1, 2, 4]


def test_a_pile_that_is_too_large_begins_with_the_number_of_hidden_cards() -> None:
    text = drawn(PILE, 8, 10)
    assert text.startswith("+34")
    assert text.split()[-1] == STYLE.name(PILE[-1])


def test_an_empty_pile_is_an_outlined_slot() -> None:
    assert drawn((), 8, 10).startswith("╭──────╮")
    tray = pile_lines(PileState("a", ()), 12, 20, STYLE, has_tray=True)
    assert tray[0].plain.startswith("╭─ a  - ")
    assert len(tray) == 20


def test_a_head_has_the_letter_the_count_and_the_advice() -> None:
    state = PileState("b", PILE[:5], advice=("fits 3: Shift+B", "fits 3", "►3"))
    heads = [pile_lines(state, columns, 10, STYLE, has_tray=False)[0].plain.strip() for columns in (24, 13, 9)]
    assert heads == ["b  5 fits 3: Shift+B", "b  5 fits 3", "b  5 ►3"]


def test_a_picked_up_pile_and_a_lit_one_have_a_sign() -> None:
    heads = [
        pile_lines(PileState("b", PILE[:5], is_picked=picked, is_lit=lit), 13, 10, STYLE, has_tray=False)[0].plain[0]
        for picked, lit in ((False, False), (True, False), (False, True))
    ]
    assert heads == [" ", "▲", "*"]


def test_a_dead_card_lies_without_paper_and_has_a_sign() -> None:
    state = PileState("a", PILE[:3], dead=frozenset(PILE[:1]))
    dead, alive, *_ = fan(state, 12, 10, STYLE)
    assert dead.plain.strip() == "A♣ x"
    assert "on #" not in str(dead.style)
    assert alive.plain.strip() == "2♣"
    assert "on #" in str(alive.style)


def test_an_unconfirmed_card_is_marked_with_a_dot() -> None:
    assert STYLE.chip(PILE[0], is_unconfirmed=True).plain == "  A♣."
    state = PileState("a", PILE[:1], unconfirmed=frozenset(PILE[:1]))
    assert "A♣." in pile_lines(state, 12, 10, STYLE, has_tray=False)[1].plain


def stock(columns: int, lines: int, *, is_empty: bool = False, has_tray: bool = False) -> str:
    state = StockState(None if is_empty else Card("JC"), 0 if is_empty else 18, 1, (("fits nothing:", "no fit:"),))
    return "\n".join(line.plain for line in stock_lines(state, columns, lines, STYLE, has_tray=has_tray))


def test_the_stock_shows_the_turned_card_its_advice_and_the_cards_to_come() -> None:
    text = stock(16, 12)
    assert [word in text for word in ("J♣", "fits nothing:", "18 to come", "1 redeal")] == [True] * 4


def test_the_stock_says_the_same_in_shorter_words_where_there_is_less_room() -> None:
    text = stock(8, 9)
    assert [word in text for word in ("J♣", "no fit:", "18 left")] == [True] * 3


def test_the_stock_lies_face_down_below_the_turned_card_where_there_is_room() -> None:
    assert "░░░░" in stock(16, 30, has_tray=True)
    assert "░" not in stock(16, 12)


def test_an_empty_stock_is_an_outlined_slot() -> None:
    assert "╭─────────────╮" in stock(16, 12, is_empty=True)
    assert "stock empty" in stock(16, 12, is_empty=True)


def ascii_cards() -> list[tuple[Colours, int, Text]]:
    """Return the lines of faces, backs and slots in all colours and sizes, with their colours and columns."""
    drawn_at: list[tuple[Colours, int, Text]] = []
    for colours, columns, lines in product(Colours, (3, 4, 5, 9, 15, 30), (1, 2, 3, 5, 7, 11)):
        style = CardStyle(colours, is_ascii=True)
        faces = [*style.card(PILE[9], columns, lines), *style.back(columns, lines), *style.slot(columns, lines)]
        drawn_at += [(colours, columns, line) for line in faces]
    return drawn_at


def test_an_ascii_card_is_ascii_in_all_colours_and_sizes() -> None:
    others = [(colours, columns, line.plain) for colours, columns, line in ascii_cards() if not line.plain.isascii()]
    assert others == []


def test_an_ascii_card_fills_its_width_in_all_colours_and_sizes() -> None:
    others = [(colours, columns, line.plain) for colours, columns, line in ascii_cards() if line.cell_len != columns]
    assert others == []
