"""What screens are made of: places that show text, and are drawn again only when it has changed."""

from collections.abc import Sequence

from rich.text import Text
from textual import events
from textual.message import Message
from textual.widget import Widget


class Picture(Widget):
    """Lines of text as they are. Nothing in them is markup, whoever wrote it."""

    def __init__(self, text: Text | str = "", *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._text = text if isinstance(text, Text) else Text(text)
        self._shown: tuple[object, ...] = ()

    def show(self, text: Text | str | Sequence[Text]) -> None:
        """Show this from now on."""
        made = _as_text(text)
        shown = (made.plain, made.spans, made.style)
        if shown != self._shown:
            self._shown, self._text = shown, made
            self.refresh()

    def render(self) -> Text:
        """The text, for Textual."""
        return self._text

    @property
    def plain(self) -> str:
        """The text without its styles."""
        return self._text.plain


class Place(Picture):
    """A part of the table that can be clicked: the stock, a pile, a foundation."""

    class Clicked(Message):
        """Somebody clicked here."""

        def __init__(self, place: "Place") -> None:
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


def _as_text(text: Text | str | Sequence[Text]) -> Text:
    if isinstance(text, str):
        return Text(text, no_wrap=True)
    if isinstance(text, Text):
        return text
    return Text("\n", no_wrap=True).join(text)
