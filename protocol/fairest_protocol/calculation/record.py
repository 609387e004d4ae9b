"""The record: a finished match as one small file of JSON lines, enough to replay every round of it, offline.

The first line describes the match. Then each round: a line with all that sealed its deal, opened; a line for each
decision; a line with the result. Rounds that were opened and never raced stand there too, with their secret. Every line
ends with its `chain`, a hash over the line and the chain of the line before; the last line signs the last of them.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final, NoReturn

from fairest_protocol.calculation.deal import make_deal
from fairest_protocol.calculation.moves import MOVES, Move
from fairest_protocol.calculation.round import Ending, Outcome, Round, Score, start_round
from fairest_protocol.calculation.rules import BadRules, Rules, choose_rules
from fairest_protocol.calculation.seal import chain_line, make_seed
from fairest_protocol.value import Value, replace

FORMAT: Final = 2
BEST_OF: Final = (1, 3, 5, 7, 9)
STOPS: Final = (Ending.OUT_OF_TIME, Ending.AWAY, Ending.RESIGNED, Ending.NOT_REVEALED)
"""What the clock, absence and leaving do to a race; the other endings follow from moves."""


class BadRecord(ValueError):
    """A file that is no record, or a broken one; the text says which line and what is wrong with it."""


class RecordedMove(Value):
    """An accepted decision, this many milliseconds after its round started."""

    at_ms: int
    seat: int
    move: Move


class RecordedStop(Value):
    """Seats that the clock or their absence stopped."""

    at_ms: int
    seats: tuple[int, ...]
    ending: Ending


class RecordedRound(Value):
    """One round; what it did not come to, because it was called off, is empty.

    `signature` is the server's for the commitment. Hash and entropy of a seat are None where it did not show them.
    """

    round_id: bytes
    commitment: bytes
    signature: bytes
    secret: bytes
    entropy_hashes: tuple[bytes | None, bytes | None] = (None, None)
    entropies: tuple[bytes | None, bytes | None] = (None, None)
    envelopes: tuple[tuple[bytes, ...], ...] = ()
    events: tuple[RecordedMove | RecordedStop, ...] = ()
    outcome: Outcome | None = None

    @property
    def is_dealt(self) -> bool:
        """Whether both entropies are known, so that there was a deal."""
        return None not in self.entropies

    @property
    def seed(self) -> bytes:
        """The seed of a round that was dealt."""
        assert self.is_dealt, "a round called off before its deal has no seed"
        return make_seed(self.secret, [entropy for entropy in self.entropies if entropy], self.round_id)


class Record(Value):
    """A finished match. `key` is the public key of the server that signed it."""

    match_id: str
    room: str
    names: tuple[str, str]
    rules: Rules
    best_of: int
    direct_breaks_ties: bool
    finished_at_ms: int
    rounds: tuple[RecordedRound, ...]
    key: bytes = b""
    signature: bytes = b""

    def steps(self, number: int) -> Iterator[tuple[RecordedMove | RecordedStop | None, Round]]:
        """Round number (from 0) replayed: the start, then the round after each event.

        Raises `BadRecord` at the first event that the rules do not allow, and for a round that was never dealt.
        """
        recorded = self.rounds[number]
        if not recorded.is_dealt:
            raise BadRecord(f"round {number + 1} was called off before its cards were dealt")
        deal = make_deal(self.rules, recorded.seed)
        race = start_round(self.rules, deal, direct_breaks_ties=self.direct_breaks_ties)
        yield None, race
        for place, event in enumerate(recorded.events, 1):
            race = _apply(race, event, f"round {number + 1}, event {place}")
            yield event, race

    def lines(self) -> Iterator[str]:
        """The file, line by line, without line ends."""
        chain = b""
        for text in self._texts():
            chain = chain_line(chain, text)
            yield _with_chain(text, chain)
        yield _line("seal", signature=self.signature.hex())

    def chain(self) -> bytes:
        """The chain value of the last line, which the server signs."""
        chain = b""
        for text in self._texts():
            chain = chain_line(chain, text)
        return chain

    def _texts(self) -> Iterator[str]:
        """The lines before they are chained."""
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
            key=self.key.hex(),
        )
        for played in self.rounds:
            yield _line(
                "round",
                id=played.round_id.hex(),
                commitment=played.commitment.hex(),
                signature=played.signature.hex(),
                secret=played.secret.hex(),
                entropy_hashes=[_hex(sealed) for sealed in played.entropy_hashes],
                entropies=[_hex(entropy) for entropy in played.entropies],
                envelopes=[[envelope.hex() for envelope in sealed] for sealed in played.envelopes],
            )
            for event in played.events:
                if isinstance(event, RecordedMove):
                    # Nearly all lines, so not by way of a JSON encoder.
                    yield f'{{"type":"move","at_ms":{event.at_ms},"seat":{event.seat},"move":"{event.move.text}"}}'
                else:
                    yield _line("stop", at_ms=event.at_ms, seats=event.seats, ending=event.ending)
            if played.outcome is not None:
                yield _line("result", **asdict(played.outcome))


def read_record(lines: Sequence[str]) -> Record:
    """A record from the lines of its file, replayed.

    Raises `BadRecord` as `parse_record` does, and for a record that its own moves contradict. Signatures and hashes are
    for `fairest verify` to check.
    """
    record = parse_record(lines)
    for number in range(len(record.rounds)):
        check_race(record, number)
    return record


def check_race(record: Record, number: int) -> None:
    """Replay round number (from 0), if it was dealt. Raises `BadRecord` where it does not lead to its result."""
    if not record.rounds[number].is_dealt:
        return
    *_, (_, race) = record.steps(number)
    if not race.is_over or race.outcome() != record.rounds[number].outcome:
        raise BadRecord(f"round {number + 1}: its moves do not lead to the result that it states")


def parse_record(lines: Sequence[str]) -> Record:
    """A record as its lines state it. Raises `BadRecord` with the number of the first line that is not as written."""
    if not lines:
        raise BadRecord("the file is empty")
    heading: Mapping[str, Any] | None = None
    rounds: list[_OpenRound] = []
    for number, line in enumerate(lines[:-1], 1):
        try:
            fields = json.loads(line, parse_constant=_refuse)
            kind = fields["type"]
            if heading is None:
                heading = _check_heading(fields)
            elif kind == "round":
                rounds.append(_OpenRound(fields))
            else:
                rounds[-1].add(kind, fields)
        except (ValueError, KeyError, TypeError, IndexError, RecursionError) as reason:
            raise BadRecord(f"line {number} is no line of a record ({type(reason).__name__}: {reason})") from reason
    record = _assemble(heading, rounds, lines[-1])
    for number, (line, written) in enumerate(zip(lines, record.lines(), strict=True), 1):
        if line != written:
            raise BadRecord(f"line {number} is not as it was written: its chain does not fit")
    return record


class _OpenRound:
    """A round while its lines are being read."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self.opened = RecordedRound(
            round_id=bytes.fromhex(fields["id"]),
            commitment=bytes.fromhex(fields["commitment"]),
            signature=bytes.fromhex(fields["signature"]),
            secret=bytes.fromhex(fields["secret"]),
            entropy_hashes=_two(fields["entropy_hashes"]),
            entropies=_two(fields["entropies"]),
            envelopes=tuple(tuple(bytes.fromhex(each) for each in sealed) for sealed in fields["envelopes"]),
        )
        self.events: list[RecordedMove | RecordedStop] = []
        self.outcome: Outcome | None = None

    def add(self, kind: str, fields: Mapping[str, Any]) -> None:
        match kind:
            case "move":
                self.events.append(RecordedMove(_int(fields["at_ms"]), _int(fields["seat"]), MOVES[fields["move"]]))
            case "stop":
                seats, ending = tuple(map(_int, fields["seats"])), Ending(fields["ending"])
                if not seats or ending not in STOPS:
                    raise ValueError(f"nobody is stopped like this: {fields['seats']}, {ending}")
                self.events.append(RecordedStop(_int(fields["at_ms"]), seats, ending))
            case "result":
                first, second = map(_score, fields["scores"])
                winner = fields["winner"]
                self.outcome = Outcome(None if winner is None else _int(winner), (first, second))
            case _:
                raise ValueError(f"there is no line of type {kind!r}")


def _line(kind: str, **fields: object) -> str:
    return json.dumps({"type": kind, **fields}, separators=(",", ":"))


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number")


def _int(value: object) -> int:
    """A whole number below 2 to the 53rd, as every program reads it; not a fraction, and not a truth value."""
    if type(value) is not int or not -(2**53) < value < 2**53:
        raise TypeError(f"{str(value)[:40]!r} is no whole number")
    return value


def _one_of(allowed: Sequence[int], value: object) -> int:
    if _int(value) not in allowed:
        raise ValueError(f"{value} is none of {allowed}")
    return _int(value)


def _matching(pattern: str, value: object) -> str:
    if not isinstance(value, str) or not re.fullmatch(pattern, value):
        raise ValueError(f"{str(value)[:40]!r} does not look like {pattern}")
    return value


def _score(fields: Mapping[str, Any]) -> Score:
    counts = {name: _int(fields[name]) for name in ("placed", "goal", "direct", "turns")}
    return Score(**counts, ending=Ending(fields["ending"]))


def _hex(value: bytes | None) -> str | None:
    return None if value is None else value.hex()


def _two(values: Any) -> tuple[bytes | None, bytes | None]:
    """What each seat showed, or None."""
    first, second = (None if value is None else bytes.fromhex(value) for value in values)
    return first, second


def _with_chain(text: str, chain: bytes) -> str:
    """The line with its chain as the last field; what is hashed is the line without it."""
    return f'{text.removesuffix("}")},"chain":"{chain.hex()}"}}'


def _check_heading(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    if fields["type"] != "match" or fields["format"] != FORMAT:
        raise ValueError(f"a record starts with a match line of format {FORMAT}")
    return fields


def _assemble(heading: Mapping[str, Any] | None, rounds: Sequence[_OpenRound], last: str) -> Record:
    if heading is None:
        raise BadRecord("line 1 is all there is, and a record has at least two")
    try:
        seal = json.loads(last, parse_constant=_refuse)
        if seal["type"] != "seal":
            raise ValueError("a record ends with a line of type 'seal'")
        signature = bytes.fromhex(seal["signature"])
    except (ValueError, KeyError, TypeError, RecursionError) as reason:
        raise BadRecord(f"the last line does not seal the record ({type(reason).__name__}: {reason})") from reason
    try:
        first, second = heading["names"]
        chosen = heading["rules"]
        if not rounds:
            raise ValueError("a match has at least one round")
        return Record(
            match_id=_matching(r"[0-9a-f]{32}", heading["match"]),
            room=_matching(r"[a-z]+(-[a-z]+){1,5}", heading["room"]),
            names=(_matching(r"[A-Za-z0-9_-]{2,20}", first), _matching(r"[A-Za-z0-9_-]{2,20}", second)),
            rules=choose_rules(str(chosen["name"]), _int(chosen["piles"]), _int(chosen["redeals"])),
            best_of=_one_of(BEST_OF, heading["best_of"]),
            direct_breaks_ties=bool(heading["direct_breaks_ties"]),
            finished_at_ms=_int(heading["finished_at_ms"]),
            rounds=tuple(replace(read.opened, events=tuple(read.events), outcome=read.outcome) for read in rounds),
            key=bytes.fromhex(heading["key"]),
            signature=signature,
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
