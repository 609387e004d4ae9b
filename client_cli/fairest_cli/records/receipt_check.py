"""A receipt against a record: is the match in the record the one that this player's client was shown? Pure."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from fairest_cli.model.known_room import Contradiction, KnownRoom
from fairest_cli.model.round_check import Cheated
from fairest_cli.model.seal_check import EntropyCommitment, SealCheck
from fairest_cli.records.record_check import WrongRecord
from fairest_cli.untrusted_text import clean
from fairest_protocol.calculation.deal import Deal, make_deal
from fairest_protocol.calculation.record import Record, RecordedMove, RecordedRound
from fairest_protocol.messages import entries
from fairest_protocol.messages.codec import ProtocolViolation, decode_from_client, decode_from_server
from fairest_protocol.messages.entries import Entry
from fairest_protocol.messages.from_client import Play, Ready, Reveal
from fairest_protocol.messages.from_server import Snapshot, View
from fairest_protocol.value import replace


class BadReceipt(ValueError):
    """A file that is no receipt; the text says which line is wrong."""


@dataclass(slots=True)
class _Account:
    """What the receipt told so far.

    `rounds` are all rounds in the order in which they were shown; `begins` is where the present match began among
    them.
    """

    rounds: list[bytes] = field(default_factory=list)
    bound: set[bytes] = field(default_factory=set)
    begins: dict[bytes, int] = field(default_factory=dict)
    match_began: int = 0
    cards: int = 0
    moves: int = 0
    finished: int = 0


def compare_receipt(record: Record, lines: Sequence[str]) -> Iterator[str]:
    """Go through the receipt as the client did, and compare all that it was shown with the record.

    Raises `WrongRecord` at the first difference, also where the receipt shows that the server broke the seal, and
    `BadReceipt`.
    """
    seal = _Comparison(record)
    for number, line in enumerate(lines, 1):
        kind, fields = _read(number, line)
        where = f"Line {number} of the receipt"
        try:
            if kind == "receipt":
                seal.begin(fields.get("key"), where)
            elif kind == "said":
                seal.said(decode_from_client(json.dumps(fields)), where)
            else:
                seal.heard(decode_from_server(json.dumps(fields)), where)
        except ProtocolViolation as reason:
            raise BadReceipt(f"line {number} holds no message ({reason})") from reason
        except (Cheated, Contradiction) as reason:
            raise WrongRecord(f"{where}: {reason}") from reason
    yield from seal.conclude()


def _read(number: int, line: str) -> tuple[str, dict[str, Any]]:
    try:
        fields = json.loads(line)
        if fields.get("type") == "receipt":
            return "receipt", fields
        kind = "heard" if "heard" in fields else "said"
        return kind, dict(fields[kind])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as reason:
        raise BadReceipt(f"line {number} is no line of a receipt ({type(reason).__name__})") from reason


class _Comparison:
    """A receipt being read beside a record."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self._rounds = {played.round_id: played for played in record.rounds}
        self._deals: dict[bytes, Deal] = {}
        self._model = KnownRoom()
        self._account = _Account()

    def begin(self, key: str | None, where: str) -> None:
        """A session of the client, which remembers what it was bound to before."""
        if key != self._record.key.hex():
            raise WrongRecord(f"{where}: the server had the key {clean(str(key))[:64]}, not that of the record.")
        self._model = KnownRoom(
            seal_check=SealCheck(key=self._record.key, entropy_commitment=self._model.seal_check.entropy_commitment)
        )

    def said(self, message: object, where: str) -> None:
        """Our own words: we were bound after the server was, and the record has our bytes."""
        seal, account = self._model.seal_check, self._account
        match message:
            case Ready(round=round_id, entropy_hash=entropy_hash):
                if round_id not in account.rounds:
                    raise WrongRecord(f"{where}: we were bound to a round before its commitment was shown.")
                if seal.seat is not None and round_id == seal.round_id:
                    self._model = self._model.with_entropy_commitment(
                        EntropyCommitment(round_id, seal.commitment, seal.seat, b"", entropy_hash)
                    )
                self._compare_own(round_id, "entropy hash", entropy_hash, where)
            case Reveal(round=round_id, entropy=entropy):
                if seal.entropy_commitment is not None and round_id == seal.entropy_commitment.round_id:
                    other_hash = seal.entropy_hashes[1 - seal.entropy_commitment.seat]
                    self._model = self._model.with_entropy_commitment(
                        replace(seal.entropy_commitment, other_hash=other_hash)
                    )
                self._compare_own(round_id, "entropy", entropy, where)
            case Play():
                self._model = self._model.with_sent(message)
            case _:
                raise BadReceipt(f"{where} holds what a receipt does not keep")

    def _compare_own(self, round_id: bytes, what: str, value: bytes, where: str) -> None:
        """A word that came too late stands in no record; another word in its place is a lie."""
        played, seat = self._rounds.get(round_id), self._model.seat
        if played is None or seat is None:
            return
        recorded = (played.entropy_hashes if what == "entropy hash" else played.entropies)[seat]
        if recorded is not None and recorded != value:
            raise WrongRecord(f"{where}: the record has another {what} for us than the one that we sent.")

    def heard(self, message: object, where: str) -> None:
        """What the server showed, one entry after the other."""
        if isinstance(message, Snapshot):
            known = self._model.seal_check.round_id
            self._model = self._model.after(message, 0)
            if self._model.seal_check.round_id != known:
                # What was missed may have been the end of a match: only what follows surely belongs to the next.
                self._account.match_began = len(self._account.rounds)
            self._note_round()
            self._compare_seal(where)
        elif isinstance(message, View):
            for offset, entry in enumerate(message.entries):
                before = self._model
                single = View(position=message.position + offset, entries=(entry,), tag=message.tag)
                self._model = before.after(single, 0)
                if self._model.position > before.position:
                    self._note_round()
                    self._compare_seal(where)
                    self._compare_entry(entry, where)
        else:
            raise BadReceipt(f"{where} holds a message that a receipt does not keep")

    def _note_round(self) -> None:
        seal, account = self._model.seal_check, self._account
        if seal.round_id is None:
            return
        if seal.round_id not in account.rounds:
            account.rounds.append(seal.round_id)
        account.begins.setdefault(seal.round_id, account.match_began)
        if seal.both_committed:
            account.bound.add(seal.round_id)

    def _compare_seal(self, where: str) -> None:
        seal = self._model.seal_check
        played = self._rounds.get(seal.round_id or b"")
        if played is None:
            return
        pairs: tuple[tuple[str, object, object], ...] = (
            ("commitment", seal.commitment, played.commitment),
            ("entropy hash of seat 1", seal.entropy_hashes[0], played.entropy_hashes[0]),
            ("entropy hash of seat 2", seal.entropy_hashes[1], played.entropy_hashes[1]),
            ("entropy of seat 1", seal.entropies[0], played.entropies[0]),
            ("entropy of seat 2", seal.entropies[1], played.entropies[1]),
            ("set of envelopes", seal.envelopes or None, played.envelopes),
        )
        for what, shown, recorded in pairs:
            if shown is not None and shown != recorded:
                raise WrongRecord(f"{where}: the record has another {what} than the one that was shown.")

    def _compare_entry(self, entry: Entry, where: str) -> None:
        account, round_id = self._account, self._model.seal_check.round_id
        played = self._rounds.get(round_id or b"")
        if isinstance(entry, entries.RoundFinished) and entry.match_is_over:
            account.match_began = len(account.rounds)
        if played is None:
            return
        match entry:
            case entries.Turned():
                if self._deal(played).orders[entry.pass_number][entry.position] != entry.card:
                    raise WrongRecord(f"{where}: the deal of the record has another card than {entry.card} there.")
                account.cards += 1
            case entries.Moved():
                self._compare_move(played, entry, where)
                account.moves += 1
            case entries.RoundFinished(outcome=outcome):
                if outcome != played.outcome:
                    raise WrongRecord(f"{where}: the result that was shown is not the one in the record.")
                account.finished += 1
            case _:
                pass

    def _compare_move(self, played: RecordedRound, entry: entries.Moved, where: str) -> None:
        moves = [each.move for each in played.events if isinstance(each, RecordedMove) and each.seat == entry.seat]
        name = clean(self._record.names[entry.seat])
        if entry.number > len(moves) or moves[entry.number - 1] is not entry.move:
            raise WrongRecord(f"{where}: move {entry.number} of {name} was {entry.move}; the record has another one.")

    def _deal(self, played: RecordedRound) -> Deal:
        if played.round_id not in self._deals:
            self._deals[played.round_id] = make_deal(self._record.rules, played.seed)
        return self._deals[played.round_id]

    def conclude(self) -> Iterator[str]:
        """What the receipt bears out, once all of it is read."""
        account, recorded = self._account, list(self._rounds)
        ours = [place for place, round_id in enumerate(account.rounds) if round_id in self._rounds]
        if not ours:
            raise WrongRecord("The receipt tells of none of the rounds in this record: it is of another match.")
        first = account.begins[account.rounds[ours[0]]]
        for round_id in account.rounds[first : ours[-1]]:
            if round_id not in self._rounds and round_id in account.bound:
                raise WrongRecord(f"The round {round_id.hex()} belongs to this match and is missing in the record.")
        yield f"Receipt: {len(ours)} of {len(recorded)} rounds were shown to you, each before you were bound to it."
        yield f"Receipt: {account.cards} cards and {account.moves} moves that you were shown are in the record."
        yield f"Receipt: you were shown the result of {account.finished}; it is the one in the record."
