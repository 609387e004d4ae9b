"""The checks of `fairest verify`: they prove a record offline, in the order in which they are printed. Pure.

Each check yields a sentence when it holds; the first one that does not raises `WrongRecord`.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from fairest_cli.model.deal_check import first_wrong_envelope
from fairest_cli.model.known_room import KnownRoom
from fairest_cli.model.signature import is_signed
from fairest_cli.untrusted_text import clean
from fairest_protocol.calculation.deal import seal_deal
from fairest_protocol.calculation.race import Ending, undealt_outcome
from fairest_protocol.calculation.record import BadRecord, Record, RecordedRound, check_recorded_race
from fairest_protocol.calculation.record_parser import parse_record
from fairest_protocol.calculation.seal import (
    commit_entropy,
    commit_secret,
    commitment_statement,
    make_check_words,
    record_statement,
    root_envelopes,
)
from fairest_protocol.messages.fields import Phase

LIMITS_OF_RECORD: Final = """\
What a record alone cannot prove:
  that this match took place, and that the record is complete: a server could
    invent a whole record. Your own receipt shows both: --receipt FILE.
  who won the match, and whether clocks and limits were kept: times are the
    server's own.
  that the key is your server's: compare it with GET /key, or pass it: --key HEX.
  that no player was told which cards were to come (docs/fairness.md)."""


LIMITS_OF_RECEIPT: Final = """\
What no proof shows: that no player was told which cards were to come
  (docs/fairness.md)."""


class WrongRecord(Exception):
    """A check of a record failed; the text says where, and what the record should have."""


def verify_record(text: str, key: bytes | None = None) -> tuple[Record, Iterator[str]]:
    """Parse the text of a record's file; return the record, and an iterator that makes its checks.

    `key` is the public key of the server, if it is known. Raises `WrongRecord`, and so does the iterator.
    """
    lines = text.split("\n")
    if lines.pop() != "":
        raise WrongRecord("The file does not end where a record ends: its last line has no line feed.")
    try:
        record = parse_record(lines)
    except BadRecord as reason:
        raise WrongRecord(_sentence(reason)) from reason
    return record, _verify(record, len(lines), key)


def prove_shown(lines: Sequence[str], model: KnownRoom) -> None:
    """Check the record that a server sends after a match: that it holds, and that its boards are those of `model`.

    Raises `WrongRecord`.
    """
    record, checks = verify_record("".join(f"{line}\n" for line in lines), model.seal_check.key)
    for _ in checks:
        pass
    if record.room != model.room:
        raise WrongRecord(f"It is of the room {clean(record.room)}, and not of {model.room}.")
    for number, played in enumerate(record.rounds):
        if played.round_id == model.seal_check.round_id and played.is_dealt and model.scene:
            *_, (_, race) = record.steps(number)
            boards = [seat.board for seat in model.scene.seats if seat.board is not None]
            if model.scene.phase is Phase.FINISHED and boards != [racer.board for racer in race.racers]:
                raise WrongRecord("Its boards are not those that we were shown.")


def _verify(record: Record, lines: int, key: bytes | None) -> Iterator[str]:
    yield f"{lines} lines, each chained to the one before: none was changed, left out or moved."
    if not is_signed(record_statement(record.chain()), record.signature, record.key):
        raise WrongRecord("The record is not signed with the key that it names.")
    if key not in (None, record.key):
        assert key is not None
        raise WrongRecord(f"The record is signed with the key {record.key.hex()}, and not with {key.hex()}.")
    yield f"Signed with the key {record.key.hex()}{'' if key is None else ', as it should be'}."
    repeated = [round_id for round_id, count in Counter(each.round_id for each in record.rounds).items() if count > 1]
    if repeated:
        raise WrongRecord(f"The round {repeated[0].hex()} stands in the record twice.")
    for number, played in enumerate(record.rounds, 1):
        yield from _verify_round(record, number, played)


def _verify_round(record: Record, number: int, played: RecordedRound) -> Iterator[str]:
    where = f"Round {number}"
    if not is_signed(commitment_statement(played.round_id, played.commitment), played.signature, record.key):
        raise WrongRecord(f"{where}: the commitment is not signed by the server.")
    if commit_secret(played.round_id, played.secret) != played.commitment:
        raise WrongRecord(f"{where}: the secret does not belong to the commitment.")
    yield f"{where}: the server committed itself to its secret before anybody was ready, and has shown it."
    for seat, (sealed, entropy) in enumerate(zip(played.entropy_hashes, played.entropies, strict=True)):
        if entropy is not None and sealed != commit_entropy(played.round_id, seat, entropy):
            raise WrongRecord(f"{where}: the entropy of {clean(record.names[seat])} does not belong to its hash.")
    if not played.is_dealt:
        if played.envelopes or played.events:
            raise WrongRecord(f"{where}: there are cards or moves, but no deal.")
        _verify_undealt(record, where, played)
        yield f"{where}: called off before its cards were dealt."
        return
    yield f"{where}: both players committed themselves to their entropy before they saw the other's."
    yield from _verify_deal(record, where, played)
    yield from _verify_race(record, number, played)


def _verify_undealt(record: Record, where: str, played: RecordedRound) -> None:
    """Check the result of a round without a deal: one or both have lost, by not revealing or by resigning."""
    if played.outcome is None:
        return
    endings = [score.ending for score in played.outcome.scores]
    silent = [ending in (Ending.NOT_REVEALED, Ending.RESIGNED) for ending in endings]
    is_possible = any(silent) and all(
        is_silent or end is Ending.ROUND_OVER for is_silent, end in zip(silent, endings, strict=True)
    )
    if None in played.entropy_hashes or not is_possible or played.outcome != undealt_outcome(record.rules, endings):
        raise WrongRecord(f"{where}: it has a result that a round without a deal cannot have.")


def _verify_deal(record: Record, where: str, played: RecordedRound) -> Iterator[str]:
    envelopes = seal_deal(record.rules, played.seed, played.round_id).envelopes
    wrong = first_wrong_envelope(played.envelopes, envelopes)
    if wrong is not None:
        place = f"pass {wrong.pass_number}, position {wrong.position + 1}"
        raise WrongRecord(f"{where}: the envelope of {place} holds another card.")
    if played.envelopes != envelopes:
        raise WrongRecord(f"{where}: there are more or fewer envelopes than the deal has.")
    count = sum(map(len, envelopes))
    yield f"{where}: secret and entropies make the deal; {count} of {count} envelopes hold its cards."
    entropies = [entropy for entropy in played.entropies if entropy]
    words = make_check_words(
        played.round_id, played.commitment, entropies, root_envelopes(played.envelopes), record.rules.rules_id
    )
    yield f"{where}: the check words were {' '.join(words)}."
    rules = f"--rules {record.rules.name} --redeals {record.rules.redeals}"
    yield f"{where}: to see the deck: fairest deal {played.seed.hex()} {rules}"


def _verify_race(record: Record, number: int, played: RecordedRound) -> Iterator[str]:
    try:
        check_recorded_race(record, number - 1)
    except BadRecord as reason:
        raise WrongRecord(_sentence(reason)) from reason
    where = f"Round {number}"
    times = [event.at_ms for event in played.events]
    if times != sorted(times) or min(times, default=0) < 0:
        raise WrongRecord(f"{where}: time goes back.")
    assert played.outcome is not None, "a race was replayed to its result"
    winner = "a draw" if played.outcome.winner is None else f"{clean(record.names[played.outcome.winner])} wins"
    counts = " to ".join(str(score.placed) for score in played.outcome.scores)
    yield f"{where}: {len(played.events)} moves and stops, within the rules, lead to the result: {winner}, {counts}."


def _sentence(reason: BadRecord) -> str:
    return f"{str(reason)[:1].upper()}{str(reason)[1:]}."
