"""What screens are made of: places that show lines of text, and draw those again that have changed."""

from collections.abc import Sequence

from rich.segment import Segment
from rich.text import Text
from textual import events
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget


class TextLines(Widget):
    """Lines of text as they are, one to a line of the screen; what does not fit ends with dots.

    Nothing in them is markup, whoever wrote it. Only lines that have changed are rendered and written to the terminal
    again: that is what makes a key press cheap on a large screen.
    """

    def __init__(self, text: Text | str = "", *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._lines = _as_lines(text)

    def show(self, text: Text | str | Sequence[Text]) -> None:
        """Show this from now on."""
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
        """One line, for Textual."""
        width, style = self.content_size.width, self.rich_style
        if y >= len(self._lines):
            return Strip.blank(width, style)
        # A text renders its spans alone; as part of another one its own style is a span too.
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
    """Text that goes on in the next line where the line ends. Nothing in it is markup, whoever wrote it."""

    def __init__(self, text: Text | str = "", *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._text = text if isinstance(text, Text) else Text(text)

    def show(self, text: Text | Sequence[Text]) -> None:
        """Show this from now on."""
        made = text if isinstance(text, Text) else Text("\n").join(text)
        if not _is_same(made, self._text):
            self._text = made
            self.refresh()

    def render(self) -> Text:
        """The text, for Textual."""
        return self._text


class TableSlot(TextLines):
    """A part of the table that can be clicked: the stock, a pile, a foundation."""

    class Clicked(Message):
        """Somebody clicked here."""

        def __init__(self, place: "TableSlot") -> None:
            super().__init__()
            self.place = place

    def __init__(self, kind: str, number: int = 0) -> None:
        super().__init__(id=f"{kind}-{number}", classes=kind)
        self.kind = kind
        self.number = number

    def on_click(self, event: events.Click) -> None:
        """Tell the screen."""
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
