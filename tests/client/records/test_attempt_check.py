"""The proof of the record of an attempt, as `fairest verify` prints it."""

import json

import pytest

from fairest_cli.model import drand_beacon
from fairest_cli.records.attempt_check import checking_attempt
from fairest_cli.records.record_check import WrongRecord
from fairest_cli.text.verification import verify
from fairest_protocol.calculation.daily import day_start_ms
from fairest_protocol.calculation.daily_record import DailyRecord
from fairest_protocol.value import replace
from fairest_server.live.signing import SigningKey
from tests.protocol.calculation.test_daily_record import make_record
from tests.support.drand import NETWORK, needs_pyblst, sign_drand

KEY = SigningKey(bytes(32))
RECORD = KEY.sign_attempt(make_record())
FIRST_DRAND = NETWORK.first_round(day_start_ms(RECORD.day))


def test_the_record_of_an_attempt_is_proved() -> None:
    verification = verify(RECORD.text(), KEY.public)
    assert verification.is_right
    assert any(RECORD.commitment.hex() in line for line in verification.lines)


def by_drand(number: int) -> DailyRecord:
    """Return the record of an attempt with this drand round as its beacon, of the network of the tests."""
    return KEY.sign_attempt(make_record(drand=(number, sign_drand(number))))


@needs_pyblst
def test_the_drand_round_of_an_attempt_is_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drand_beacon, "NETWORK", NETWORK)
    lines = list(checking_attempt(by_drand(FIRST_DRAND).text(), KEY.public))
    assert f"The beacon is drand round {FIRST_DRAND}, the first one of the day, with the signature of drand." in lines
    assert any(line.startswith("The deck follows from the secret and from the beacon: ") for line in lines)


def test_another_drand_round_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drand_beacon, "NETWORK", NETWORK)
    with pytest.raises(WrongRecord, match=f"the first one of its day is {FIRST_DRAND}"):
        list(checking_attempt(by_drand(FIRST_DRAND + 1).text()))


@needs_pyblst
def test_a_drand_round_that_drand_has_not_signed_is_wrong() -> None:
    with pytest.raises(WrongRecord, match="drand has not signed it"):
        list(checking_attempt(by_drand(FIRST_DRAND).text()))


@pytest.mark.parametrize(
    "text",
    [
        replace(RECORD, name="eve").text(),
        replace(RECORD, score=replace(RECORD.score, placed=52)).text(),
        replace(RECORD, moves=RECORD.moves[:-1]).text(),
        replace(RECORD, signature=bytes(64)).text(),
        RECORD.text().replace("attempt", "Attempt", 1),
    ],
)
def test_a_forged_record_is_wrong(text: str) -> None:
    assert not verify(text).is_right


def test_another_key_than_the_given_one_is_wrong() -> None:
    with pytest.raises(WrongRecord, match="key"):
        list(checking_attempt(RECORD.text(), bytes(32)))


def test_every_changed_field_is_found_by_the_signature() -> None:
    fields = json.loads(RECORD.statement())
    for field in ("name", "attempt", "beacon_number"):
        changed = {"name": "eve", "attempt": "0" * 32, "beacon_number": 9}[field]
        line = json.dumps({**fields, field: changed}, separators=(",", ":"))
        assert not verify(f"{line}\n{RECORD.text().splitlines()[1]}\n").is_right


def test_each_thing_that_was_proved_is_named() -> None:
    score = RECORD.score
    assert list(checking_attempt(RECORD.text(), KEY.public)) == [
        "Attempt of ann at the daily deal of 2026-11-24, classic.",
        f"It is signed with the key {KEY.public.hex()}.",
        f"The secret belongs to the commitment {RECORD.commitment.hex()}.",
        f"The deck follows from the secret and from the beacon, entry 7: {RECORD.beacon.hex()}.",
        f"The seed is {RECORD.seed.hex()}.",
        (
            f"All {len(RECORD.moves)} moves were within the rules and the limit, and lead to the score: {score.placed} "
            f"cards, {score.direct} of them straight from the stock, in {score.time_ms // 100 / 10:.1f} s."
        ),
    ]


@pytest.mark.parametrize(
    ("text", "key", "reason"),
    [
        ("{}", None, r"^It does not prove itself: .*\.$"),
        (RECORD.text(), bytes(32), rf"^It names the key {KEY.public.hex()}, and not the one that was given\.$"),
        (replace(RECORD, name="eve").text(), None, r"^It is not signed with the key that it names\.$"),
    ],
    ids=["text", "key", "signature"],
)
def test_the_check_that_fails_is_named(text: str, key: bytes | None, reason: str) -> None:
    with pytest.raises(WrongRecord, match=reason):
        list(checking_attempt(text, key))
