"""The timers of open rooms, on a loop whose time the test moves."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from fairest_protocol.calculation.seal import commit_entropy
from fairest_protocol.messages.fields import TICK_SECONDS, Phase
from fairest_protocol.messages.from_client import Ready, Reveal
from fairest_protocol.messages.from_server import Placed
from fairest_server.live.timers import RETRY_SECONDS, Timers
from fairest_server.room.commands import PlayerRequest
from tests.support.isolated_room import NOW_MS, ROUND, IsolatedRoom, RecordingSubscriber

ENTROPIES = bytes(32), bytes([1] * 32)


class Alarm:
    """A timer handle of the loop below."""

    def __init__(self, seconds: float, call: Callable[[], None]) -> None:
        self.seconds, self.call, self.is_cancelled = seconds, call, False

    def cancel(self) -> None:
        self.is_cancelled = True


class PaperLoop:
    """An event loop of which only `call_later` is asked, and which calls when the test says so."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.alarms: list[Alarm] = []
        patch.setattr(asyncio, "get_running_loop", lambda: self)

    @property
    def pending(self) -> list[Alarm]:
        return [alarm for alarm in self.alarms if not alarm.is_cancelled]

    def call_later(self, seconds: float, call: Callable[..., None], *arguments: Any) -> Alarm:
        self.alarms.append(Alarm(seconds, lambda: call(*arguments)))
        return self.alarms[-1]

    def ring(self) -> None:
        """Call the timer that is due first."""
        alarm = min(self.pending, key=lambda alarm: alarm.seconds)
        self.alarms.remove(alarm)
        alarm.call()


@pytest.fixture
def loop(monkeypatch: pytest.MonkeyPatch) -> PaperLoop:
    return PaperLoop(monkeypatch)


@pytest.fixture
def isolated() -> IsolatedRoom:
    isolated = IsolatedRoom()
    isolated.seat_both()
    return isolated


@pytest.fixture
def timers(isolated: IsolatedRoom, loop: PaperLoop) -> Timers:  # noqa: ARG001 - the loop is asked for timers
    timers = Timers(isolated.clock)
    timers.set(isolated.room)
    return timers


def start_race(isolated: IsolatedRoom) -> None:
    """Bring the room to the moment before the race starts."""
    for seat, entropy in enumerate(ENTROPIES):
        entropy_hash = commit_entropy(ROUND.round, seat, entropy)
        isolated.run(PlayerRequest(f"here-{seat + 1}", Ready(round=ROUND.round, entropy_hash=entropy_hash)))
    for seat, entropy in enumerate(ENTROPIES):
        isolated.run(PlayerRequest(f"here-{seat + 1}", Reveal(round=ROUND.round, entropy=entropy)))


def pass_deadline(isolated: IsolatedRoom, timers: Timers, loop: PaperLoop) -> None:
    """Let the timer ring, and Redis take what follows."""
    assert isolated.room.deadline is not None
    isolated.clock.at_ms = isolated.room.deadline.at_ms
    isolated.clock.beat(isolated.clock.at_ms)
    timers.set(isolated.room)
    loop.ring()
    isolated.accept(isolated.poll())


@pytest.mark.usefixtures("timers")
def test_a_deadline_rings_when_it_is_due(isolated: IsolatedRoom, loop: PaperLoop) -> None:
    assert isolated.room.deadline is not None
    assert [alarm.seconds for alarm in loop.pending] == [(isolated.room.deadline.at_ms - NOW_MS) / 1000]


def test_a_deadline_that_stays_keeps_its_timer(isolated: IsolatedRoom, timers: Timers, loop: PaperLoop) -> None:
    timers.set(isolated.room)
    assert len(loop.alarms) == 1


def test_a_deadline_that_moves_gets_another_timer(isolated: IsolatedRoom, timers: Timers, loop: PaperLoop) -> None:
    start_race(isolated)
    timers.set(isolated.room)
    assert (len(loop.alarms), len(loop.pending)) == (2, 1)


@pytest.mark.usefixtures("timers")
def test_a_timer_that_rings_asks_the_room_to_judge_the_deadline(isolated: IsolatedRoom, loop: PaperLoop) -> None:
    loop.ring()
    append = isolated.poll()
    assert append is not None and isolated.room.deadline is not None
    assert append.not_before_ms == isolated.room.deadline.at_ms


def test_a_deadline_that_has_passed_rings_at_once(isolated: IsolatedRoom, loop: PaperLoop) -> None:
    isolated.clock.at_ms = NOW_MS + 86_400_000
    Timers(isolated.clock).set(isolated.room)
    assert [alarm.seconds for alarm in loop.pending] == [0.0]


def test_a_room_that_waits_for_redis_is_not_reminded_over_and_over(isolated: IsolatedRoom, loop: PaperLoop) -> None:
    isolated.clock.at_ms = NOW_MS + 86_400_000
    isolated.room.cursor.is_uncertain = True
    Timers(isolated.clock).set(isolated.room)
    assert [alarm.seconds for alarm in loop.pending] == [0.25]


def test_a_dropped_room_has_no_timers(isolated: IsolatedRoom, timers: Timers, loop: PaperLoop) -> None:
    timers.retry(isolated.room)
    timers.drop(isolated.room)
    assert loop.pending == []


def test_a_retry_lets_the_room_read_its_log(isolated: IsolatedRoom, timers: Timers, loop: PaperLoop) -> None:
    timers.retry(isolated.room)
    loop.ring()
    assert len(isolated.reads) == 1


def test_a_room_waits_for_one_retry_at_a_time(isolated: IsolatedRoom, timers: Timers, loop: PaperLoop) -> None:
    timers.retry(isolated.room)
    timers.retry(isolated.room)
    assert [alarm.seconds for alarm in loop.pending].count(RETRY_SECONDS) == 1


def test_ticks_begin_with_the_race(isolated: IsolatedRoom, timers: Timers, loop: PaperLoop) -> None:
    start_race(isolated)
    pass_deadline(isolated, timers, loop)
    assert isolated.room.state is not None and isolated.room.state.phase is Phase.RACING
    timers.set(isolated.room)
    assert TICK_SECONDS in [alarm.seconds for alarm in loop.pending]


def test_a_tick_tells_the_placed_cards_and_sets_the_next_one(
    isolated: IsolatedRoom, timers: Timers, loop: PaperLoop
) -> None:
    start_race(isolated)
    pass_deadline(isolated, timers, loop)
    timers.set(isolated.room)
    spectator = RecordingSubscriber("here-3", "watch")
    isolated.room.subscribers.add_pending(spectator)
    loop.ring()
    assert TICK_SECONDS in [alarm.seconds for alarm in loop.pending]
    assert not any(isinstance(message, Placed) for message in spectator.messages)


def test_a_room_without_a_state_has_no_timers(loop: PaperLoop) -> None:
    isolated = IsolatedRoom()
    Timers(isolated.clock).set(isolated.room)
    assert loop.alarms == []


def test_a_race_has_one_tick_at_a_time(isolated: IsolatedRoom, timers: Timers, loop: PaperLoop) -> None:
    start_race(isolated)
    pass_deadline(isolated, timers, loop)
    for _ in range(2):
        timers.set(isolated.room)
    assert [alarm.seconds for alarm in loop.pending].count(TICK_SECONDS) == 1


def test_a_tick_that_is_set_late_comes_with_those_of_other_processes(
    isolated: IsolatedRoom, timers: Timers, loop: PaperLoop
) -> None:
    start_race(isolated)
    pass_deadline(isolated, timers, loop)
    isolated.clock.at_ms += 1_400
    timers.set(isolated.room)
    assert min(alarm.seconds for alarm in loop.pending) == pytest.approx(TICK_SECONDS - 1.4 % TICK_SECONDS)


def test_a_room_whose_timers_were_dropped_gets_them_again(
    isolated: IsolatedRoom, timers: Timers, loop: PaperLoop
) -> None:
    timers.drop(isolated.room)
    timers.set(isolated.room)
    assert len(loop.pending) == 1
