"""Charts of measured figures are SVG, and are drawn only of what was measured."""

from xml.etree import ElementTree

import pytest

from benchmarks.drawing import CHARTS, Bar, Chart, draw, drawings
from benchmarks.figure import written_down

SVG = "{http://www.w3.org/2000/svg}"
CHART = Chart(
    "cost", 'Cost of "a" < b', (Bar("ours", (("a", "race"), ("b", "redis"))), Bar("echo", (("c", "control"),)))
)


def widths(svg: str) -> list[float]:
    return [float(bar.attrib["width"]) for bar in ElementTree.fromstring(svg).iter(f"{SVG}rect")]


def test_bars_are_as_long_as_their_figures() -> None:
    first, second, third = widths(draw(CHART, {"a": 10, "b": 5, "c": 20}))
    assert (first / third, second / third) == pytest.approx((0.5, 0.25), abs=0.01)


def test_a_chart_says_what_it_shows() -> None:
    root = ElementTree.fromstring(draw(CHART, {"a": 10, "b": 5, "c": 20}))
    assert [text.text for text in root.iter(f"{SVG}text")] == ['Cost of "a" < b', "ours", "10 + 5", "echo", "20"]


def test_a_spread_is_drawn_over_its_bar() -> None:
    root = ElementTree.fromstring(draw(CHART, {"a": 10, "b": 5, "c": 20, "c_lowest": 15, "c_highest": 40}))
    assert len(list(root.iter(f"{SVG}path"))) == 1


def test_a_chart_of_which_a_figure_was_not_measured_is_not_drawn() -> None:
    assert drawings([written_down("move_us", 50.0, "us")]) == {}


def test_a_chart_whose_figures_were_measured_is_drawn() -> None:
    counts = ("10", "1000", "9900", "9900_handwritten", "9900_node")
    figures = [written_down(f"room_scaling_{rooms}", 1.0, "") for rooms in counts]
    assert list(drawings(figures)) == ["cost_by_rooms"]


def test_no_two_charts_have_the_same_file() -> None:
    assert len({chart.name for chart in CHARTS}) == len(CHARTS)
