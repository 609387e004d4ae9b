"""The widgets that screens are made of: lines of text that redraw only what has changed."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from rich.cells import cell_len
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from rich.text import Span, Text
from textual import events
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

CONSOLE: Final = Console()
"""Knows the styles by their names; nothing is printed on it."""


class TextLines(Widget):
    """Shows each line of its text on one line of the screen; a line that is too long ends with dots.

    Nothing in the text is taken as markup, even if a server wrote it. Only lines that have changed are rendered and
    written to the terminal again, which keeps a key press cheap on a large screen.
    """

    def __init__(self, text: Text | str = "", *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._lines = _as_lines(text)
        self._look: tuple[object, ...] = ()
        """All that the lines in `_strips` depend on besides their text."""
        self._strips: dict[int, Strip] = {}
        """The lines as they were drawn last, by their numbers."""

    def update(self, text: Text | str | Sequence[Text]) -> None:
        """Show `text` from now on."""
        before, self._lines = self._lines, _as_lines(text)
        most = max(len(before), len(self._lines))
        changed = [
            line
            for line in range(most)
            if line >= len(before) or line >= len(self._lines) or not _is_same(before[line], self._lines[line])
        ]
        if changed:
            for line in changed:
                self._strips.pop(line, None)
            self.refresh(Region(0, changed[0], self.size.width, changed[-1] + 1 - changed[0]))

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return the lines of `crop` for Textual, each made once for the same text, width and look.

        Without a border, a padding, a tint and an opacity, nothing is laid over what `render_line` returns. Then all
        that Textual looks up for each line is looked up here once for all of them.
        """
        styles = self.styles
        if styles.gutter or styles.tint.a or self.opacity != 1:
            return super().render_lines(crop)
        filters, (_, background) = self.get_line_filters(), self.background_colors
        width, style, align = self.size.width, self.rich_style, styles.text_align
        look = (width, style, align, background, tuple(filters))
        if look != self._look:
            self._look, self._strips = look, {}
        strips = []
        for y in crop.line_range:
            strip = self._strips.get(y)
            if strip is None:
                strip = self._line(y, width, style, align)
                for each in filters:
                    strip = strip.apply_filter(each, background)
                self._strips[y] = strip
            strips.append(strip)
        if crop.column_span == (0, width):
            return strips
        return [strip.crop(*crop.column_span) for strip in strips]

    def render_line(self, y: int) -> Strip:
        """Return line `y` for Textual, padded to the width and aligned as the styles say."""
        return self._line(y, self.content_size.width, self.rich_style, self.styles.text_align)

    def _line(self, y: int, width: int, style: Style, align: str) -> Strip:
        if y >= len(self._lines):
            return _blank(width, style)
        line = self._lines[y]
        return _strip(line.plain, tuple(line.spans), line.style, width, style, align)

    @property
    def plain(self) -> str:
        """The text without its styles."""
        return "\n".join(line.plain for line in self._lines)


class Paragraph(Widget):
    """Shows text that wraps. Nothing in it is taken as markup, even if a server wrote it."""

    def __init__(self, text: Text | str = "", *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._text = text if isinstance(text, Text) else Text(text)

    def update(self, text: Text | Sequence[Text]) -> None:
        """Show `text` from now on."""
        joined = text if isinstance(text, Text) else Text("\n").join(text)
        if not _is_same(joined, self._text):
            self._text = joined
            self.refresh()

    def render(self) -> Text:
        """Return the text for Textual to wrap."""
        return self._text


class TableSlot(TextLines):
    """A part of the table that can be clicked. `kind` is `stock`, `pile` or `foundation`, each counted from 0."""

    class Clicked(Message):
        """Posted when a slot is clicked."""

        def __init__(self, slot: "TableSlot") -> None:
            super().__init__()
            self.slot = slot

    def __init__(self, kind: str, number: int = 0) -> None:
        super().__init__(id=f"{kind}-{number}", classes=kind)
        self.kind = kind
        self.number = number

    def on_click(self, event: events.Click) -> None:
        """Post `Clicked` to the screen."""
        event.stop()
        self.post_message(self.Clicked(self))


def _as_lines(text: Text | str | Sequence[Text]) -> list[Text]:
    if isinstance(text, str):
        return [Text(text)]
    if isinstance(text, Text):
        return list(text.split("\n", allow_blank=True))
    return list(text)


@lru_cache(maxsize=256)
def _blank(width: int, style: Style) -> Strip:
    return Strip.blank(width, style)


@lru_cache(maxsize=4096)
def _strip(plain: str, spans: tuple[Span, ...], own: str | Style, width: int, style: Style, align: str) -> Strip:
    """Return a line of text for Textual. Most lines of a large table equal others, or what they were before."""
    parts = _plain_segments(plain, spans, own, style) if cell_len(plain) <= width else None
    if parts is None:
        # `Text.render` ignores the style of the text itself; appended to another text, that style becomes a span.
        text = Text().append_text(Text(plain, own, spans=[*spans]))
        text.truncate(width, overflow="ellipsis")
        parts = list(Segment.apply_style(text.render(CONSOLE), style))
    room = width - sum(part.cell_length for part in parts)
    left = {"center": room // 2, "right": room}.get(align, 0)
    return Strip([Segment(" " * left, style), *parts] if left else parts).adjust_cell_length(width, style)


def _plain_segments(plain: str, spans: tuple[Span, ...], own: str | Style, style: Style) -> list[Segment] | None:
    """Return the segments of a text whose spans follow one another, or None if they overlap."""
    base = style + _style(own)
    segments, end = [], 0
    for span in sorted(spans):
        if span.start < end:
            return None
        if span.start > end:
            segments.append(Segment(plain[end : span.start], base))
        segments.append(Segment(plain[span.start : span.end], base + _style(span.style)))
        end = span.end
    if end < len(plain):
        segments.append(Segment(plain[end:], base))
    return segments


def _style(name: str | Style) -> Style:
    return name if isinstance(name, Style) else CONSOLE.get_style(name)


def _is_same(one: Text, other: Text) -> bool:
    return one is other or (one.plain == other.plain and one.spans == other.spans and one.style == other.style)
