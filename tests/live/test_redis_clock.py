"""Redis' clock as one process follows it, and until when the process may decide anything."""

import time

import pytest

from fairest_server.live.redis_clock import MAX_CLOCK_AGE_SECONDS, RedisClock
from fairest_server.store import keys

AHEAD_MS = 3_600_000
"""Redis' clock is an hour ahead of ours."""


class OurClocks:
    """The clocks of this machine, at a standstill until `passes`."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._wall, self._monotonic = 1_700_000_000.0, 5_000.0
        patch.setattr(time, "time", lambda: self._wall)
        patch.setattr(time, "monotonic", lambda: self._monotonic)

    @property
    def redis_ms(self) -> int:
        """The time on Redis' clock now."""
        return int(self._wall * 1000) + AHEAD_MS

    def passes(self, seconds: float) -> None:
        """Let this time pass."""
        self._wall += seconds
        self._monotonic += seconds

    def is_set(self, seconds: float) -> None:
        """Somebody sets the clock on the wall."""
        self._wall += seconds


@pytest.fixture
def ours(monkeypatch: pytest.MonkeyPatch) -> OurClocks:
    return OurClocks(monkeypatch)


@pytest.fixture
def clock(ours: OurClocks) -> RedisClock:
    clock = RedisClock()
    clock.beat(ours.redis_ms)
    return clock


def test_before_the_first_answer_redis_is_taken_to_have_our_own_clock(ours: OurClocks) -> None:
    assert RedisClock().now_ms() == ours.redis_ms - AHEAD_MS


def test_before_the_first_heartbeat_redis_was_silent_since_the_machine_started(ours: OurClocks) -> None:
    ours.passes(1_000)
    assert RedisClock().silent_seconds == 6_000


def test_nothing_is_decided_before_the_first_heartbeat() -> None:
    assert RedisClock().decision_window() is None


def test_the_clock_goes_on_between_heartbeats(clock: RedisClock, ours: OurClocks) -> None:
    ours.passes(0.5)
    assert clock.now_ms() == ours.redis_ms


def test_an_answer_with_the_time_corrects_the_clock(clock: RedisClock, ours: OurClocks) -> None:
    ours.is_set(-60)
    clock.set(ours.redis_ms)
    assert clock.now_ms() == ours.redis_ms


def test_a_decision_may_take_its_time_to_reach_the_log(clock: RedisClock) -> None:
    window = clock.decision_window()
    assert window is not None
    assert window.not_after_ms - window.now_ms == 2_000


def test_a_decision_reaches_the_log_before_a_pause_could_have_begun(clock: RedisClock, ours: OurClocks) -> None:
    beat_ms = ours.redis_ms
    ours.passes(2)
    window = clock.decision_window()
    assert window is not None
    assert window.not_after_ms == beat_ms + keys.PAUSE_MS


def test_nothing_is_decided_when_the_last_heartbeat_is_too_old(clock: RedisClock, ours: OurClocks) -> None:
    ours.passes(2.5)
    assert clock.decision_window() is None


def test_decisions_are_made_until_the_last_heartbeat_is_too_old(clock: RedisClock, ours: OurClocks) -> None:
    ours.passes(2.4)
    assert clock.decision_window() is not None


def test_other_answers_are_no_heartbeat(clock: RedisClock, ours: OurClocks) -> None:
    ours.passes(MAX_CLOCK_AGE_SECONDS)
    clock.set(ours.redis_ms)
    assert clock.decision_window() is None


def test_a_clock_that_somebody_sets_makes_no_silence(clock: RedisClock, ours: OurClocks) -> None:
    ours.is_set(86_400)
    assert clock.silent_seconds == 0


def test_a_process_stops_deciding_before_others_count_a_pause() -> None:
    assert MAX_CLOCK_AGE_SECONDS * 1000 < keys.PAUSE_MS


def test_a_process_that_starts_with_its_machine_may_append_nothing_yet(ours: OurClocks) -> None:
    ours.passes(-5_000)
    window = RedisClock().decision_window()
    assert window is not None
    assert window.not_after_ms == keys.PAUSE_MS
