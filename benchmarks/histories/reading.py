"""A history read again: what the viewer was shown, how its moves were answered, what was wrong on the way."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field

from benchmarks.histories.board import Board, Turn
from benchmarks.histories.history import Event, History, Message, first_of
from benchmarks.histories.scene import Knowledge

ENTERING = "create", "join", "watch", "resume"
GONE = "no_such_room", "room_closed"


@dataclass
class Play:
    """A move that was sent, and its answer: `moved`, `accepted`, the code of the refusal, or None if none came."""

    round: str
    number: int
    move: str
    sent_at_s: float
    answer: str | None = None


@dataclass(frozen=True)
class Shown:
    """An entry as it reached the viewer, with the turns of both seats just before it."""

    at_s: float
    round: str
    entry: Message
    turns: tuple[Turn | None, Turn | None]
    ended: frozenset[int]
    """The seats whose race has ended as far as this viewer knows when it has read the whole message."""


@dataclass
class Reading:
    """The content of one history. `seat` is None for a spectator; `entries` are those of its view by their position."""

    viewer: str
    seat: int | None = None
    rules: Message = field(default_factory=dict)
    shown: list[Shown] = field(default_factory=list)
    plays: list[Play] = field(default_factory=list)
    entries: dict[int, str] = field(default_factory=dict)
    losses: list[tuple[float, str]] = field(default_factory=list)
    """When and how the viewer learned that entries which it had seen are gone."""
    dropped_at_s: list[float] = field(default_factory=list)
    """When it got a snapshot instead of the entries that follow: after a loss, or when the match is over."""
    inside_until_s: list[float] = field(default_factory=list)
    """The times at which it received something while it was in the room."""
    problems: list[str] = field(default_factory=list)


class Reader:
    """Reads the events of one history in order."""

    def __init__(self, history: History) -> None:
        self._known = Knowledge()
        self._reading = Reading(history.viewer)
        self._asked: list[Message] = []
        self._open: list[Play] = []
        self._is_inside = False
        self._is_attached = True
        """False while the seat is not that of this connection, since another process took the one it is to for dead."""
        self._is_stale = False
        self._match: str | None = None
        """The id of the newest match that was shown."""
        self._match_began = 0
        """The position of its first entry, or the first one at which it was seen: the log before may be cut."""
        self._events = history.events

    def read(self) -> Reading:
        """Return the reading of the whole history."""
        for event in self._events:
            if event.kind == "opened":
                self._asked, self._open, self._is_inside = [], [], False
            elif event.kind == "sent":
                self._read_sent(event)
            elif event.kind == "received":
                self._read_received(event)
        return self._reading

    def _problem(self, event: Event, sentence: str) -> None:
        self._reading.problems.append(f"{self._reading.viewer} at {event.at_s:.3f}: {sentence}")

    def _read_sent(self, event: Event) -> None:
        message = event.message
        if message["type"] == "play":
            play = Play(self._known.round.id, message["number"], message["move"], event.at_s)
            self._reading.plays.append(play)
            self._open.append(play)
        elif message["type"] in ENTERING:
            self._asked.append(message)
            if message["type"] == "resume":
                self._known.cursor = message["position"]

    def _read_received(self, event: Event) -> None:
        message = event.message
        match message["type"]:
            case "snapshot":
                self._read_snapshot(event)
            case "view":
                self._read_view(event)
            case "accepted":
                self._answer(message["number"], "accepted")
            case "refused":
                self._read_refused(event)
            case "error" if message["code"] == "bad_token" and self._known.room:
                self._reading.losses.append((event.at_s, "the player is gone"))
            case "left":
                self._is_inside = False
        if self._is_inside:
            self._reading.inside_until_s.append(event.at_s)

    def _answer(self, number: int, answer: str) -> None:
        for play in self._open:
            if play.number == number:
                play.answer = answer
                self._open.remove(play)
                return

    def _read_refused(self, event: Event) -> None:
        message = event.message
        if message["to"] == "play":
            self._answer(message["number"], message["code"])
            if message["code"] == "not_seated" and self._is_inside and self._is_attached:
                self._problem(event, "a move is refused with not_seated, and the seat was not taken away")
        elif message["to"] in ENTERING:
            self._asked = self._asked[1:]
            if message["code"] in GONE and self._known.room:
                self._reading.losses.append((event.at_s, f"the answer to {message['to']} is {message['code']}"))

    def _read_snapshot(self, event: Event) -> None:
        message, reading = event.message, self._reading
        asked = self._asked.pop(0) if self._asked else None
        is_instead = asked is None or (asked["type"] == "resume" and asked["position"] > 0)
        if is_instead:
            reading.dropped_at_s.append(event.at_s)
        is_of_earlier_match = asked is not None and asked.get("position", 0) < self._match_began
        is_told = is_instead and not is_of_earlier_match and not self._is_over(message)
        same_list = message["seat"] == reading.seat
        if self._known.room and same_list and message["position"] < max(reading.entries, default=0):
            is_told = True
        before, self._known = self._known, Knowledge()
        self._known.begin(message)
        if not is_told and same_list and not self._is_stale and before.position == message["position"]:
            # The same place with other cards is another past; under the same tag, it is a contradiction.
            for seat in (0, 1):
                if _differ(before.round.boards[seat], self._known.round.boards[seat]):
                    is_told |= before.tag != message["tag"]
                    if not is_told:
                        self._problem(event, f"the snapshot of seat {seat} is not what its entries lead to")
        self._is_stale = False
        self._note_match(message["scene"].get("match"), message["position"])
        if is_told:
            reading.losses.append((event.at_s, "the snapshot is not of the past that was shown"))
        if is_told or not same_list:
            reading.entries.clear()
        reading.seat, reading.rules = message["seat"], self._known.rules
        self._is_inside = self._is_attached = True
        self._check_snapshot(event)

    def _note_match(self, match: str | None, position: int) -> None:
        if match != self._match:
            self._match, self._match_began = match, position

    def _is_over(self, snapshot: Message) -> bool:
        """Return whether the match that was shown last is over: its positions are no longer held."""
        scene = snapshot["scene"]
        return bool(scene["match_is_over"] or scene["phase"] == "waiting" or scene.get("match") != self._match)

    def _check_snapshot(self, event: Event) -> None:
        """No player is shown the other seat ahead of its own."""
        known = self._known
        if known.seat is None or known.phase != "racing" or known.round.has_stopped[known.seat]:
            return
        own, other = known.round.boards[known.seat], known.round.boards[1 - known.seat]
        if own and other and other.turned and other.turn > own.turn:
            self._problem(event, f"horizon: a snapshot shows the other seat at {other.turn}, this one is at {own.turn}")

    def _read_view(self, event: Event) -> None:
        message, known = event.message, self._known
        if self._asked and self._asked[0]["type"] == "resume":
            self._asked.pop(0)
            self._is_inside = True
        if not self._is_inside:
            self._problem(event, "a view outside of a room")
        first, fresh = first_of(message), len(self._reading.shown)
        for place, entry in enumerate(message["entries"], first):
            self._compare(event, place, json.dumps(entry, sort_keys=True))
            if entry["type"] == "round_opened":
                self._note_match(entry.get("match"), place)
            if place > known.position:
                self._show(event, entry)
        for problem in self._fold(message, fresh):
            if not self._is_stale:
                self._problem(event, problem)

    def _compare(self, event: Event, place: int, text: str) -> None:
        """Compare an entry with the one that was at its place before, as a viewer can that resumes earlier."""
        entries = self._reading.entries
        if entries.setdefault(place, text) != text:
            self._reading.losses.append((event.at_s, f"entry {place} was another one before"))
            self._reading.entries = {each: found for each, found in entries.items() if each < place} | {place: text}
            # Until the next snapshot, this viewer holds entries of two pasts.
            self._is_stale = True

    def _fold(self, message: Message, fresh: int) -> Iterator[str]:
        """Read a view entry by entry, and note the turns before each, and the seats that have ended after all."""
        known, shown = self._known, self._reading.shown
        first = first_of(message)
        if first != known.cursor + 1:
            yield f"a view from {first} on follows position {known.cursor}"
        known.cursor = first - 1
        for place, entry in enumerate(message["entries"], first):
            if place > known.position:
                turns = tuple(board.turn if board else None for board in known.round.boards)
                last = shown[fresh]
                shown[fresh] = Shown(last.at_s, known.round.id, entry, (turns[0], turns[1]), last.ended)
                fresh += 1
            one = {"position": place, "tag": message["tag"], "entries": [entry]}
            yield from known.read(one)
            if entry["type"] == "moved" and entry["seat"] == known.seat:
                self._answer(entry["number"], "moved")
            elif entry["type"] == "seat_freed" and entry["seat"] == known.seat:
                self._is_inside = False
            elif entry["type"] in ("detached", "attached") and entry["seat"] == known.seat:
                self._is_attached = entry["type"] == "attached"
        known.cursor = message["position"]

    def _show(self, event: Event, entry: Message) -> None:
        round_ = self._known.round
        entries = event.message["entries"]
        ended = {seat for seat in (0, 1) if round_.has_stopped[seat]}
        ended |= {each["seat"] for each in entries if each["type"] == "stopped"}
        ended |= {each["seat"] for each in entries if each["type"] == "moved" and each["move"] in ("stop", "resign")}
        if self._known.phase != "racing" or any(each["type"] == "round_finished" for each in entries):
            ended |= {0, 1}
        self._reading.shown.append(Shown(event.at_s, round_.id, entry, (None, None), frozenset(ended)))


def _differ(folded: Board | None, told: Board | None) -> bool:
    """Return whether a board that was folded from entries is not the one that a snapshot shows."""
    if folded is None or told is None:
        return False
    return (folded.foundations, folded.piles, folded.turned, folded.moves) != (
        told.foundations,
        told.piles,
        told.turned,
        told.moves,
    )
