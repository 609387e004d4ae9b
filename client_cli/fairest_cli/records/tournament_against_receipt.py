"""Judges the receipt of a tournament, alone or beside the record of a race: whether the server kept to it. Pure."""

from collections.abc import Iterator
from typing import Final

from fairest_cli.model.cheated import Cheated
from fairest_cli.model.deal_check import first_wrong_envelope
from fairest_cli.model.tournament_game import RoundWitness, check_deck
from fairest_cli.records.record_check import WrongRecord
from fairest_cli.records.tournament_check import is_score
from fairest_cli.records.tournament_receipt import TournamentReceipt
from fairest_cli.untrusted_text import clean
from fairest_protocol.calculation.deal import seal_deal
from fairest_protocol.calculation.rules import Rules
from fairest_protocol.calculation.seal import commit_entrant
from fairest_protocol.calculation.tournament_record import TournamentRecord

LIMITS_OF_TOURNAMENT_RECEIPT: Final = (
    "What a receipt alone cannot show: that the commitments stand in the server's chain of rounds. fairest audit looks "
    "up there each round of your receipts."
)


def judge_tournament_receipt(receipt: TournamentReceipt) -> Iterator[str]:
    """Yield a sentence for each round of a receipt. Raises `WrongRecord` where it shows that the server cheated."""
    yield f"Receipt of {clean(receipt.name)} in the tournament {clean(receipt.code)}."
    for number in sorted(receipt.rounds):
        witness = receipt.rounds[number]
        _check_witness(receipt.rules, number, witness)
        bound = f"round {number}, to which the server was bound by {witness.commitment.hex()}"
        if witness.secret is None:
            yield f"Receipt: {bound}, was not over when your client saw it last."
        elif witness.seed is None:
            yield f"Receipt: {bound}, was opened with its secret; your client did not see its cards dealt."
        elif not witness.envelopes:
            yield f"Receipt: {bound}, was opened with its secret and the bytes of {len(witness.entropies)} players."
        else:
            yield (
                f"Receipt: {bound}, was dealt from its secret and the bytes of {len(witness.entropies)} players: the "
                "deck is the one in the envelopes that you were shown before you raced."
            )


def compare_tournament_receipt(record: TournamentRecord, receipt: TournamentReceipt) -> Iterator[str]:
    """Yield a sentence for each thing in which a record agrees with a receipt. Raises `WrongRecord` at a difference."""
    if (record.tournament, record.code) != (receipt.tournament, receipt.code):
        raise WrongRecord("The receipt is that of another tournament.")
    if record.key != receipt.key:
        raise WrongRecord("The record is signed with another key than the one that the server showed to your client.")
    yield from judge_tournament_receipt(receipt)
    witness = receipt.rounds.get(record.number)
    if witness is None:
        yield f"Receipt: your client was shown nothing of round {record.number}."
        return
    if (record.commitment, record.rules) != (witness.commitment, receipt.rules):
        raise WrongRecord("The record has another commitment, or other rules, than the server showed to your client.")
    yield "Receipt: its commitment is the one that you were shown."
    if witness.entropies and record.entropies != witness.entropies:
        raise WrongRecord("The record is dealt from other bytes than those that your client was shown.")
    for name, entropy in record.entropies:
        shown = commit_entrant(record.round_id, name, entropy)
        if witness.hashes and (name, shown) not in witness.hashes:
            raise WrongRecord(f"The bytes of {clean(name)} do not belong to the hash that your client was shown.")
    if witness.hashes:
        yield f"Receipt: the bytes of all {len(record.entropies)} players belong to the hashes that you were shown."
    if witness.envelopes:
        sealed = seal_deal(record.rules, record.seed, record.round_id)
        if first_wrong_envelope(witness.envelopes, sealed.envelopes) is not None:
            raise WrongRecord("The deck is not the one in the envelopes that your client was shown.")
        yield "Receipt: the deck is the one in the envelopes that you were shown."
    if record.name == receipt.name and witness.envelopes:
        yield _compare_race(record, witness)


def _compare_race(record: TournamentRecord, witness: RoundWitness) -> str:
    """Return that a record of our race has our moves, and our result if we saw it. Raises `WrongRecord`."""
    moves = tuple(timed.move for timed in record.moves)
    is_whole = witness.result is not None
    if witness.moves != (moves if is_whole else moves[: len(witness.moves)]):
        raise WrongRecord("The moves are not those that your client made.")
    if witness.result is not None and not is_score(witness.result, record):
        raise WrongRecord("The score is not the one that your client was shown.")
    what = "and its score are" if is_whole else "so far are"
    return f"Receipt: its {len(witness.moves)} moves {what} those that your client was shown."


def _check_witness(rules: Rules, number: int, witness: RoundWitness) -> None:
    for name, entropy in witness.entropies:
        if (name, commit_entrant(witness.round_id, name, entropy)) not in witness.hashes:
            raise WrongRecord(f"The bytes of {clean(name)} for round {number} do not belong to their hash.")
    if witness.secret is None:
        return
    try:
        check_deck(rules, witness, number)
    except Cheated as reason:
        raise WrongRecord(str(reason)) from reason
