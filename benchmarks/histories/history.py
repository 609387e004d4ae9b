"""Histories: every message that a viewer sent and received, on which connection, and when."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

Message = dict[str, Any]


def first_of(view: Message) -> int:
    """Return the position of the first entry of a view."""
    return int(view["position"]) - len(view["entries"]) + 1


@dataclass(frozen=True)
class Event:
    """Something that happened on a connection of a viewer.

    `kind` is `opened`, `sent`, `received` or `closed`; the message of a `closed` holds its `code`. `at_s` is the
    monotonic clock of the machine, the same for all viewers of a run.
    """

    at_s: float
    connection: int
    kind: str
    message: Message = field(default_factory=dict)


@dataclass
class History:
    """All events of one viewer of one room, in order."""

    viewer: str
    events: list[Event] = field(default_factory=list)

    def received(self, kind: str) -> Iterator[Event]:
        """Yield the received messages of a type."""
        return (event for event in self.events if event.kind == "received" and event.message["type"] == kind)


@dataclass
class Run:
    """The histories of one room's viewers, with what was read after its end.

    `records` are the lines of each record. `log` holds the entries of the room's log in Redis, raw: the index, the time
    in ms, and the text of the event; None if it could not be read.
    """

    room: str
    histories: list[History]
    records: list[list[str]] = field(default_factory=list)
    log: list[tuple[int, int, str]] | None = None


def write_run(path: Path, run: Run) -> None:
    """Write a run as JSON, so that it can be checked again."""
    path.write_text(json.dumps(asdict(run)), encoding="utf-8")


def read_run(path: Path) -> Run:
    """Read a run that `write_run` wrote."""
    told = json.loads(path.read_text(encoding="utf-8"))
    histories = [History(each["viewer"], [Event(**event) for event in each["events"]]) for each in told["histories"]]
    log = None if told["log"] is None else [(index, at_ms, text) for index, at_ms, text in told["log"]]
    return Run(told["room"], histories, told["records"], log)


def plays(histories: Iterable[History]) -> Iterator[tuple[History, Event]]:
    """Yield every `play` that was sent, with its history."""
    for history in histories:
        for event in history.events:
            if event.kind == "sent" and event.message["type"] == "play":
                yield history, event
