"""The head of a race: bars of one scale, the lead between them, and the last cards, at every width."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairest_cli.tui.board.card_style import WANTED, CardStyle
from fairest_cli.tui.board.lead_bar import COLOUR_OF_LATE, RaceHead, lead_bar

STYLE = CardStyle()


def head(ours: int, theirs: int, **more: object) -> RaceHead:
    return RaceHead(("ann", "house-bot"), (ours, theirs), 52, "19:08", 1148.0, **more)  # type: ignore[arg-type]


@given(
    st.integers(50, 220), st.integers(0, 52), st.integers(0, 52), st.text("abc", min_size=1, max_size=24), st.booleans()
)
def test_the_head_fills_its_width_exactly(columns: int, ours: int, theirs: int, name: str, is_ascii: bool) -> None:
    shown = lead_bar(RaceHead((name, "bob"), (ours, theirs), 52, "119:08", 9.0), columns, CardStyle(is_ascii=is_ascii))
    assert shown.cell_len == columns


@given(st.integers(50, 220), st.integers(0, 52), st.integers(0, 52))
def test_more_cards_never_have_the_shorter_bar(columns: int, ours: int, theirs: int) -> None:
    shown = lead_bar(head(ours, theirs), columns, STYLE).plain
    first, second = (2 * shown.count("█", *part) + shown.count(half, *part) for half, part in halves(columns))
    assert (first >= second) if ours >= theirs else (first <= second)


def halves(columns: int) -> list[tuple[str, tuple[int, int]]]:
    return [("▌", (0, columns // 2)), ("▐", (columns // 2, columns))]


def test_the_lead_is_named_at_every_size() -> None:
    leads = {(13, 3): "+10", (10, 13): "-3", (8, 8): "even"}
    nameless = [
        (columns, lead)
        for columns, (counts, lead) in product((50, 60, 80, 120, 200), leads.items())
        if f" {lead} " not in lead_bar(head(*counts), columns, STYLE).plain
    ]
    assert nameless == []


@pytest.mark.parametrize("columns", [50, 60, 80, 120, 200])
def test_the_clock_stands_at_the_same_place_whatever_the_counts(columns: int) -> None:
    places = {
        lead_bar(head(ours, theirs), columns, STYLE).plain.index("19:08") for ours in (9, 52) for theirs in (3, 52)
    }
    assert max(places) - min(places) <= 1


def test_the_last_five_cards_are_counted_down() -> None:
    assert "5 to go" in lead_bar(head(47, 40), 120, STYLE).plain
    assert "46 of 52" in lead_bar(head(46, 40), 120, STYLE).plain


def test_a_race_that_is_over_counts_nothing_down() -> None:
    assert "to go" not in lead_bar(head(49, 40, is_over=True), 120, STYLE).plain


def test_a_change_of_lead_flashes() -> None:
    styles = {str(span.style) for span in lead_bar(head(9, 8, is_flashing=True), 80, STYLE).spans}
    assert WANTED in styles
    assert WANTED not in {str(span.style) for span in lead_bar(head(9, 8), 80, STYLE).spans}


def test_the_clock_is_red_in_the_last_minute() -> None:
    late = RaceHead(("ann", "bob"), (1, 1), 52, "0:59", 59.0)
    assert any(COLOUR_OF_LATE in str(span.style) for span in lead_bar(late, 80, STYLE).spans)


def test_ascii_bars_have_no_other_signs() -> None:
    assert lead_bar(head(20, 11), 80, CardStyle(is_ascii=True)).plain.isascii()


def test_long_names_are_cut_before_the_bars() -> None:
    shown = lead_bar(RaceHead(("a" * 24, "b" * 24), (20, 11), 52, "1:00", 60.0), 50, STYLE).plain
    assert shown.count("█") + shown.count("·") + shown.count("▌") + shown.count("▐") >= 16
