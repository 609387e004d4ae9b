"""The record: a finished match as one small file of JSON lines, enough to replay every round of it, offline.

The first line describes the match. Then comes each round: a line with everything that sealed its deal, opened; a line
for each decision; a line with the result. Rounds that were opened and never raced are included, with their secret.
Every line but the last ends with its `chain`, a hash over the line and the chain of the line before; the last line
signs the last chain. docs/protocol.md describes the format; `record_parser` reads it.
"""

import json
from collections.abc import Callable, Iterator
from typing import Final

from fairest_protocol.calculation.deal import make_deal
from fairest_protocol.calculation.moves import Move
from fairest_protocol.calculation.race import Ending, Outcome, Race, start_race
from fairest_protocol.calculation.record_lines import CERTIFIED_FORMAT, CREDIT_FORMAT, FORMAT
from fairest_protocol.calculation.rules import Rules
from fairest_protocol.calculation.seal import chain_line, make_seed, make_step_seed, round_statement
from fairest_protocol.calculation.terms import Terms
from fairest_protocol.value import Value, fields_of

MAX_BYTES: Final = 4 * 2**20
MAX_LINES: Final = 10_000
MAX_LINE_BYTES: Final = 2**15
"""The size of a record. Nine rounds of the longest variant with every move that it allows take 1.2 MB and 7,000 lines;
the envelopes of a round take 20 KB."""
MAX_TIME_MS: Final = 253_370_764_800_000
"""The latest time, in milliseconds since 1970: the beginning of the year 9999, which every time zone can show."""


class BadRecord(ValueError):
    """The lines are not a record, or a broken one. The text names the line and says what is wrong with it."""


class RecordedMove(Value):
    """An accepted decision of a seat, `at_ms` milliseconds after the race started."""

    at_ms: int
    seat: int
    move: Move


class RecordedStop(Value):
    """Seats whose race was ended by the clock, by absence or by leaving (`STOPS`), `at_ms` after the race started.

    `at_ms` is None for a stop in the countdown, before the race.
    """

    at_ms: int | None
    seats: tuple[int, ...]
    ending: Ending


class RecordedRound(Value):
    """One round. If it was called off, the fields for everything after that are empty.

    `signature` is the server's, over `Record.round_statement`. `entropy_hashes` and `entropies` hold one item for each
    seat, None where the seat did not show it. `envelopes` holds the hashes of each sealed pass. `step` is the step that
    was dealt in a certified room, None otherwise.
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
    step: int | None = None

    @property
    def is_dealt(self) -> bool:
        """Whether both entropies are known, so that the cards were dealt."""
        return None not in self.entropies

    @property
    def seed(self) -> bytes:
        """The seed of the deal. Raises AssertionError for a round that was not dealt."""
        return self.round_seed if self.step is None else make_step_seed(self.round_seed, self.step)

    @property
    def round_seed(self) -> bytes:
        """The seed of a round that was dealt, from which the steps of a certified one follow."""
        assert self.is_dealt, "a round called off before its deal has no seed"
        return make_seed(self.secret, [entropy for entropy in self.entropies if entropy], self.round_id)


class Record(Value):
    """A finished match. `key` is the public key of the server; `signature` is its signature over the last chain."""

    match_id: str
    room: str
    names: tuple[str, str]
    terms: Terms
    finished_at_ms: int
    rounds: tuple[RecordedRound, ...]
    key: bytes = b""
    signature: bytes = b""

    @property
    def rules(self) -> Rules:
        """The rules of all rounds."""
        return self.terms.rules

    @property
    def format(self) -> int:
        """The number of the format of its lines, which follows from the options of the room."""
        if self.terms.has_credit:
            return CREDIT_FORMAT
        return CERTIFIED_FORMAT if self.terms.is_certified else FORMAT

    @property
    def called_off(self) -> int:
        """The number of rounds that were called off before the first one with a result."""
        return next((number for number, each in enumerate(self.rounds) if each.outcome is not None), len(self.rounds))

    def round_statement(self, number: int) -> bytes:
        """Return the bytes that the server signed when it opened the round with this number, from 0.

        Rounds that were called off before the first race were opened each as the first round of a match of its own.
        """
        played, place = self.rounds[number], number - self.called_off + 1
        match_id, place = (bytes.fromhex(self.match_id), place) if place > 0 else (played.round_id, 1)
        return round_statement(played.round_id, played.commitment, match_id, place, self.terms.text)

    def steps(self, number: int) -> Iterator[tuple[RecordedMove | RecordedStop | None, Race]]:
        """Replay the round with this number, from 0: yield its start with None, then each event and the race after it.

        Raises `BadRecord` at the first event that the rules do not allow, and for a round that was never dealt.
        """
        recorded = self.rounds[number]
        if not recorded.is_dealt:
            raise BadRecord(f"round {number + 1} ended before its cards were dealt")
        deal = make_deal(self.rules, recorded.seed)
        terms = self.terms
        race = start_race(self.rules, deal, direct_breaks_ties=terms.direct_breaks_ties, has_credit=terms.has_credit)
        yield None, race
        for event_number, event in enumerate(recorded.events, 1):
            refusal = _refusal(race, event)
            if refusal:
                raise BadRecord(f"round {number + 1}, event {event_number}: {refusal}")
            race = _play_event(race, event)
            yield event, race

    def lines(self) -> Iterator[str]:
        """Yield the lines of the file, without line ends."""
        return self.lines_signed_by(lambda _: self.signature)

    def lines_signed_by(self, sign: Callable[[bytes], bytes]) -> Iterator[str]:
        """Yield the lines of the file with the signature that `sign` returns for the chain of the last line but one."""
        chain = b""
        for text in self._texts():
            chain = chain_line(chain, text)
            yield f'{text.removesuffix("}")},"chain":"{chain.hex()}"}}'
        yield seal_line(sign(chain))

    def chain(self) -> bytes:
        """Return the chain of the last line but one, which the server signs."""
        chain = b""
        for text in self._texts():
            chain = chain_line(chain, text)
        return chain

    def _texts(self) -> Iterator[str]:
        """Yield the lines but the last one, without their chains."""
        yield _line(
            "match",
            format=self.format,
            match=self.match_id,
            room=self.room,
            names=self.names,
            terms=self.terms.text,
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
                **({} if played.step is None else {"step": played.step}),
            )
            for event in played.events:
                if isinstance(event, RecordedMove):
                    # Nearly all lines are moves, so these are not written by a JSON encoder.
                    yield f'{{"type":"move","at_ms":{event.at_ms},"seat":{event.seat},"move":"{event.move.text}"}}'
                else:
                    yield _line("stop", at_ms=event.at_ms, seats=event.seats, ending=event.ending)
            if played.outcome is not None:
                fields = fields_of(played.outcome)
                if played.outcome.ledger is None:
                    del fields["ledger"]
                yield _line("result", **fields)


def seal_line(signature: bytes) -> str:
    """Return the last line of a file, which seals the lines before it."""
    return _line("seal", signature=signature.hex())


def _refusal(race: Race, event: RecordedMove | RecordedStop) -> str:
    """Return what is wrong with an event of this race; empty if nothing is."""
    for seat in (event.seat,) if isinstance(event, RecordedMove) else event.seats:
        if not 0 <= seat < len(race.racers) or race.racers[seat].ending:
            return f"seat {seat + 1} is not racing"
    if isinstance(event, RecordedStop):
        return ""
    illegal = race.refusal(event.seat, event.move)
    return f"{event.move} of seat {event.seat + 1} is against the rules ({illegal})" if illegal else ""


def _play_event(race: Race, event: RecordedMove | RecordedStop) -> Race:
    if isinstance(event, RecordedMove):
        return race.play(event.seat, event.move)
    return (race.stop_before_start if event.at_ms is None else race.stop)(event.seats, event.ending)


def _line(kind: str, **fields: object) -> str:
    return json.dumps({"type": kind, **fields}, separators=(",", ":"))


def _hex(value: bytes | None) -> str | None:
    return None if value is None else value.hex()
