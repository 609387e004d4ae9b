"""The widgets that screens are made of: lines of text that redraw only what has changed."""

from collections.abc import Sequence

from rich.segment import Segment
from rich.text import Text
from textual import events
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget


class TextLines(Widget):
    """Shows each line of its text on one line of the screen; a line that is too long ends with dots.

    Nothing in the text is taken as markup, even if a server wrote it. Only lines that have changed are rendered and
    written to the terminal again, which keeps a key press cheap on a large screen.
    """

    def __init__(self, text: Text | str = "", *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._lines = _as_lines(text)

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
            self.refresh(Region(0, changed[0], self.size.width, changed[-1] + 1 - changed[0]))

    def render_line(self, y: int) -> Strip:
        """Return line `y` for Textual, padded to the width and aligned as the styles say."""
        width, style = self.content_size.width, self.rich_style
        if y >= len(self._lines):
            return Strip.blank(width, style)
        # `Text.render` ignores the style of the text itself; appended to another text, that style becomes a span.
        text = Text().append_text(self._lines[y])
        text.truncate(width, overflow="ellipsis")
        segments = Segment.apply_style(text.render(self.app.console), style)
        room = width - text.cell_len
        left = {"center": room // 2, "right": room}.get(self.styles.text_align, 0)
        strip = Strip([Segment(" " * left, style), *segments])
        return strip.adjust_cell_length(width, style)

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


def _is_same(one: Text, other: Text) -> bool:
    return one.plain == other.plain and one.spans == other.spans and one.style == other.style
