"""The receipt of a player of a tournament: written, read again, and judged with and without the record of a race."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from fairest_cli.model.tournament_game import RoundWitness
from fairest_cli.records.receipt_replay import BadReceipt
from fairest_cli.records.tournament_receipt import (
    MAX_BYTES,
    TournamentReceipt,
    keep_receipt,
    load_receipt,
    own_names_in,
    parse_tournament_receipt,
    read_tournament_rounds,
)
from fairest_cli.text.verification import Verification, verify
from fairest_protocol.calculation.deal import seal_deal
from fairest_protocol.calculation.rules import VARIANTS
from fairest_protocol.calculation.seal import commit_entrant, hash_tournament_round
from fairest_protocol.calculation.tournament_record import TournamentRecord
from fairest_protocol.messages.tournaments import RaceScore
from fairest_protocol.value import replace
from fairest_server.live.signing import SigningKey
from tests.protocol.calculation.test_daily_record import make_record as make_attempt
from tests.protocol.calculation.test_tournament_record import make_record

KEY = SigningKey(bytes(32))
RECORD = KEY.sign_race(make_record())
SERVER = "ws://127.0.0.1:8765"


def witness_of(record: TournamentRecord) -> RoundWitness:
    """Return what the player of this record was shown of its round, to the end."""
    round_id, score = record.round_id, record.score
    return RoundWitness(
        round_id=round_id,
        commitment=record.commitment,
        hashes=tuple((name, commit_entrant(round_id, name, entropy)) for name, entropy in record.entropies),
        entropies=record.entropies,
        envelopes=seal_deal(record.rules, record.seed, round_id).envelopes,
        secret=record.secret,
        moves=tuple(timed.move for timed in record.moves),
        result=RaceScore(won=score.won, placed=score.placed, direct=score.direct, time_ms=score.time_ms),
        seen_ms=1_900_000_000_000,
    )


def receipt_of(rounds: Mapping[int, RoundWitness] | None = None, **changes: Any) -> TournamentReceipt:
    fields: dict[str, Any] = {
        "server": SERVER,
        "key": KEY.public,
        "tournament": RECORD.tournament,
        "code": RECORD.code,
        "name": RECORD.name,
        "rules": RECORD.rules,
        "rounds": {RECORD.number: witness_of(RECORD)} if rounds is None else rounds,
    }
    return TournamentReceipt(**{**fields, **changes})


def changed(**changes: Any) -> TournamentReceipt:
    """Return a receipt whose round was shown with these changes."""
    return receipt_of({RECORD.number: replace(witness_of(RECORD), **changes)})


def judged(receipt: TournamentReceipt, record: TournamentRecord | None = RECORD) -> Verification:
    return verify(None if record is None else record.text(), None, receipt.text().splitlines())


def test_a_receipt_is_read_as_it_was_written(tmp_path: Path) -> None:
    keep_receipt(tmp_path, receipt_of())
    assert load_receipt(tmp_path, RECORD.code, RECORD.name, KEY.public) == receipt_of()


def test_a_receipt_before_the_end_of_a_round_is_read_as_it_was_written() -> None:
    receipt = receipt_of({1: RoundWitness(hash_tournament_round(RECORD.tournament, 1), bytes(32), seen_ms=1)})
    assert parse_tournament_receipt(receipt.text()) == receipt


def test_the_receipts_of_two_players_and_of_two_servers_are_files_of_their_own(tmp_path: Path) -> None:
    for receipt in (receipt_of(), receipt_of(name="bob"), receipt_of(key=bytes(32))):
        keep_receipt(tmp_path, receipt)
    assert len(list(tmp_path.iterdir())) == 3


def test_the_players_of_this_machine_in_a_tournament_are_known_by_their_receipts(tmp_path: Path) -> None:
    for receipt in (receipt_of(), receipt_of(name="Bob"), receipt_of(code="loud-green-heron", name="eve")):
        keep_receipt(tmp_path, receipt)
    assert list(own_names_in(tmp_path, RECORD.code)) == ["ann", "Bob"]


def test_a_receipt_that_is_none_is_as_if_it_was_not_there(tmp_path: Path) -> None:
    keep_receipt(tmp_path, receipt_of())
    [path] = tmp_path.iterdir()
    path.write_text("{}")
    assert load_receipt(tmp_path, RECORD.code, RECORD.name, KEY.public) is None


def test_a_receipt_that_is_too_long_is_not_read(tmp_path: Path) -> None:
    keep_receipt(tmp_path, receipt_of())
    [path] = tmp_path.iterdir()
    path.write_text(receipt_of().text() + " " * MAX_BYTES)
    assert load_receipt(tmp_path, RECORD.code, RECORD.name, KEY.public) is None


CHANGES: dict[str, Callable[[dict[str, Any]], object]] = {
    "no key": lambda fields: fields.pop("key"),
    "a name with a blank": lambda fields: fields.update(name="a b"),
    "a code that is a path": lambda fields: fields.update(code="../x"),
    "unknown rules": lambda fields: fields.update(rules="none"),
    "a short tournament": lambda fields: fields.update(tournament="00"),
    "round 0": lambda fields: fields["rounds"][0].update(round=0),
    "round 65536": lambda fields: fields["rounds"][0].update(round=2**16),
    "an unknown move": lambda fields: fields["rounds"][0].update(moves=["xx"]),
    "a result without counts": lambda fields: fields["rounds"][0].update(result={}),
    "a name without its hash": lambda fields: fields["rounds"][0].update(hashes=[["ann"]]),
    "no rounds": lambda fields: fields.update(rounds=None),
}


def fault_after(change: Callable[[dict[str, Any]], object]) -> str:
    """Return the error with which a receipt with this change is refused, empty if it is read."""
    fields = json.loads(receipt_of().text())
    change(fields)
    try:
        parse_tournament_receipt(json.dumps(fields))
    except Exception as reason:
        return f"{type(reason).__name__}: {reason}"
    return ""


def test_a_receipt_that_no_client_writes_is_refused() -> None:
    faults = {name: fault_after(change) for name, change in CHANGES.items()}
    wanted = "BadReceipt: it is not the receipt of a tournament"
    assert [(name, fault) for name, fault in faults.items() if not fault.startswith(wanted)] == []


def test_a_receipt_alone_proves_the_deck_of_each_round_that_is_over() -> None:
    shown = judged(receipt_of(), None)
    assert shown.is_right
    assert f"the server was bound by {RECORD.commitment.hex()}, was dealt from its secret" in shown.lines[1]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"secret": None}, "was not over when your client saw it last"),
        ({"entropies": ()}, "your client did not see its cards dealt"),
        ({"envelopes": ()}, "was opened with its secret and the bytes of 2 players"),
    ],
)
def test_a_receipt_says_of_each_round_what_it_does_not_prove(changes: dict[str, Any], sentence: str) -> None:
    assert sentence in judged(changed(**changes), None).lines[1]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"secret": bytes(32)}, "The secret of round 2 does not belong to its commitment"),
        ({"entropies": (("ann", bytes(32)), ("bob", bytes(32)))}, "The bytes of ann for round 2 do not belong"),
        ({"envelopes": seal_deal(RECORD.rules, bytes(32), RECORD.round_id).envelopes}, "holds another deal's card"),
    ],
)
def test_a_receipt_that_shows_a_broken_promise_is_wrong(changes: dict[str, Any], sentence: str) -> None:
    shown = judged(changed(**changes), None)
    assert not shown.is_right and sentence in shown.lines[-1]


def test_a_record_that_is_that_of_the_receipt_is_right() -> None:
    shown = judged(receipt_of())
    assert shown.is_right
    assert [line for line in shown.lines if line.startswith("Receipt: ")][1:] == [
        "Receipt: its commitment is the one that you were shown.",
        "Receipt: the bytes of all 2 players belong to the hashes that you were shown.",
        "Receipt: the deck is the one in the envelopes that you were shown.",
        f"Receipt: its {len(RECORD.moves)} moves and its score are those that your client was shown.",
    ]


def test_the_record_of_another_player_of_the_round_is_compared_but_for_its_moves() -> None:
    shown = judged(receipt_of(), KEY.sign_race(make_record(5, name="bob")))
    assert shown.is_right and not any("moves" in line for line in shown.lines if line.startswith("Receipt: "))


def test_moves_of_a_race_whose_end_was_not_seen_are_compared_as_far_as_they_go() -> None:
    shown = judged(changed(moves=witness_of(RECORD).moves[:3], result=None))
    assert shown.is_right and any("its 3 moves so far" in line for line in shown.lines)


def test_a_record_of_a_round_of_which_nothing_was_shown_is_right_and_that_is_said() -> None:
    shown = judged(receipt_of({}))
    assert shown.is_right and any("was shown nothing of round 2" in line for line in shown.lines)


OTHER_DECK = KEY.sign_race(make_record(entropies=(("ann", bytes([1]) * 32), ("bob", bytes([3]) * 32))))
ANOTHER_PLAYER = KEY.sign_race(
    make_record(entropies=(("ann", bytes([1]) * 32), ("bob", bytes([2]) * 32), ("eve", bytes(32))))
)


OTHER_RULES = receipt_of({2: replace(witness_of(RECORD), secret=None)}, rules=VARIANTS["reverse"].rules)
OTHER_SCORE = changed(result=RaceScore(won=False, placed=RECORD.score.placed, direct=0, time_ms=1))
CONTRADICTIONS: dict[str, tuple[TournamentReceipt, TournamentRecord, str]] = {
    "tournament": (receipt_of({}, tournament=bytes(16)), RECORD, "that of another tournament"),
    "code": (receipt_of(code="loud-green-heron"), RECORD, "that of another tournament"),
    "key": (receipt_of(key=bytes(32)), RECORD, "another key than the one that the server showed"),
    "rules": (OTHER_RULES, RECORD, "other rules"),
    "commitment": (receipt_of(), KEY.sign_race(make_record(secret=bytes(32))), "has another commitment"),
    "bytes": (receipt_of(), OTHER_DECK, "dealt from other bytes"),
    "a player more": (receipt_of(), ANOTHER_PLAYER, "dealt from other bytes"),
    "hashes": (changed(entropies=(), envelopes=()), ANOTHER_PLAYER, "The bytes of eve do not belong to the hash"),
    "envelopes": (changed(entropies=(), hashes=()), OTHER_DECK, "The deck is not the one in the envelopes"),
    "moves": (receipt_of(), KEY.sign_race(make_record(5)), "The moves are not those that your client made"),
    "moves so far": (changed(moves=witness_of(RECORD).moves[1:4], result=None), RECORD, "The moves are not those"),
    "score": (OTHER_SCORE, RECORD, "The score is not the one"),
}
"""A receipt, a record, and a part of the verdict, by what contradicts in them."""


def test_a_record_that_contradicts_the_receipt_is_wrong() -> None:
    verdicts = {what: judged(receipt, record) for what, (receipt, record, _) in CONTRADICTIONS.items()}
    wrong = [
        (what, verdict.lines[-1])
        for what, verdict in verdicts.items()
        if verdict.is_right or CONTRADICTIONS[what][2] not in verdict.lines[-1]
    ]
    assert wrong == []


def test_a_receipt_of_a_match_does_not_go_with_a_race_of_a_tournament() -> None:
    with pytest.raises(BadReceipt, match="not that of a tournament"):
        verify(RECORD.text(), None, ['{"type":"receipt","server":"ws://a","key":null}'])


def test_a_receipt_of_a_tournament_does_not_go_with_a_match() -> None:
    with pytest.raises(BadReceipt, match="the record is that of a match"):
        verify('{"type":"match"}\n', None, receipt_of().text().splitlines())


def test_an_attempt_at_a_daily_deal_has_no_receipt() -> None:
    with pytest.raises(BadReceipt, match="fairest daily --day"):
        verify(make_attempt().text(), None, receipt_of().text().splitlines())


def test_an_audit_is_given_each_round_with_the_deck_that_the_chain_must_have(tmp_path: Path) -> None:
    keep_receipt(tmp_path, receipt_of())
    [seen] = read_tournament_rounds(tmp_path, KEY.public)
    assert (seen.commitment, seen.rules) == (RECORD.commitment.hex(), "classic-tournament 4 0")
    assert (seen.seed, seen.how, seen.is_bound) == (RECORD.seed.hex(), "finished", True)


def test_an_audit_claims_no_deck_of_a_round_that_was_not_seen_dealt(tmp_path: Path) -> None:
    keep_receipt(tmp_path, changed(entropies=()))
    [seen] = read_tournament_rounds(tmp_path, KEY.public)
    assert (seen.seed, seen.how, seen.is_bound) == (None, "", False)


def test_an_audit_of_another_server_is_given_nothing(tmp_path: Path) -> None:
    keep_receipt(tmp_path, receipt_of())
    assert list(read_tournament_rounds(tmp_path, bytes(32))) == []


def test_an_audit_is_given_nothing_of_a_receipt_whose_name_has_another_key_than_its_text(tmp_path: Path) -> None:
    keep_receipt(tmp_path, receipt_of())
    [path] = tmp_path.iterdir()
    path.write_text(receipt_of(key=bytes(32)).text())
    assert list(read_tournament_rounds(tmp_path, KEY.public)) == []
