"""The times at which daily deals are announced, dealt, and over."""

from fairest_protocol.calculation.daily import DAY_MS, day_start_ms
from fairest_server.daily.calendar import ANNOUNCED_BEFORE_MS, SETTLING_MS, day_to_announce, day_to_deal, is_over

START_MS = day_start_ms("2026-11-24")


def test_tomorrow_is_announced_from_the_first_moment_of_a_day() -> None:
    assert day_to_announce(START_MS, is_drand=False) == "2026-11-25"


def test_nothing_is_announced_just_before_midnight() -> None:
    assert day_to_announce(START_MS + DAY_MS - ANNOUNCED_BEFORE_MS, is_drand=False) == "2026-11-25"
    assert day_to_announce(START_MS + DAY_MS - ANNOUNCED_BEFORE_MS + 1, is_drand=False) is None


def test_a_deal_by_drand_is_announced_twelve_hours_earlier() -> None:
    last_ms = START_MS + DAY_MS - ANNOUNCED_BEFORE_MS - 12 * 3_600_000
    assert day_to_announce(last_ms, is_drand=True) == "2026-11-25"
    assert day_to_announce(last_ms + 1, is_drand=True) is None


def test_a_day_is_dealt_once_the_chain_of_rounds_has_settled() -> None:
    assert day_to_deal(START_MS + SETTLING_MS - 1) is None
    assert day_to_deal(START_MS + SETTLING_MS) == "2026-11-24"


def test_a_day_is_over_with_its_last_moment() -> None:
    assert not is_over("2026-11-24", START_MS + DAY_MS - 1)
    assert is_over("2026-11-24", START_MS + DAY_MS)
