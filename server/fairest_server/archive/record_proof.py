"""The proof that a text is the record of a match, before it may be the only copy."""

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from fairest_protocol.calculation.certified import finding_step
from fairest_protocol.calculation.deal import seal_deal
from fairest_protocol.calculation.match_rules import checking_record
from fairest_protocol.calculation.record import BadRecord, Record
from fairest_protocol.calculation.record_parser import parsing_record
from fairest_protocol.calculation.seal import commit_entropy, commit_secret, record_statement
from fairest_protocol.calculation.sliced import Sliced, finish
from fairest_protocol.value import replace


class BrokenRecord(Exception):
    """A record does not prove itself; the text says where."""


def prove_record(content: bytes, match_id: str) -> Record:
    """Return the record of the match `match_id` that a file holds.

    Its lines are chained and signed, each round's secret and entropies are those that were committed and make the
    sealed deal, in a certified round at its first proved step, and the moves lead to the results. Raises
    `BrokenRecord`.
    """
    return finish(proving_record(content, match_id))


def proving_record(content: bytes, match_id: str) -> Sliced[Record]:
    """Do what `prove_record` does, in slices."""
    try:
        lines = content.decode().split("\n")
        if lines.pop() != "":
            raise BrokenRecord("its last line has no line feed")
        record, chain = yield from parsing_record(lines)
        yield from checking_record(record)
        if record.match_id != match_id:
            raise BrokenRecord(f"it is the record of the match {record.match_id}")
        _check_signature(record, record_statement(chain), record.signature, "the record")
        for number in range(len(record.rounds)):
            yield
            _check_seal(record, number)
            yield from _checking_step(record, number)
    except UnicodeDecodeError as reason:
        raise BrokenRecord(f"it is not text: {reason.reason} at byte {reason.start}") from reason
    except BadRecord as reason:
        raise BrokenRecord(str(reason)) from reason
    return record


def checking_made_record(record: Record, key: bytes) -> Sliced[None]:
    """Check a record that this process has made of a log, under the key `key`. Raises `BrokenRecord`.

    The log may hold what no server has written: other moves, a commitment that was not signed. The chain, the seal and
    the envelopes follow from what is checked here, since this process has made them. The step of a certified round is
    left out: finding it again would take 0.1 s in one round of twenty.
    """
    try:
        yield from checking_record(record)
    except BadRecord as reason:
        raise BrokenRecord(str(reason)) from reason
    keyed = replace(record, key=key)
    for number in range(len(record.rounds)):
        yield
        _check_commitment(keyed, number)
        _check_entropies(keyed, number)


def _check_commitment(record: Record, number: int) -> None:
    signature = record.rounds[number].signature
    _check_signature(record, record.round_statement(number), signature, f"the commitment of round {number + 1}")


def _check_entropies(record: Record, number: int) -> None:
    played = record.rounds[number]
    for seat, (sealed, entropy) in enumerate(zip(played.entropy_hashes, played.entropies, strict=True)):
        if entropy is not None and sealed != commit_entropy(played.round_id, seat, entropy):
            raise BrokenRecord(f"the entropy of seat {seat} in round {number + 1} does not belong to its hash")


def _checking_step(record: Record, number: int) -> Sliced[None]:
    """Find the step of a certified round again, in slices, and compare it with the one that was dealt."""
    played = record.rounds[number]
    if played.step is None:
        return
    found = yield from finding_step(record.rules, played.round_seed)
    if played.step != found.step:
        raise BrokenRecord(f"round {number + 1} was dealt at step {played.step + 1} and not at step {found.step + 1}")


def _check_seal(record: Record, number: int) -> None:
    """Check that the round with this number, from 0, was dealt as the server had committed itself to."""
    played, where = record.rounds[number], f"round {number + 1}"
    _check_commitment(record, number)
    if commit_secret(played.round_id, played.secret) != played.commitment:
        raise BrokenRecord(f"the secret of {where} does not belong to its commitment")
    _check_entropies(record, number)
    sealed = seal_deal(record.rules, played.seed, played.round_id).envelopes if played.is_dealt else ()
    if played.envelopes != sealed:
        raise BrokenRecord(f"the envelopes of {where} are not those of its deal")


def _check_signature(record: Record, statement: bytes, signature: bytes, signed: str) -> None:
    try:
        Ed25519PublicKey.from_public_bytes(record.key).verify(signature, statement)
    except (InvalidSignature, ValueError) as reason:
        raise BrokenRecord(f"{signed} is not signed with the key that it names") from reason
