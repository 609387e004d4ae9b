"""The social card of a match: what is shown of it where its link is sent around.

It is read from the record, which may come from an archive that somebody has changed. So every text in it may be
hostile, and a record that is none has no card.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Any, Final

from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.calculation.race import Ending
from fairest_protocol.calculation.record import Record, RecordedMove, RecordedRound, RecordedStop
from fairest_protocol.calculation.sliced import Sliced
from fairest_protocol.calculation.terms import Terms, parse_terms
from fairest_protocol.value import Value

NAME_LENGTH: Final = 20
_LINES_IN_SLICE: Final = 50
_ROUND, _RESULT = '{"type":"round"', '{"type":"result"'


class MatchCard(Value):
    """A match in short. `boards` are those at the end of its last round, empty if no cards were dealt in it.

    `placed` has the cards of each seat in the last round, `winner` is the seat that won the match, None for a draw.
    """

    names: tuple[str, str]
    rules: str
    best_of: int
    wins: tuple[int, int]
    winner: int | None
    placed: tuple[int, int]
    goal: int
    boards: tuple[Board, ...]

    @property
    def title(self) -> str:
        """The names of both players, in one line."""
        return " against ".join(self.names)

    @property
    def description(self) -> str:
        """The result in a sentence, and what the link leads to."""
        score = self.wins if self.best_of > 1 else self.placed
        what = "rounds" if self.best_of > 1 else "cards"
        result = f"A draw, {score[0]} to {score[1]} {what}."
        if self.winner is not None:
            ours, theirs = score[self.winner], score[1 - self.winner]
            result = f"{self.names[self.winner]} wins, {ours} to {theirs} {what}."
        return f"{result} Calculation, {self.rules}: watch the replay, and check that the deal was sealed."


def read_card(content: bytes) -> Sliced[MatchCard | None]:
    """Return the card of a record, None if it is no record of a finished match; only the last round is replayed."""
    lines = content.decode(errors="replace").split("\n")
    try:
        results = [number for number, line in enumerate(lines) if line.startswith(_RESULT)]
        heading, outcomes = json.loads(lines[0]), [json.loads(lines[number]) for number in results]
        start = max(number for number, line in enumerate(lines[: results[-1]]) if line.startswith(_ROUND))
        terms = parse_terms(heading["terms"])
        first, second = heading["names"]
        events = yield from _read_events(lines[start + 1 : results[-1]])
        boards = yield from _last_boards(json.loads(lines[start]), events, terms)
        winners = [outcome["winner"] for outcome in outcomes]
        wins, scores = (winners.count(0), winners.count(1)), outcomes[-1]["scores"]
        return MatchCard(
            names=(_cleaned(first), _cleaned(second)),
            rules=terms.rules.name,
            best_of=terms.best_of,
            wins=wins,
            winner=None if wins[0] == wins[1] else int(wins[1] > wins[0]),
            placed=(int(scores[0]["placed"]), int(scores[1]["placed"])),
            goal=int(scores[0]["goal"]),
            boards=boards,
        )
    except (ValueError, KeyError, TypeError, IndexError, OverflowError, RecursionError):
        return None


def _read_events(lines: Iterable[str]) -> Sliced[list[RecordedMove | RecordedStop]]:
    events: list[RecordedMove | RecordedStop] = []
    for number, line in enumerate(lines, 1):
        fields = json.loads(line)
        if fields["type"] == "move":
            events.append(RecordedMove(fields["at_ms"], fields["seat"], MOVES[fields["move"]]))
        else:
            events.append(RecordedStop(fields["at_ms"], tuple(fields["seats"]), Ending(fields["ending"])))
        if number % _LINES_IN_SLICE == 0:
            yield
    return events


def _last_boards(
    opened: dict[str, Any], events: Sequence[RecordedMove | RecordedStop], terms: Terms
) -> Sliced[tuple[Board, ...]]:
    first, second = opened["entropies"]
    if first is None or second is None:
        return ()
    played = RecordedRound(
        round_id=bytes.fromhex(opened["id"]),
        commitment=b"",
        signature=b"",
        secret=bytes.fromhex(opened["secret"]),
        entropies=(bytes.fromhex(first), bytes.fromhex(second)),
        events=tuple(events),
    )
    record = Record(match_id="", room="", names=("", ""), terms=terms, finished_at_ms=0, rounds=(played,))
    boards: tuple[Board, ...] = ()
    for number, (_, race) in enumerate(record.steps(0), 1):
        boards = tuple(racer.board for racer in race.racers)
        if number % _LINES_IN_SLICE == 0:
            yield
    return boards


def _cleaned(name: object) -> str:
    """Return a name without characters that no text of XML may have, and without more of it than a name has."""
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in str(name)[:NAME_LENGTH])
