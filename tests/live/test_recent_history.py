"""The history of a room is kept for the players who reconnect together, and then forgotten."""

from collections.abc import Callable

import pytest

from fairest_server.live.recent_history import RecentHistory


class Timers:
    """Keeps what is to be called later, and after how many seconds."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.calls: list[Callable[[], None]] = []

    def later(self, seconds: float, call: Callable[[], None]) -> None:
        self.seconds.append(seconds)
        self.calls.append(call)


@pytest.fixture
def timers() -> Timers:
    return Timers()


def test_a_new_room_has_no_history(timers: Timers) -> None:
    assert RecentHistory(timers.later).steps is None


def test_a_history_is_kept_for_three_seconds(timers: Timers) -> None:
    RecentHistory(timers.later).keep([])
    assert timers.seconds == [3.0]


def test_a_history_that_was_dropped_is_not_kept(timers: Timers) -> None:
    history = RecentHistory(timers.later)
    history.keep([])
    history.drop()
    assert history.steps is None


def test_the_timer_of_a_dropped_history_leaves_a_newer_one_alone(timers: Timers) -> None:
    history = RecentHistory(timers.later)
    history.keep([])
    history.drop()
    history.keep([])
    timers.calls[0]()
    assert history.steps is not None
