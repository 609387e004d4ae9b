"""The record: a finished match as one small file of JSON lines, enough to replay every round of it, offline.

The first line describes the match. Then each round: a line with its secret and entropies, a line for each decision,
a line with the result. Rounds that were opened and never raced stand there too, with their secret.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from protocol.calculation.deal import make_deal
from protocol.calculation.moves import MOVES, Move
from protocol.calculation.round import Ending, Outcome, Round, Score, start_round
from protocol.calculation.rules import BadRules, Rules, choose_rules
from protocol.calculation.seal import make_seed

FORMAT: Final = 1


class BadRecord(ValueError):
    """A file that is no record, or a broken one; the text says which line and what is wrong with it."""


@dataclass(frozen=True, slots=True)
class RecordedMove:
    """An accepted decision, this many milliseconds after its round started."""

    at_ms: int
    seat: int
    move: Move


@dataclass(frozen=True, slots=True)
class RecordedStop:
    """Seats that the clock or their absence stopped."""

    at_ms: int
    seats: tuple[int, ...]
    ending: Ending


@dataclass(frozen=True, slots=True)
class RecordedRound:
    """One round; its entropies and outcome are empty where it was called off before the deal."""

    round_id: bytes
    secret: bytes
    entropies: tuple[bytes, ...] = ()
    events: tuple[RecordedMove | RecordedStop, ...] = ()
    outcome: Outcome | None = None

    @property
    def is_dealt(self) -> bool:
        """Whether both entropies are known, so that there was a deal."""
        return len(self.entropies) == 2


@dataclass(frozen=True, slots=True)
class Record:
    """A finished match."""

    match_id: str
    room: str
    names: tuple[str, str]
    rules: Rules
    best_of: int
    direct_breaks_ties: bool
    finished_at_ms: int
    rounds: tuple[RecordedRound, ...]

    def steps(self, number: int) -> Iterator[tuple[RecordedMove | RecordedStop | None, Round]]:
        """Round number (from 0) replayed: the start, then the round after each event.

        Raises `BadRecord` at the first event that the rules do not allow, and for a round that was never dealt.
        """
        recorded = self.rounds[number]
        if not recorded.is_dealt:
            raise BadRecord(f"round {number + 1} was called off before its cards were dealt")
        seed = make_seed(recorded.secret, recorded.entropies, recorded.round_id)
        race = start_round(self.rules, make_deal(self.rules, seed), direct_breaks_ties=self.direct_breaks_ties)
        yield None, race
        for place, event in enumerate(recorded.events, 1):
            race = _apply(race, event, f"round {number + 1}, event {place}")
            yield event, race

    def lines(self) -> Iterator[str]:
        """The file, line by line, without line ends."""
        yield _line(
            "match",
            format=FORMAT,
            match=self.match_id,
            room=self.room,
            names=self.names,
            rules={"name": self.rules.name, "piles": self.rules.piles, "redeals": self.rules.redeals},
            best_of=self.best_of,
            direct_breaks_ties=self.direct_breaks_ties,
            finished_at_ms=self.finished_at_ms,
        )
        for played in self.rounds:
            entropies = [entropy.hex() for entropy in played.entropies]
            yield _line("round", id=played.round_id.hex(), secret=played.secret.hex(), entropies=entropies)
            for event in played.events:
                if isinstance(event, RecordedMove):
                    yield _line("move", at_ms=event.at_ms, seat=event.seat, move=event.move.text)
                else:
                    yield _line("stop", at_ms=event.at_ms, seats=event.seats, ending=event.ending)
            if played.outcome is not None:
                yield _line("result", **asdict(played.outcome))


def read_record(lines: Iterable[str]) -> Record:
    """A record from the lines of its file.

    Raises `BadRecord` with the number of the line that is wrong, and for a record that its own moves contradict.
    """
    heading: Mapping[str, Any] | None = None
    rounds: list[_OpenRound] = []
    for number, line in enumerate(lines, 1):
        try:
            fields = json.loads(line)
            kind = fields["type"]
            if heading is None:
                heading = _check_heading(fields)
            elif kind == "round":
                entropies = tuple(bytes.fromhex(entropy) for entropy in fields["entropies"])
                rounds.append(_OpenRound(bytes.fromhex(fields["id"]), bytes.fromhex(fields["secret"]), entropies))
            else:
                rounds[-1].add(kind, fields)
        except (ValueError, KeyError, TypeError, IndexError) as reason:
            raise BadRecord(f"line {number} is no line of a record ({type(reason).__name__}: {reason})") from reason
    if heading is None:
        raise BadRecord("the file is empty")
    record = _assemble(heading, rounds)
    for number, played in enumerate(record.rounds):
        if played.is_dealt:
            _check_outcome(record, number)
    return record


class _OpenRound:
    """A round while its lines are being read."""

    def __init__(self, round_id: bytes, secret: bytes, entropies: tuple[bytes, ...]) -> None:
        self.opening = (round_id, secret, entropies)
        self.events: list[RecordedMove | RecordedStop] = []
        self.outcome: Outcome | None = None

    def add(self, kind: str, fields: Mapping[str, Any]) -> None:
        match kind:
            case "move":
                self.events.append(RecordedMove(int(fields["at_ms"]), int(fields["seat"]), MOVES[fields["move"]]))
            case "stop":
                seats = tuple(int(seat) for seat in fields["seats"])
                self.events.append(RecordedStop(int(fields["at_ms"]), seats, Ending(fields["ending"])))
            case "result":
                scores = tuple(Score(**{**score, "ending": Ending(score["ending"])}) for score in fields["scores"])
                self.outcome = Outcome(fields["winner"], scores)
            case _:
                raise ValueError(f"there is no line of type {kind!r}")


def _line(kind: str, **fields: object) -> str:
    return json.dumps({"type": kind, **fields}, separators=(",", ":"))


def _check_heading(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    if fields["type"] != "match" or fields["format"] != FORMAT:
        raise ValueError(f"a record starts with a match line of format {FORMAT}")
    return fields


def _assemble(heading: Mapping[str, Any], rounds: Sequence[_OpenRound]) -> Record:
    try:
        first, second = heading["names"]
        return Record(
            match_id=heading["match"],
            room=heading["room"],
            names=(str(first), str(second)),
            rules=choose_rules(**heading["rules"]),
            best_of=int(heading["best_of"]),
            direct_breaks_ties=bool(heading["direct_breaks_ties"]),
            finished_at_ms=int(heading["finished_at_ms"]),
            rounds=tuple(RecordedRound(*open_.opening, tuple(open_.events), open_.outcome) for open_ in rounds),
        )
    except (BadRules, ValueError, KeyError, TypeError) as reason:
        raise BadRecord(f"line 1 does not describe a match: {reason!r}") from reason


def _apply(race: Round, event: RecordedMove | RecordedStop, where: str) -> Round:
    seats = (event.seat,) if isinstance(event, RecordedMove) else event.seats
    for seat in seats:
        if seat not in range(len(race.racers)) or race.racers[seat].ending:
            raise BadRecord(f"{where}: seat {seat + 1} is not racing")
    if isinstance(event, RecordedStop):
        return race.stop(event.seats, event.ending)
    illegal = race.refusal(event.seat, event.move)
    if illegal:
        raise BadRecord(f"{where}: {event.move} of seat {event.seat + 1} is against the rules ({illegal})")
    return race.play(event.seat, event.move)


def _check_outcome(record: Record, number: int) -> None:
    *_, (_, race) = record.steps(number)
    if not race.is_over or race.outcome() != record.rounds[number].outcome:
        raise BadRecord(f"round {number + 1}: its moves do not lead to the result that it states")
