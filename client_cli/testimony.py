"""A receipt against a record: is the match in the record the one that this player's client was shown? Pure."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from client_cli.model import Contradiction, Model
from client_cli.verify import Wrong
from client_cli.witness import Cheated, Witness
from protocol.calculation.record import Record, RecordedMove, RecordedRound
from protocol.messages import entries
from protocol.messages.codec import BrokenMessage, decode_from_server
from protocol.messages.entries import Entry
from protocol.messages.from_server import Snapshot, View


class BadReceipt(ValueError):
    """A file that is no receipt; the text says which line is wrong."""


@dataclass(slots=True)
class _Account:
    """What the receipt told so far: our rounds in the order in which they were shown, and how much of them."""

    rounds: list[bytes] = field(default_factory=list)
    cards: set[tuple[bytes, int, int, int]] = field(default_factory=set)
    moves: set[tuple[bytes, int, int]] = field(default_factory=set)
    finished: set[bytes] = field(default_factory=set)


def compare_receipt(record: Record, lines: Sequence[str]) -> Iterator[str]:
    """Go through the receipt as the client did, and compare all that it was shown with the record.

    Raises `Wrong` at the first difference, also where the receipt shows that the server broke the seal, and
    `BadReceipt`.
    """
    by_id = {played.round_id: played for played in record.rounds}
    account, model = _Account(), Model()
    for number, line in enumerate(lines, 1):
        kind, fields = _read(number, line)
        if kind == "receipt":
            model = Model(witness=Witness(key=_key(record, number, fields)))
        elif kind == "said":
            _compare_said(by_id, account, model.seat, number, fields)
        else:
            message = _decode(number, fields)
            try:
                after = model.heard(message, 0)
            except (Cheated, Contradiction) as reason:
                raise Wrong(f"Line {number} of the receipt: {reason}") from reason
            _compare_heard(record, by_id, account, after, message, f"Line {number} of the receipt")
            model = after
    yield from _conclude(record, account)


def _read(number: int, line: str) -> tuple[str, Any]:
    try:
        fields = json.loads(line)
        if fields.get("type") == "receipt":
            return "receipt", fields
        kind = "heard" if "heard" in fields else "said"
        return kind, fields[kind]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as reason:
        raise BadReceipt(f"line {number} is no line of a receipt ({type(reason).__name__})") from reason


def _key(record: Record, number: int, fields: Any) -> bytes:
    key = fields.get("key")
    if key != record.key.hex():
        raise Wrong(f"Line {number} of the receipt: the server had the key {key}, not that of the record.")
    return record.key


def _decode(number: int, fields: Any) -> Snapshot | View:
    try:
        message = decode_from_server(json.dumps(fields))
    except BrokenMessage as reason:
        raise BadReceipt(f"line {number} holds no message of a server ({reason})") from reason
    if not isinstance(message, (Snapshot, View)):
        raise BadReceipt(f"line {number} holds a message that a receipt does not keep ({message.type})")
    return message


def _compare_said(
    by_id: dict[bytes, RecordedRound], account: _Account, seat: int | None, number: int, fields: Any
) -> None:
    """Our own words: we were bound after the server was, and the record has our bytes."""
    where = f"Line {number} of the receipt"
    try:
        round_id = bytes.fromhex(fields.get("round", ""))
        played = by_id.get(round_id)
        if played is None or seat is None:
            return
        if round_id not in account.rounds:
            raise Wrong(f"{where}: we were bound to a round before its commitment was shown.")
        if fields["type"] == "reveal" and bytes.fromhex(fields["entropy"]) != played.entropies[seat]:
            raise Wrong(f"{where}: the record has another entropy for us than the one that we showed.")
        if fields["type"] == "ready" and bytes.fromhex(fields["entropy_hash"]) != played.entropy_hashes[seat]:
            raise Wrong(f"{where}: the record has another entropy hash for us than the one that we sent.")
    except (ValueError, KeyError, TypeError, AttributeError) as reason:
        raise BadReceipt(f"line {number} holds nothing that a client says ({type(reason).__name__})") from reason


def _compare_heard(
    record: Record,
    by_id: dict[bytes, RecordedRound],
    account: _Account,
    model: Model,
    message: Snapshot | View,
    where: str,
) -> None:
    shown: Sequence[Entry] = message.entries if isinstance(message, View) else ()
    for entry in shown:
        if isinstance(entry, entries.RoundOpened) and entry.round not in account.rounds:
            account.rounds.append(entry.round)
    witness = model.witness
    if witness.round_id is None:
        return
    if witness.round_id not in account.rounds:
        account.rounds.append(witness.round_id)
    played = by_id.get(witness.round_id)
    if played is None:
        return
    _compare_seal(witness, played, where)
    for entry in shown:
        match entry:
            case entries.Turned(seat=seat):
                account.cards.add((played.round_id, seat, entry.pass_number, entry.position))
            case entries.Moved(seat=seat, number=number, move=move):
                moves = [each for each in played.events if isinstance(each, RecordedMove) and each.seat == seat]
                if number > len(moves) or moves[number - 1].move is not move:
                    raise Wrong(f"{where}: move {number} of {record.names[seat]} was {move}; the record differs.")
                account.moves.add((played.round_id, seat, number))
            case entries.RoundFinished(outcome=outcome):
                if outcome != played.outcome:
                    raise Wrong(f"{where}: the result that was shown is not the one in the record.")
                account.finished.add(played.round_id)
            case _:
                pass


def _compare_seal(witness: Witness, played: RecordedRound, where: str) -> None:
    """Cards need no comparing: they came from envelopes, and the record has the same envelopes."""
    pairs = (
        ("commitment", witness.commitment, played.commitment),
        ("entropy hash of seat 1", witness.hashes[0], played.entropy_hashes[0]),
        ("entropy hash of seat 2", witness.hashes[1], played.entropy_hashes[1]),
        ("entropy of seat 1", witness.entropies[0], played.entropies[0]),
        ("entropy of seat 2", witness.entropies[1], played.entropies[1]),
        ("envelopes", witness.envelopes or None, played.envelopes),
    )
    for what, shown, recorded in pairs:
        if shown is not None and shown != recorded:
            raise Wrong(f"{where}: the record has another {what} than the one that was shown.")


def _conclude(record: Record, account: _Account) -> Iterator[str]:
    recorded = [played.round_id for played in record.rounds]
    ours = [place for place, round_id in enumerate(account.rounds) if round_id in recorded]
    if not ours:
        raise Wrong("The receipt tells of none of the rounds in this record: it is of another match.")
    for round_id in account.rounds[ours[0] : ours[-1]]:
        if round_id not in recorded:
            raise Wrong(f"The round {round_id.hex()} was opened during this match and is missing in the record.")
    yield f"Receipt: {len(ours)} of {len(recorded)} rounds were shown to you, committed before you were bound to yours."
    yield f"Receipt: {len(account.cards)} cards and {len(account.moves)} moves that you were shown are in the record."
    yield f"Receipt: you were shown the result of {len(account.finished)}; it is the one in the record."
