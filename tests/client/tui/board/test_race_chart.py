"""The chart of a race that is on: two curves up to now, and the ticks ahead of the other board."""

import pytest

from fairest_cli.tui.board.card_style import CardStyle
from fairest_cli.tui.board.progress_chart import STYLES
from fairest_cli.tui.board.race_chart import AHEAD_STYLE, FIRST_SPAN_MS, RaceCurves, race_chart, span_ms, top_of

STYLE, ASCII = CardStyle(), CardStyle(is_ascii=True)
NAMES = ("ann", "bob")
CURVES = RaceCurves(((0, 4), (9000, 9)), ((0, 4), (12000, 6)), ((0, 4), (15000, 12)), 52, 30_000)


def drawn(curves: RaceCurves = CURVES, style: CardStyle = ASCII, columns: int = 60, lines: int = 10) -> list[str]:
    return [line.plain for line in race_chart(curves, NAMES, columns, lines, style)]


@pytest.mark.parametrize("size", [(36, 9), (56, 10), (200, 10), (20, 4)])
def test_the_chart_fills_its_place(size: tuple[int, int]) -> None:
    rows = drawn(columns=size[0], lines=size[1])
    assert len(rows) == size[1]
    assert all(len(row) < size[0] for row in rows)


def test_a_place_that_is_too_small_stays_empty() -> None:
    assert drawn(columns=10) == drawn(lines=3) == []


def test_no_curve_goes_on_into_the_future() -> None:
    half = max(len(row.rstrip()) for row in drawn()[1:])
    assert half <= 4 + (60 - 5) // 2 + 2


def test_the_ticks_ahead_of_the_other_board_are_drawn_differently() -> None:
    assert "." in "".join(row[4:] for row in drawn()[1:])
    styles = {str(span.style) for row in race_chart(CURVES, NAMES, 60, 10, STYLE) for span in row.spans}
    assert {*STYLES, AHEAD_STYLE} <= styles


def test_ticks_that_the_board_has_reached_are_not_drawn_twice() -> None:
    level = RaceCurves(((0, 4),), ((0, 4), (9000, 9)), ((0, 4), (9000, 9)), 52, 30_000)
    assert "." not in "".join(row[4:] for row in drawn(level)[1:])


def test_our_curve_covers_the_other_one() -> None:
    same = RaceCurves(((0, 4), (9000, 9)), ((0, 4), (9000, 9)), ((0, 4),), 52, 30_000)
    assert "2" not in "".join(row[4:] for row in drawn(same)[1:])


def test_the_span_doubles_when_the_race_reaches_the_edge() -> None:
    assert [span_ms(at) for at in (0, FIRST_SPAN_MS, FIRST_SPAN_MS + 1)] == [
        FIRST_SPAN_MS,
        FIRST_SPAN_MS,
        2 * FIRST_SPAN_MS,
    ]


def test_the_scale_grows_with_the_leader_up_to_the_goal() -> None:
    assert [top_of(count, 52) for count in (4, 13, 14, 30, 52, 60)] == [13, 13, 26, 52, 52, 52]


def test_the_names_of_the_curves_stand_above_it() -> None:
    assert "ann" in drawn()[0]
    assert "bob" in drawn()[0]


def test_the_same_column_is_drawn_once() -> None:
    later = RaceCurves(CURVES.ours, CURVES.theirs, CURVES.ticks, 52, CURVES.now_ms + 10)
    assert race_chart(CURVES, NAMES, 60, 10, STYLE) is race_chart(later, NAMES, 60, 10, STYLE)
