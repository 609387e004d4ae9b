"""Replays a receipt: what this client knew after each line of it, by the same rules as in the room itself. Pure."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from fairest_cli.model.cheated import Cheated
from fairest_cli.model.known_room import ConnectionStatus, Contradiction, KnownRoom
from fairest_cli.model.round_end import Alarm, Explained, Verdict, WayOut, judge_way_out
from fairest_cli.model.seal_check import EntropyCommitment, SealCheck
from fairest_cli.records.record_check import WrongRecord
from fairest_cli.untrusted_text import clean
from fairest_protocol.messages.codec import ProtocolViolation, decode_from_client, decode_from_server
from fairest_protocol.messages.fields import Message
from fairest_protocol.messages.from_client import Leave, Play, Ready, Reveal
from fairest_protocol.messages.from_server import Left, Snapshot, View
from fairest_protocol.value import Value, replace

KINDS: Final = ("heard", "said", "known", "dropped", "returned", "arrived", "ended")
"""The kinds of lines behind the first one."""


class BadReceipt(ValueError):
    """A file that is not a receipt; the text says which line is wrong."""


class RunBegan(Value):
    """The first line of a run of the client; `key` is the server's, as text."""

    key: object


class Step(Value):
    """One thing in a receipt, where it stands, when it happened, and the model before and after it.

    `what` is a message of ours, a snapshot, `left`, or one entry of a view; None for the end of a view, and for a line
    about the connection.
    """

    where: str
    at_ms: int
    what: Message | RunBegan | None
    before: KnownRoom
    model: KnownRoom


def replay_receipt(lines: Iterable[str]) -> Iterator[Step]:
    """Yield the steps of a receipt. Raises `BadReceipt`, and `WrongRecord` where it shows that the server cheated."""
    model = KnownRoom()
    for number, text in enumerate(lines, 1):
        where, (kind, at_ms, fields) = f"Line {number} of the receipt", _parse_line(number, text)
        try:
            for step in _steps_of(model, kind, fields, at_ms, where):
                model = step.model
                yield step
        except ProtocolViolation as reason:
            raise BadReceipt(f"line {number} does not hold a message ({reason})") from reason
        except (Cheated, Contradiction) as reason:
            raise WrongRecord(f"{where}: {reason}") from reason


@dataclass(slots=True)
class RoundEnds:
    """How the rounds of a receipt ended, of those to which this client was bound.

    `ended` has the explanation of each end, empty for one that was proved; `open` the verdict on each round that has
    not ended, if nothing follows.
    """

    ended: dict[bytes, str] = field(default_factory=dict)
    open: dict[bytes, Verdict] = field(default_factory=dict)

    def take(self, step: Step) -> None:
        """Take the next step of the receipt."""
        binding = step.model.binding
        if binding.evidence is not None:
            round_id = binding.evidence.round_id
            self.open[round_id] = judge_way_out(binding.evidence, WayOut.QUIT, "", binding.absent_ms(step.at_ms))
        end = binding.last_end
        if end is not None:
            self.open.pop(end.round_id, None)
            self.ended[end.round_id] = end.explanation
        seal = step.model.seal_check
        if seal.is_secret_known and seal.round_id in self.open:
            del self.open[seal.round_id]
            self.ended[seal.round_id] = "It ended while your client was not there; its commitment was opened."

    def conclude(self) -> Iterator[str]:
        """Yield sentences about the ends. Raises `WrongRecord` for a round that was broken off by the server."""
        for round_id, verdict in self.open.items():
            if isinstance(verdict, Alarm):
                raise WrongRecord(f"The round {round_id.hex()}: {verdict.sentence}")
        proved = sum(not explanation for explanation in self.ended.values())
        bound = len(self.ended) + len(self.open)
        yield f"Receipt: you were bound to {bound} round{'s' * (bound != 1)}, and saw the end of {proved} proved."
        for round_id, explanation in self.ended.items():
            if explanation:
                yield f"Receipt: round {round_id.hex()}: {clean(explanation)}"
        for round_id, verdict in self.open.items():
            if isinstance(verdict, Explained):
                yield f"Receipt: round {round_id.hex()}: {clean(verdict.sentence)}"


def judge_receipt(lines: Iterable[str]) -> Iterator[str]:
    """Yield how the rounds of a receipt ended, without a record. Raises `BadReceipt` and `WrongRecord`."""
    ends = RoundEnds()
    for step in replay_receipt(lines):
        ends.take(step)
    yield from ends.conclude()


def _parse_line(number: int, line: str) -> tuple[str, int, dict[str, Any]]:
    try:
        fields = json.loads(line)
        if fields.get("type") == "receipt":
            return "receipt", 0, fields
        kind = next(each for each in KINDS if each in fields)
        return kind, int(fields["at_ms"]), dict(fields[kind])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, StopIteration) as reason:
        raise BadReceipt(f"line {number} is not a line of a receipt ({type(reason).__name__})") from reason


def _steps_of(model: KnownRoom, kind: str, fields: dict[str, Any], at_ms: int, where: str) -> Iterator[Step]:
    match kind:
        case "receipt":
            key = fields.get("key")
            yield Step(where, at_ms, RunBegan(key), model, _begin_run(model, key))
        case "said":
            message = decode_from_client(json.dumps(fields))
            yield Step(where, at_ms, message, model, _after_said(model, message, at_ms, where))
        case "heard" | "known":
            yield from _steps_heard(model, decode_from_server(json.dumps(fields)), at_ms, where)
        case "dropped":
            yield Step(where, at_ms, None, model, _after_drop(model, fields))
        case "returned":
            yield Step(where, at_ms, None, model, replace(model, binding=model.binding.after_pong(at_ms)))
        case "arrived":
            yield Step(where, at_ms, None, model, _after_arrival(model, fields, at_ms))
        case _:
            yield Step(where, at_ms, None, model, _after_end(model, fields, at_ms))


def _begin_run(model: KnownRoom, key: object) -> KnownRoom:
    """Return the model of a client that has just been started. Our entropy commitment is kept from the run before."""
    try:
        known = bytes.fromhex(key) if isinstance(key, str) else None
    except ValueError:
        known = None
    return KnownRoom(seal_check=SealCheck(key=known, entropy_commitment=model.seal_check.entropy_commitment))


def _after_said(model: KnownRoom, message: Message, at_ms: int, where: str) -> KnownRoom:
    seal, model = model.seal_check, model.with_said(message, at_ms)
    match message:
        case Ready(round=round_id, entropy_hash=entropy_hash):
            if seal.seat is None or round_id != seal.round_id:
                return model
            return model.with_entropy_commitment(
                EntropyCommitment(round_id, seal.commitment, seal.seat, b"", entropy_hash)
            )
        case Reveal(round=round_id):
            known = seal.entropy_commitment
            if known is None or round_id != known.round_id:
                return model
            return model.with_entropy_commitment(replace(known, other_hash=seal.entropy_hashes[1 - known.seat]))
        case Play():
            return model if message in model.sent else model.with_sent(message)
        case Leave():
            return model
        case _:
            raise BadReceipt(f"{where} holds a message that a receipt does not keep")


def _steps_heard(model: KnownRoom, message: Message, at_ms: int, where: str) -> Iterator[Step]:
    match message:
        case Snapshot() | Left():
            yield Step(where, at_ms, message, model, model.after(message, at_ms))
        case View():
            for offset, entry in enumerate(message.entries):
                before, model = model, model.after_part(message.part(offset, offset + 1), at_ms)
                if model.position > before.position:
                    yield Step(where, at_ms, entry, before, model)
            yield Step(where, at_ms, None, model, model.settled(at_ms))
        case _:
            raise BadReceipt(f"{where} holds a message that a receipt does not keep")


def _after_drop(model: KnownRoom, fields: dict[str, Any]) -> KnownRoom:
    alive_ms = fields.get("alive_ms")
    if not isinstance(alive_ms, int):
        raise BadReceipt("a line about a drop does not say when the connection was last known to be up")
    alive = replace(model, binding=model.binding.after_alive(alive_ms))
    return alive.with_status(ConnectionStatus.LOST)


def _after_arrival(model: KnownRoom, fields: dict[str, Any], at_ms: int) -> KnownRoom:
    try:
        round_id = bytes.fromhex(fields["round"])
    except (KeyError, TypeError, ValueError) as reason:
        raise BadReceipt("a line about bytes that have arrived does not name their round") from reason
    return replace(model, binding=model.binding.after_arrival(round_id, at_ms))


def _after_end(model: KnownRoom, fields: dict[str, Any], at_ms: int) -> KnownRoom:
    try:
        way_out = WayOut(fields.get("way_out", ""))
    except ValueError as reason:
        raise BadReceipt(f"a client does not end by {clean(str(fields.get('way_out')))[:40]!r}") from reason
    if way_out is WayOut.QUIT:
        # The client may be started again and come back to its seat, so this is judged at the end of the receipt.
        return model
    return model.after_way_out(way_out, str(fields.get("detail", "")), at_ms)
