"""The subscribers of a room: the entries that each is shown, and how they come and go with the log."""

from collections.abc import Callable
from typing import Literal

import pytest

from fairest_protocol.messages.from_server import Accepted, Placed, Refused, Snapshot, View
from fairest_protocol.messages.refusals import Refusal
from fairest_server.live.subscribers import DropReason, Subscribers, send_placed
from fairest_server.room.catchup import make_catchup
from fairest_server.room.events import Attached, Detached, Event, SeatFreed
from fairest_server.room.evolve import evolve
from fairest_server.room.projection import StepHistory
from fairest_server.room.steps import Step
from fairest_server.room.view import ORIGIN
from tests.support.isolated_room import RecordingSubscriber
from tests.support.races import Table


class Shown:
    """A room, in a race unless the test says otherwise, and its subscribers; timers ring when the test says so."""

    def __init__(self, *, is_racing: bool = True) -> None:
        self.table = Table(1)
        if is_racing:
            self.table.start()
        self.timers: list[Callable[[], None]] = []
        self.subscribers = Subscribers(lambda _, call: self.timers.append(call))

    def admit(self, seat: int | None) -> RecordingSubscriber:
        """Let a subscriber enter, as the player in this seat or as a spectator."""
        subscriber = RecordingSubscriber("watcher" if seat is None else f"link-{seat}")
        self.subscribers.add_pending(subscriber)
        history = StepHistory(list(self.table.steps))
        self.subscribers.admit(seat, subscriber, make_catchup("a-b", history, seat, ORIGIN, 0))
        return subscriber

    def take(self, event: Event) -> None:
        """Show the subscribers one more step of the log."""
        before = self.table.state
        step = Step(before, event, self.table.now_ms, evolve(before, event, self.table.now_ms), "tag00000")
        self.subscribers.show([step])

    def ring(self) -> None:
        """Let all timers ring."""
        while self.timers:
            self.timers.pop(0)()


@pytest.fixture
def shown() -> Shown:
    return Shown()


def test_a_room_that_nobody_is_shown_is_empty(shown: Shown) -> None:
    assert shown.subscribers.is_empty


@pytest.mark.parametrize("seat", [0, None])
def test_a_room_with_a_player_or_a_spectator_is_not_empty(shown: Shown, seat: int | None) -> None:
    shown.admit(seat)
    assert not shown.subscribers.is_empty


def test_a_room_that_a_subscriber_waits_for_is_not_empty(shown: Shown) -> None:
    shown.subscribers.add_pending(RecordingSubscriber("late"))
    assert not shown.subscribers.is_empty


@pytest.mark.parametrize(
    ("seats", "expected"), [((), False), ((0,), False), ((1,), False), ((0, 1), True), ((0, 1, None), True)]
)
def test_a_room_is_complete_when_both_players_are_shown_it(
    shown: Shown, seats: tuple[int | None, ...], expected: bool
) -> None:
    for seat in seats:
        shown.admit(seat)
    assert shown.subscribers.is_complete is expected


def test_a_room_that_a_subscriber_waits_for_is_not_complete(shown: Shown) -> None:
    shown.admit(0)
    shown.admit(1)
    shown.subscribers.add_pending(RecordingSubscriber("late"))
    assert not shown.subscribers.is_complete


@pytest.mark.parametrize("seat", [0, 1, None])
def test_a_subscriber_that_was_admitted_is_shown_the_room(shown: Shown, seat: int | None) -> None:
    assert shown.subscribers.shows(shown.admit(seat))


@pytest.mark.parametrize("seat", [0, None])
def test_a_subscriber_that_waits_is_not_shown_the_room(shown: Shown, seat: int | None) -> None:
    shown.admit(seat)
    waiting = RecordingSubscriber("late")
    shown.subscribers.add_pending(waiting)
    assert not shown.subscribers.shows(waiting)


@pytest.fixture
def crowd(shown: Shown) -> list[RecordingSubscriber]:
    """A player, a spectator, and a subscriber that waits to be admitted."""
    waiting = RecordingSubscriber("late")
    everybody = [shown.admit(0), shown.admit(None), waiting]
    shown.subscribers.add_pending(waiting)
    return everybody


def test_dropping_all_sends_everybody_away(shown: Shown, crowd: list[RecordingSubscriber]) -> None:
    shown.subscribers.drop_all(DropReason.DRAINING)
    assert [each.notes[-1] for each in crowd] == ["draining"] * 3


def test_dropping_all_returns_the_connections_that_end(shown: Shown, crowd: list[RecordingSubscriber]) -> None:
    assert shown.subscribers.drop_all(DropReason.DRAINING) == [each.connection_id for each in crowd]


def test_a_room_from_which_all_were_dropped_is_empty(shown: Shown, crowd: list[RecordingSubscriber]) -> None:
    assert crowd
    shown.subscribers.drop_all(DropReason.DRAINING)
    assert shown.subscribers.is_empty


def test_the_entries_that_a_spectator_may_see_are_collected_for_it(shown: Shown) -> None:
    spectator = shown.admit(None)
    shown.table.play(0, "stop")
    shown.subscribers.show(shown.table.steps[-1:])
    shown.ring()
    assert [type(message) for message in spectator.messages[1:]] == [View]


def test_a_move_that_was_accepted_before_is_answered(shown: Shown) -> None:
    player = shown.admit(0)
    shown.subscribers.answer(player, Accepted(number=1))
    assert player.messages[-1] == Accepted(number=1)


def test_a_player_whose_move_is_refused_stays(shown: Shown) -> None:
    player = shown.admit(0)
    refused = Refused(to="play", code=Refusal.RACE_OVER, sentence="It is over.", number=1)
    shown.subscribers.answer(player, refused)
    assert (player.messages[-1], shown.subscribers.shows(player)) == (refused, True)


def ticks_of(subscriber: RecordingSubscriber) -> list[Placed]:
    return [message for message in subscriber.messages if isinstance(message, Placed)]


@pytest.mark.parametrize("seat", [0, 1, None])
def test_a_tick_is_sent_to_everybody_once_for_the_same_counts(shown: Shown, seat: int | None) -> None:
    subscriber = shown.admit(seat)
    for _ in range(2):
        send_placed(shown.subscribers, shown.table.state)
    shown.ring()
    assert ticks_of(subscriber) == [Placed(placed=(4, 4))]


def test_there_is_no_tick_of_a_room_without_a_state(shown: Shown) -> None:
    player = shown.admit(0)
    send_placed(shown.subscribers, None)
    assert ticks_of(player) == []


def test_a_subscriber_that_enters_is_sent_the_last_tick(shown: Shown) -> None:
    send_placed(shown.subscribers, shown.table.state)
    assert ticks_of(shown.admit(0)) == [Placed(placed=(4, 4))]


@pytest.mark.parametrize(("lapsed", "note"), [(True, "unavailable"), (False, "unseated")])
def test_a_player_whose_connection_lost_the_seat_is_told_why(shown: Shown, lapsed: bool, note: str) -> None:
    player = shown.admit(0)
    shown.take(Detached(seat=0, link="link-0", lapsed=lapsed))
    assert player.notes == ["admitted 0", note]


@pytest.mark.parametrize(
    ("reason", "has_asked"), [("left", True), ("away", False), ("not_ready", False), ("closed", False)]
)
def test_a_player_whose_seat_was_freed_is_told_whether_it_had_asked(
    reason: Literal["left", "away", "not_ready", "closed"], has_asked: bool
) -> None:
    shown = Shown(is_racing=False)
    player = shown.admit(0)
    shown.take(SeatFreed(seat=0, reason=reason))
    assert player.has_asked is has_asked


def test_a_player_who_leaves_after_its_race_has_ended_had_asked(shown: Shown) -> None:
    player = shown.admit(0)
    shown.take(Detached(seat=0, link="link-0"))
    assert player.has_asked


def test_a_spectator_who_has_left_is_not_shown_the_room(shown: Shown) -> None:
    spectator = shown.admit(None)
    shown.subscribers.forget(spectator)
    assert not shown.subscribers.shows(spectator)


def test_a_step_is_shown_at_the_next_position_of_the_view(shown: Shown) -> None:
    player = shown.admit(0)
    first = player.messages[0]
    assert isinstance(first, Snapshot)
    shown.table.play(0, "sa")
    shown.subscribers.show(shown.table.steps[-1:])
    second = player.messages[-1]
    assert isinstance(second, View)
    assert second.first == first.position + 1


@pytest.mark.parametrize("to", ["create", "join", "resume"])
def test_a_subscriber_whose_entry_is_refused_is_told_so_and_forgotten(shown: Shown, to: str) -> None:
    late, refused = RecordingSubscriber("late"), Refused(to=to, code=Refusal.ROOM_FULL, sentence="Full.")
    shown.subscribers.add_pending(late)
    shown.subscribers.answer(late, refused)
    assert (late.refusals, shown.subscribers.is_pending(late)) == ([refused], False)


def test_ticks_end_with_the_race(shown: Shown) -> None:
    player = shown.admit(0)
    send_placed(shown.subscribers, shown.table.state)
    send_placed(shown.subscribers, None)
    assert len(ticks_of(player)) == 1


@pytest.mark.parametrize("lapsed", [True, False])
def test_a_player_of_another_process_who_loses_the_seat_is_told_nothing_here(shown: Shown, lapsed: bool) -> None:
    spectator = shown.admit(None)
    shown.take(Detached(seat=0, link="link-0", lapsed=lapsed))
    assert spectator.notes == ["admitted None"]


def test_a_player_who_waits_and_loses_the_seat_is_told_so(shown: Shown) -> None:
    waiting = RecordingSubscriber("link-0")
    shown.subscribers.add_pending(waiting)
    shown.take(Attached(seat=0, link="link-0"))
    shown.take(Detached(seat=0, link="link-0", lapsed=True))
    assert (waiting.notes, shown.subscribers.is_pending(waiting)) == (["unavailable"], False)


def test_a_player_who_has_asked_again_loses_nothing_with_the_seat_of_an_earlier_request(shown: Shown) -> None:
    waiting = RecordingSubscriber("link-0")
    shown.subscribers.add_pending(waiting)
    shown.take(Detached(seat=0, link="link-0"))
    assert (waiting.notes, shown.subscribers.is_pending(waiting)) == ([], True)


def test_a_seat_that_is_given_to_another_connection_admits_nobody_who_waits(shown: Shown) -> None:
    shown.subscribers.add_pending(RecordingSubscriber("late"))
    before = shown.table.state
    event = Attached(seat=0, link="elsewhere-1")
    step = Step(before, event, shown.table.now_ms, evolve(before, event, shown.table.now_ms), "tag00000")
    assert shown.subscribers.show([step]) == []
