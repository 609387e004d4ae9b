"""The checks of `fairest verify`: they prove a record offline, in the order in which they are printed. Pure.

Each check yields a sentence when it holds; the first one that does not raises `WrongRecord`.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from fairest_cli.model.cheated import Cheated
from fairest_cli.model.deal_check import check_step, first_wrong_envelope
from fairest_cli.model.known_room import KnownRoom
from fairest_cli.model.proof import describe_step
from fairest_cli.model.signature import is_signed
from fairest_cli.records.files import split_lines
from fairest_cli.untrusted_text import clean
from fairest_protocol.calculation.deal import seal_deal
from fairest_protocol.calculation.match_rules import check_match, check_round, is_match_over
from fairest_protocol.calculation.record import BadRecord, Record, RecordedRound
from fairest_protocol.calculation.record_parser import parse_record
from fairest_protocol.calculation.seal import (
    commit_entropy,
    commit_secret,
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
    try:
        lines = split_lines(text)
        record, chain = parse_record(lines)
    except BadRecord as reason:
        raise WrongRecord(_sentence(reason)) from reason
    return record, _verify(record, chain, len(lines), key)


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


def _verify(record: Record, chain: bytes, lines: int, key: bytes | None) -> Iterator[str]:
    yield f"{lines} lines, each chained to the one before: none was changed, left out or moved."
    if not is_signed(record_statement(chain), record.signature, record.key):
        raise WrongRecord("The record is not signed with the key that it names.")
    if key not in (None, record.key):
        assert key is not None
        raise WrongRecord(f"The record is signed with the key {record.key.hex()}, and not with {key.hex()}.")
    yield f"Signed with the key {record.key.hex()}{'' if key is None else ', as it should be'}."
    try:
        check_match(record)
        for number, played in enumerate(record.rounds, 1):
            yield from _verify_round(record, number, played)
    except BadRecord as reason:
        raise WrongRecord(_sentence(reason)) from reason
    winners = [played.outcome.winner for played in record.rounds if played.outcome is not None]
    if not is_match_over(winners, record.terms.best_of):
        yield f"The match was broken off: a player left after {len(winners)} of up to {record.terms.best_of} rounds."


def _verify_round(record: Record, number: int, played: RecordedRound) -> Iterator[str]:
    where = f"Round {number}"
    if not is_signed(record.round_statement(number - 1), played.signature, record.key):
        raise WrongRecord(f"{where}: the server has not signed this commitment, for this match and these rules.")
    if commit_secret(played.round_id, played.secret) != played.commitment:
        raise WrongRecord(f"{where}: the secret does not belong to the commitment.")
    yield f"{where}: the server committed itself to its secret before anybody was ready, and has shown it."
    for seat, (sealed, entropy) in enumerate(zip(played.entropy_hashes, played.entropies, strict=True)):
        if entropy is not None and sealed != commit_entropy(played.round_id, seat, entropy):
            raise WrongRecord(f"{where}: the entropy of {clean(record.names[seat])} does not belong to its hash.")
    if played.is_dealt:
        yield f"{where}: both players committed themselves to their entropy before they saw the other's."
        yield from _verify_deal(record, where, played)
    check_round(record, number - 1)
    if played.outcome is None:
        yield f"{where}: called off before both players were ready."
        return
    winner = "a draw" if played.outcome.winner is None else f"{clean(record.names[played.outcome.winner])} wins"
    if not played.is_dealt:
        yield f"{where}: ended before its cards were dealt, by a player who left or did not reveal: {winner}."
        return
    counts = " to ".join(map(str, played.outcome.counts))
    yield f"{where}: {len(played.events)} moves and stops, within the rules, lead to the result: {winner}, {counts}."


def _verify_deal(record: Record, where: str, played: RecordedRound) -> Iterator[str]:
    envelopes = seal_deal(record.rules, played.seed, played.round_id).envelopes
    wrong = first_wrong_envelope(played.envelopes, envelopes)
    if wrong is not None:
        place = f"pass {wrong.pass_number}, position {wrong.position + 1}"
        raise WrongRecord(f"{where}: the envelope of {place} holds another card.")
    if played.envelopes != envelopes:
        raise WrongRecord(f"{where}: there are more or fewer envelopes than the deal has.")
    count = sum(map(len, envelopes))
    if played.step is not None:
        yield f"{where}: certified deal: {_check_step(record, where, played.round_seed, played.step)}."
    yield f"{where}: secret and entropies make the deal; {count} of {count} envelopes hold its cards."
    entropies = [entropy for entropy in played.entropies if entropy]
    words = make_check_words(
        played.round_id, played.commitment, entropies, root_envelopes(played.envelopes), record.terms.text
    )
    yield f"{where}: the check words were {' '.join(words)}."
    rules = f"--rules {record.rules.name} --redeals {record.rules.redeals}"
    yield f"{where}: to see the deck: fairest deal {played.seed.hex()} {rules}"


def _check_step(record: Record, where: str, round_seed: bytes, step: int) -> str:
    """Return a clause about the step of a certified round, which is repeated here."""
    try:
        return describe_step(check_step(record.rules, round_seed, step))
    except Cheated as reason:
        raise WrongRecord(f"{where}: {reason}") from reason


def _sentence(reason: BadRecord) -> str:
    return f"{str(reason)[:1].upper()}{str(reason)[1:]}."
