"""The proof of the record of a race in a tournament, as `fairest verify` prints it."""

import json
from typing import Any

import pytest

from fairest_cli.model.signature import is_signed
from fairest_cli.records.record_check import WrongRecord
from fairest_cli.records.tournament_check import LIMITS_OF_TOURNAMENT_RACE, checking_tournament_race
from fairest_cli.text.verification import verify
from fairest_protocol.calculation.seal import daily_statement
from fairest_protocol.value import replace
from fairest_server.live.signing import SigningKey
from tests.protocol.calculation.test_tournament_record import ENTROPIES, make_record

KEY, OTHER_KEY = SigningKey(bytes(32)), SigningKey(bytes([1]) * 32)
RECORD = KEY.sign_race(make_record())


def test_the_record_of_a_race_is_proved() -> None:
    assert verify(RECORD.text(), KEY.public).is_right


def test_a_proof_names_all_that_can_be_compared_with_the_chain_of_rounds() -> None:
    shown = "\n".join(verify(RECORD.text()).lines)
    named = [KEY.public.hex(), RECORD.commitment.hex(), RECORD.seed.hex(), "round 2", RECORD.code, "of 2 players"]
    assert [each for each in named if each not in shown] == []


def test_a_proof_says_what_a_record_alone_cannot_show() -> None:
    assert LIMITS_OF_TOURNAMENT_RACE in verify(RECORD.text()).lines


FORGED = {
    "name": replace(RECORD, name="bob").text(),
    "code": replace(RECORD, code="other-green-heron").text(),
    "round": replace(RECORD, number=3).text(),
    "secret": replace(RECORD, secret=bytes(32)).text(),
    "bytes": replace(RECORD, entropies=(ENTROPIES[0], ("bob", bytes(32)))).text(),
    "a player more": replace(RECORD, entropies=(*ENTROPIES, ("eve", bytes(32)))).text(),
    "cards": replace(RECORD, score=replace(RECORD.score, placed=52)).text(),
    "time": replace(RECORD, score=replace(RECORD.score, time_ms=1)).text(),
    "a move less": replace(RECORD, moves=RECORD.moves[:-1]).text(),
    "no signature": replace(RECORD, signature=bytes(64)).text(),
    "short signature": replace(RECORD, signature=RECORD.signature[:-1]).text(),
    "key": replace(RECORD, key=bytes(32)).text(),
    "type": RECORD.text().replace("tournament_race", "Tournament_race", 1),
    "a line more": RECORD.text() + "\n",
    "a line less": RECORD.text().splitlines()[0] + "\n",
}
"""The texts of records, by what is forged in them."""


def test_a_forged_record_is_wrong() -> None:
    assert [what for what, text in FORGED.items() if verify(text).is_right] == []


@pytest.mark.parametrize(
    ("field", "value"),
    [("name", "bob"), ("code", "other-green-heron"), ("rules", "easy"), ("limit_seconds", 601)],
)
def test_a_changed_field_that_the_race_agrees_with_is_found_by_the_signature(field: str, value: object) -> None:
    line = json.dumps({**json.loads(RECORD.statement()), field: value}, separators=(",", ":"))
    with pytest.raises(WrongRecord, match="It is not signed"):
        list(checking_tournament_race(f"{line}\n{RECORD.text().splitlines()[1]}\n"))


@pytest.mark.parametrize(
    "changes",
    [
        {"score": replace(RECORD.score, placed=52)},
        {"moves": RECORD.moves[:-1]},
        {"secret": bytes(32)},
        {"limit_seconds": 1},
        {"name": "eve"},
    ],
    ids=("score", "moves", "deck", "limit", "a player without bytes"),
)
def test_a_wrong_record_that_the_server_has_signed_is_wrong(changes: dict[str, Any]) -> None:
    with pytest.raises(WrongRecord, match="does not prove itself"):
        list(checking_tournament_race(KEY.sign_race(replace(make_record(), **changes)).text()))


def test_a_record_of_one_race_does_not_prove_another_one_that_the_same_server_has_signed() -> None:
    other = KEY.sign_race(make_record(10))
    with pytest.raises(WrongRecord, match="It is not signed"):
        list(checking_tournament_race(replace(RECORD, signature=other.signature).text()))


def test_another_key_than_the_given_one_is_wrong() -> None:
    forged = OTHER_KEY.sign_race(make_record())
    assert (verify(forged.text()).is_right, verify(forged.text(), KEY.public).is_right) == (True, False)


def test_a_signature_of_a_race_is_none_of_an_attempt() -> None:
    assert not is_signed(daily_statement(RECORD.statement()), RECORD.signature, KEY.public)


def test_each_thing_that_was_proved_is_named() -> None:
    score = RECORD.score
    assert list(checking_tournament_race(RECORD.text(), KEY.public)) == [
        f"Race of {RECORD.name} in round 2 of the tournament {RECORD.code}.",
        f"It is signed with the key {KEY.public.hex()}.",
        f"The secret belongs to the commitment {RECORD.commitment.hex()}.",
        "The deck follows from the secret and from the entropies of 2 players.",
        f"The seed is {RECORD.seed.hex()}.",
        (
            f"All {len(RECORD.moves)} moves were within the rules and the limit, and lead to the score: {score.placed} "
            f"cards, {score.direct} of them straight from the stock, in {score.time_ms // 100 / 10:.1f} s."
        ),
    ]
