"""Which drand round is the first one of a day, and the chance that it gives."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from fairest_protocol.calculation.daily import day_start_ms
from fairest_protocol.calculation.drand import QUICKNET, drand_value


def test_the_first_drand_round_of_a_day_is_the_one_that_others_compute() -> None:
    """Round 27946612 of quicknet is signed on 20 April 2026 at 00:00:00, by the documentation of the `drand` gem."""
    assert QUICKNET.first_round(day_start_ms("2026-04-20")) == 27_946_612


def test_a_relay_shows_a_drand_round_by_its_network_and_its_number() -> None:
    chain = "52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971"
    assert QUICKNET.path(1_000) == f"/{chain}/public/1000"


def test_the_network_began_with_round_1() -> None:
    began = int(datetime(2023, 8, 23, 15, 9, 27, tzinfo=UTC).timestamp()) * 1000
    assert (QUICKNET.first_round(began), QUICKNET.first_round(began + 1)) == (1, 2)


@given(st.integers(QUICKNET.genesis_ms, 2 * QUICKNET.genesis_ms))
def test_the_first_round_is_signed_at_most_a_period_later_and_none_earlier(from_ms: int) -> None:
    signed_ms = QUICKNET.genesis_ms + (QUICKNET.first_round(from_ms) - 1) * QUICKNET.period_ms
    assert 0 <= signed_ms - from_ms < QUICKNET.period_ms


def test_the_chance_of_a_drand_round_is_the_hash_of_its_signature() -> None:
    """Round 1000 of quicknet."""
    signature = "b44679b9a59af2ec876b1a6b1ad52ea9b1615fc3982b19576350f93447cb1125e342b73a8dd2bacbe47e4b6b63ed5e39"
    assert drand_value(bytes.fromhex(signature)).hex() == (
        "fe290beca10872ef2fb164d2aa4442de4566183ec51c56ff3cd603d930e54fdd"
    )
