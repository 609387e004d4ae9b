"""Lines of text for Textual: drawn the short way, a line looks as Rich draws it."""

from hypothesis import given
from hypothesis import strategies as st
from rich.segment import Segment
from rich.style import Style
from rich.text import Span, Text

from fairest_cli.tui.widgets.text_lines import CONSOLE, _strip

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
