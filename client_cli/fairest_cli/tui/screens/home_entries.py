"""The entries of the home screen in their groups: in one list, or from 80 columns on in columns side by side."""

from collections.abc import Sequence
from typing import ClassVar, Final

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message

from fairest_cli.tui.board.card_style import QUIET
from fairest_cli.tui.widgets.choice_list import Choice, ChoiceList
from fairest_cli.tui.widgets.text_lines import TextLines
from fairest_protocol.value import Value


class Group(Value):
    """Entries of one kind below a title."""

    title: str
    entries: tuple[Choice, ...]


RACE: Final = Group(
    "RACE",
    (
        Choice("bot", "Race a bot", key="b", note="on this machine"),
        Choice("quick", "Find an opponent", key="f", note="anybody who waits"),
        Choice("create", "Create a room", key="c", note="for a friend"),
        Choice("join", "Join a room", key="j", note="by its code"),
        Choice("daily", "Daily deal", key="y", note="once a day"),
        Choice("tournament", "Tournaments", key="k", note="one deal for all"),
        Choice("training", "Training deal", key="g", note="against a ghost"),
    ),
)
LEARN: Final = Group(
    "LEARN",
    (
        Choice("practice", "Practice", key="p", note="alone, with undo"),
        Choice("lost", "My last lost deal", key="d", note="to practise it"),
        Choice("tutorial", "Tutorial", key="t", note="a first minute"),
        Choice("keys", "How to play", key="?", note="rules, every key"),
        Choice("rules", "Rules of variants", key="u", note="a card for each"),
    ),
)
WATCH: Final = Group(
    "WATCH",
    (
        Choice("lobby", "Lobby", key="l", note="rooms of the server"),
        Choice("tv", "On TV", key="o", note="the best match now"),
        Choice("watch", "Watch a room", key="w", note="by its code"),
    ),
)
LOOK_BACK: Final = Group(
    "LOOK BACK",
    (
        Choice("history", "My past matches", key="m", note="bests and streaks"),
        Choice("replay", "Replay a match", key="r", note="from its record"),
        Choice("verify", "Verify a record", key="v", note="deal, moves, result"),
        Choice("leaderboard", "Ratings", key="a", note="leaderboard, and yours"),
    ),
)
PROGRAM: Final = Group(
    "PROGRAM",
    (
        Choice("settings", "Settings", key="s", note="name, server, keys"),
        Choice("doctor", "Doctor", key="x", note="checks this machine"),
        Choice("quit", "Quit", key="q", note="back to the shell"),
    ),
)
COLUMNS: Final = ((RACE,), (LEARN, PROGRAM), (WATCH, LOOK_BACK))
ENTRIES: Final = tuple(entry for group in (RACE, LEARN, WATCH, LOOK_BACK, PROGRAM) for entry in group.entries)
LIST_COLUMNS: Final = 56
"""The widest list, which stands in the middle of the terminal."""
COLUMNS_LINES: Final = max(sum(1 + len(group.entries) for group in groups) + len(groups) - 1 for groups in COLUMNS)
"""The lines of the highest column: titles, entries, and blank lines between groups."""
COLUMNS_WIDTH: Final = 78
"""The least columns of the terminal in which the entries stand side by side, without their notes."""
NOTED_WIDTH: Final = 160
"""From this width on, each entry has room for its note beside it."""


class EntryColumn(ChoiceList):
    """One of the columns; Left and Right lead to the others."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right", "go(1)", "Next column", show=False),
        Binding("left", "go(-1)", "Previous column", show=False),
    ]

    class Left(Message):
        """Posted when the player leaves the column to the right, or with -1 to the left."""

        def __init__(self, column: "EntryColumn", steps: int) -> None:
            super().__init__()
            self.column = column
            self.steps = steps

    def __init__(self, groups: Sequence[Group]) -> None:
        rows: list[Choice | str] = []
        for group in groups:
            rows += ([""] if rows else []) + [group.title, *group.entries]
        super().__init__(rows)
        self.highlighted = None

    def action_go(self, steps: int) -> None:
        """Leave the column."""
        self.post_message(self.Left(self, steps))

    def enter_at(self, row: int) -> None:
        """Take the keyboard at the entry nearest to a row."""
        rows = [number for number in range(self.option_count) if not self.get_option_at_index(number).disabled]
        self.highlighted = min(rows, key=lambda number: abs(number - row))
        self.focus()


class EntryColumns(Horizontal):
    """The groups side by side. One column at a time has a highlighted entry."""

    def compose(self) -> ComposeResult:
        """Yield the columns."""
        for groups in COLUMNS:
            yield EntryColumn(groups)

    @property
    def note(self) -> str:
        """The note of the highlighted entry."""
        return "".join(column.note for column in self.query(EntryColumn))

    def enter(self) -> None:
        """Take the keyboard where it was last, or at the first entry."""
        columns = [*self.query(EntryColumn)]
        column = next((each for each in columns if each.highlighted is not None), columns[0])
        column.enter_at(column.highlighted or 0)

    def on_entry_column_left(self, message: EntryColumn.Left) -> None:
        """Go to the column beside, round and round, to the entry in the same row."""
        message.stop()
        columns = [*self.query(EntryColumn)]
        beside = columns[(columns.index(message.column) + message.steps) % len(columns)]
        beside.enter_at(message.column.highlighted or 0)

    def on_descendant_focus(self) -> None:
        """Take the highlight from the columns without the keyboard."""
        for column in self.query(EntryColumn):
            if not column.has_focus:
                column.highlighted = None


class HomeEntries(Vertical):
    """The entries as one list or side by side, as the width allows."""

    def compose(self) -> ComposeResult:
        """Yield the list, the columns, and the note of the entry that is highlighted in them."""
        yield ChoiceList(ENTRIES, id="entries")
        yield EntryColumns(id="entry-columns")
        yield TextLines(id="entry-note")

    def fit_into(self, width: int, lines: int, *, has_blank: bool) -> None:
        """Show the entries in a terminal of this width, in at most `lines` lines; the keyboard goes with them.

        `has_blank` puts a blank line between the columns and the note.
        """
        entries, columns, note = self.query_one("#entries", ChoiceList), self.query_one(EntryColumns), self._note
        columns.display = note.display = width >= COLUMNS_WIDTH
        entries.display = not columns.display
        columns.set_class(width >= NOTED_WIDTH, "-noted")
        note.styles.margin = (int(has_blank), 0, 0, 0)
        side = max(1, (width - LIST_COLUMNS) // 2)
        entries.styles.margin = (0, side, 0, side)
        entries.styles.max_height = lines
        if entries.display:
            entries.focus()
        elif not columns.has_focus_within:
            columns.enter()

    @property
    def _note(self) -> TextLines:
        return self.query_one("#entry-note", TextLines)

    def on_option_list_option_highlighted(self) -> None:
        """Show the note of the entry below the columns where they have no room for it."""
        columns = self.query_one(EntryColumns)
        self._note.update(Text("" if columns.has_class("-noted") else columns.note, QUIET))


def lines_at(width: int) -> int:
    """Return the lines of all entries in a terminal of this width, with the note below the columns."""
    return COLUMNS_LINES + 1 if width >= COLUMNS_WIDTH else len(ENTRIES)
