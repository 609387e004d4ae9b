"""A beacon that is a drand round: it has to be the first one of the day, with the signature of drand."""

import pytest

from fairest_cli.model import drand_beacon
from fairest_cli.model.cheated import Cheated
from fairest_cli.model.drand_beacon import check_drand, describe_drand, describe_drand_briefly
from fairest_protocol.calculation.daily import day_start_ms
from fairest_protocol.calculation.drand import drand_value
from tests.support.drand import NETWORK, needs_pyblst, sign_drand

DAY = "2026-11-24"
FIRST = NETWORK.first_round(day_start_ms(DAY))


@pytest.fixture(autouse=True)
def network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drand_beacon, "NETWORK", NETWORK)


def check(number: int, signature: bytes | None = None) -> None:
    signature = signature or sign_drand(number)
    check_drand(DAY, number, drand_value(signature), signature)


def test_the_first_drand_round_of_the_day_is_right() -> None:
    check(FIRST)


@pytest.mark.parametrize("number", [FIRST - 1, FIRST + 1])
def test_another_drand_round_is_an_alarm(number: int) -> None:
    with pytest.raises(Cheated, match=f"is drand round {number}, and the first one of its day is {FIRST}"):
        check(number)


@needs_pyblst
def test_a_drand_round_that_drand_has_not_signed_is_an_alarm() -> None:
    with pytest.raises(Cheated, match="drand has not signed it"):
        check(FIRST, sign_drand(FIRST + 1))


def test_a_beacon_that_is_not_the_value_of_its_signature_is_an_alarm() -> None:
    with pytest.raises(Cheated, match="not the value of the drand round"):
        check_drand(DAY, FIRST, bytes(32), sign_drand(FIRST))


@needs_pyblst
def test_what_was_checked_is_said() -> None:
    assert describe_drand(7) == "The beacon is drand round 7, the first one of the day, with the signature of drand."


@pytest.mark.parametrize(("can_check", "said"), [(True, "signed"), (False, "signature not checked")])
def test_the_full_screen_has_a_line_for_what_was_checked(
    can_check: bool, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drand_beacon, "CAN_CHECK", can_check)
    assert describe_drand_briefly(7) == f"Beacon: drand round 7, {said}."


def test_without_pyblst_it_is_said_that_the_signature_was_not_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drand_beacon, "CAN_CHECK", False)
    check(FIRST, sign_drand(FIRST + 1))
    said = describe_drand(FIRST)
    assert "Its signature was not checked, since pyblst is missing (pip install pyblst)" in said
    assert f"compare it with https://api.drand.sh{NETWORK.path(FIRST)}" in said
