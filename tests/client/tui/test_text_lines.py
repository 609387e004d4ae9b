"""Lines of text for Textual: drawn the short way, a line looks as Rich draws it."""

from collections.abc import Iterable
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.segment import Segment
from rich.style import Style
from rich.text import Span, Text
from textual.app import App, ComposeResult
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from fairest_cli.tui.widgets.text_lines import CONSOLE, TextLines, _strip

BASE = Style.parse("white on #12352b")
texts = st.text(st.sampled_from("A10♣日 ►"), min_size=1, max_size=12)
names = st.sampled_from(["bold", "red", "on #f5f0e1", "underline", ""])
spans = st.lists(st.builds(Span, st.integers(0, 12), st.integers(0, 12), names), max_size=4)


def letters(segments: list[Segment]) -> list[tuple[str, Style | None]]:
    return [(letter, segment.style) for segment in segments for letter in segment.text]


@given(plain=texts, spans=spans, own=names)
def test_a_line_looks_as_rich_draws_it(plain: str, spans: list[Span], own: str) -> None:
    spans = [span for span in spans if span.start < span.end <= len(plain)]
    text = Text().append_text(Text(plain, own, spans=spans))
    expected = Segment.apply_style(text.render(CONSOLE), BASE)
    assert letters([*_strip(plain, tuple(spans), own, text.cell_len, BASE, "left")]) == letters([*expected])


@given(plain=texts, width=st.integers(1, 20), align=st.sampled_from(["left", "center", "right"]))
def test_a_line_has_the_width_of_its_widget(plain: str, width: int, align: str) -> None:
    assert _strip(plain, (), "", width, BASE, align).cell_length == width


TEXT = (Text("a plain line"), Text.assemble(("A♣ ", "bold red on #f5f0e1"), "wanted"), Text("centred", "on blue"))


class OneWidget(App[None]):
    """A program with one widget of lines."""

    CSS = "#lines { width: 20; height: 5; color: white; background: #12352b; }"

    def compose(self) -> ComposeResult:
        yield TextLines(id="lines")


LOOKS = (
    "text-align: left",
    "text-align: center",
    "tint: red 40%",
    "padding: 0 2",
    "border: round red",
    "opacity: 50%",
)


class WidgetsOfAllLooks(App[None]):
    """A program with a widget of lines for each look, named after its number."""

    CSS = "TextLines { width: 20; height: 5; color: white; background: #12352b; }" + "".join(
        f" #look-{number} {{ {look}; }}" for number, look in enumerate(LOOKS)
    )

    def compose(self) -> ComposeResult:
        for number in range(len(LOOKS)):
            yield TextLines(id=f"look-{number}")


def drawn(strips: Iterable[Strip]) -> list[list[tuple[str, Style | None]]]:
    return [letters([*strip]) for strip in strips]


def the_long_way(lines: TextLines, crop: Region) -> list[Strip]:
    """Return what Textual makes of the lines, border, tint and all."""
    return Widget.render_lines(lines, crop)


@pytest.mark.parametrize("no_colour", [None, "", "1"])
async def test_the_short_way_and_that_of_textual_draw_the_same(
    monkeypatch: pytest.MonkeyPatch, no_colour: str | None
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    if no_colour is not None:
        monkeypatch.setenv("NO_COLOR", no_colour)
    async with WidgetsOfAllLooks().run_test(size=(40, 40)) as pilot:
        widgets = [pilot.app.query_one(f"#look-{number}", TextLines) for number in range(len(LOOKS))]
        for lines in widgets:
            lines.update(TEXT)
        await pilot.pause()
        cases = product(zip(LOOKS, widgets, strict=True), (Region(0, 0, 20, 5), Region(3, 1, 10, 2)))
        others = [
            (look, crop)
            for (look, lines), crop in cases
            if drawn(lines.render_lines(crop)) != drawn(the_long_way(lines, crop))
        ]
        assert others == []


async def test_only_the_line_that_has_changed_is_made_again() -> None:
    async with OneWidget().run_test() as pilot:
        lines = pilot.app.query_one(TextLines)
        lines.update(TEXT)
        before = lines.render_lines(Region(0, 0, 20, 5))
        lines.update([TEXT[0], Text("new"), TEXT[2]])
        after = lines.render_lines(Region(0, 0, 20, 5))
        assert [one is other for one, other in zip(before, after, strict=True)] == [True, False, True, True, True]
        assert after[1].text.rstrip() == "new"


async def test_a_widget_with_another_background_is_drawn_anew() -> None:
    async with OneWidget().run_test() as pilot:
        lines, crop = pilot.app.query_one(TextLines), Region(0, 0, 20, 5)
        lines.update(TEXT)
        lines.render_lines(crop)
        lines.styles.background = "red"
        await pilot.pause()
        assert drawn(lines.render_lines(crop)) == drawn(the_long_way(lines, crop))
