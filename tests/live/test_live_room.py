"""A live room by itself: what it decides, appends, shows and reads, state by state of its append cycle."""

import pytest

from fairest_protocol.calculation.moves import MOVES, RESIGN
from fairest_protocol.calculation.seal import commit_entropy
from fairest_protocol.messages.from_client import Leave, Ready, Reveal
from fairest_protocol.messages.from_server import Refused, Snapshot, View
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.messages.refusals import Refusal
from fairest_server.live.live_room import MAX_WAITING
from fairest_server.live.redis_clock import CLOCK_SKEW_MS
from fairest_server.live.subscribers import DropReason
from fairest_server.room.commands import (
    ApplyPauses,
    Command,
    CreateRoom,
    Disconnect,
    ExpireDeadline,
    MakeMove,
    MarkRecorded,
    Pause,
    PlayerRequest,
    TakeSeat,
)
from fairest_server.room.events import Attached, Detached, Paused, PlayerReady, RoomCreated, SeatFreed, SeatTaken
from fairest_server.room.match_record import record_matches
from fairest_server.room.steps import LogSlice, fold
from fairest_server.store.appends import Answer
from tests.support.isolated_room import NOW_MS, ROUND, IsolatedRoom, RecordingSubscriber
from tests.support.races import Table, raced

ENTROPY_HASH = commit_entropy(ROUND.round, 0, bytes(32))
READY = PlayerRequest("here-1", Ready(round=ROUND.round, entropy_hash=ENTROPY_HASH))
LEAVE = PlayerRequest("here-2", Leave())
CREATE = CreateRoom(RoomOptions(), "player-0", "ann", "here-1")


def give_up(isolated: IsolatedRoom) -> list[str]:
    """Give the room up, as its registry does; returns the connections of which the log has to learn."""
    return [*isolated.room.requests.clear(), *isolated.room.subscribers.drop_all(DropReason.LOG_LOST)]


# IDLE


def test_a_request_enqueues_the_room_once(seated: IsolatedRoom) -> None:
    seated.submit(READY)
    assert seated.queue == [seated.room]


def test_an_idle_room_reads_its_log_when_it_is_told_to(seated: IsolatedRoom) -> None:
    seated.room.catch_up()
    assert seated.reads == [seated.room.cursor.index - 1]


# QUEUED


def test_requests_that_wait_share_a_poll(seated: IsolatedRoom) -> None:
    seated.submit(READY)
    seated.submit(Disconnect("here-2"))
    append = seated.poll()
    assert append is not None
    assert [type(event) for event in append.events] == [PlayerReady, Detached]


def test_a_room_that_waits_to_be_polled_is_not_enqueued_again(seated: IsolatedRoom) -> None:
    seated.submit(READY)
    seated.submit(LEAVE)
    assert len(seated.queue) == 1


def test_a_queued_room_that_is_polled_during_a_read_has_nothing_to_append(seated: IsolatedRoom) -> None:
    seated.submit(READY)
    seated.room.catch_up()
    assert seated.poll() is None


def test_a_room_that_was_polled_during_a_read_is_enqueued_as_the_first_one(seated: IsolatedRoom) -> None:
    seated.submit(READY)
    seated.room.catch_up()
    seated.poll()
    seated.queue.append(IsolatedRoom().room)
    seated.finish_read()
    assert seated.queue[0] is seated.room


def test_a_room_whose_read_ends_before_it_is_polled_keeps_its_place(seated: IsolatedRoom) -> None:
    seated.submit(READY)
    seated.room.catch_up()
    seated.finish_read()
    assert seated.queue == [seated.room]


# DECIDING


def test_a_request_that_leads_to_nothing_is_no_append(seated: IsolatedRoom) -> None:
    seated.submit(Disconnect("somebody else's"))
    assert seated.poll() is None


def test_a_refusal_of_a_room_that_is_not_shared_needs_no_read(seated: IsolatedRoom) -> None:
    asker = RecordingSubscriber("here-1")
    seated.submit(PlayerRequest("nobody's", Leave()), asker)
    seated.poll()
    assert [message.code for message in asker.messages if isinstance(message, Refused)] == [Refusal.NOT_SEATED]


@pytest.mark.parametrize(("is_shared", "count"), [(True, 1), (False, None)])
def test_an_append_of_a_shared_room_has_the_own_subscriptions(
    seated: IsolatedRoom, is_shared: bool, count: int | None
) -> None:
    seated.services.is_shared, seated.services.own_subscriptions = is_shared, lambda _: 1
    seated.submit(READY)
    append = seated.poll()
    assert append is not None and append.own_subscriptions == count


def test_a_refusal_of_a_shared_room_waits_for_the_newest_state(seated: IsolatedRoom) -> None:
    seated.services.is_shared = True
    asker = RecordingSubscriber("here-1")
    seated.submit(PlayerRequest("nobody's", Leave()), asker)
    seated.poll()
    assert (asker.frames, len(seated.reads)) == ([], 1)


def test_a_refusal_of_a_shared_room_is_sent_after_the_read(seated: IsolatedRoom) -> None:
    seated.services.is_shared = True
    asker = RecordingSubscriber("here-1")
    seated.submit(PlayerRequest("nobody's", Leave()), asker)
    seated.poll()
    seated.finish_read()
    seated.poll()
    assert [message.code for message in asker.messages if isinstance(message, Refused)] == [Refusal.NOT_SEATED]


def test_a_seat_that_a_process_not_known_yet_has_given_is_not_refused(seated: IsolatedRoom) -> None:
    seated.append_elsewhere([SeatFreed(seat=1, reason="left")], "freed")
    seated.append_elsewhere(
        [SeatTaken(seat=1, player="cyd", name="cyd"), Attached(seat=1, link="there-1"), ROUND], "taken"
    )
    back = RecordingSubscriber("here-9", "resume")
    seated.submit(TakeSeat("cyd", "cyd", back.connection_id, "resume"), back)
    seated.poll()
    seated.finish_read()
    append = seated.poll()
    assert append is not None
    assert [type(event) for event in append.events] == [Attached]


def test_a_deadline_is_decided_alone_and_first(seated: IsolatedRoom) -> None:
    deadline = seated.room.deadline
    assert deadline is not None
    seated.submit(READY)
    seated.submit(ExpireDeadline(deadline.at_ms))
    append = seated.poll()
    assert append is not None
    assert PlayerReady not in map(type, append.events)


def test_an_append_that_a_deadline_led_to_is_not_early(seated: IsolatedRoom) -> None:
    deadline = seated.room.deadline
    assert deadline is not None
    seated.submit(ExpireDeadline(deadline.at_ms))
    append = seated.poll()
    assert append is not None
    assert append.not_before_ms == deadline.at_ms


def test_an_append_goes_no_later_than_the_next_deadline(seated: IsolatedRoom) -> None:
    deadline = seated.room.deadline
    assert deadline is not None
    seated.clock.at_ms = deadline.at_ms - 1
    seated.clock.beat(deadline.at_ms - 1)
    seated.submit(READY)
    append = seated.poll()
    assert append is not None
    assert append.not_after_ms == deadline.at_ms


def test_a_pause_is_decided_before_everything_else(seated: IsolatedRoom) -> None:
    seated.services.pauses = (Pause(NOW_MS + 10, NOW_MS + 5_010),)
    seated.clock.at_ms = NOW_MS + 5_010
    seated.submit(READY)
    append = seated.poll()
    assert append is not None
    assert [type(event) for event in append.events] == [Paused]


def test_a_pause_in_the_future_is_not_taken_into_the_log(seated: IsolatedRoom) -> None:
    """Redis' clock was set back since the pause was recorded."""
    seated.services.pauses = (Pause(NOW_MS + 10, NOW_MS + 60_010),)
    seated.submit(READY)
    append = seated.poll()
    assert append is not None
    assert [type(event) for event in append.events] == [PlayerReady]


def test_an_append_with_a_pause_is_made_only_by_a_clock_that_has_reached_its_end(seated: IsolatedRoom) -> None:
    seated.services.pauses = (Pause(NOW_MS + 10, NOW_MS + 5_010),)
    seated.clock.at_ms = NOW_MS + 5_010
    seated.submit(READY)
    append = seated.poll()
    assert append is not None
    assert append.not_before_ms == NOW_MS + 5_010 - CLOCK_SKEW_MS


def test_a_clock_that_was_set_back_before_the_append_leaves_the_pause_out(seated: IsolatedRoom) -> None:
    seated.services.pauses = (Pause(NOW_MS + 10, NOW_MS + 60_010),)
    seated.clock.at_ms = NOW_MS + 60_010
    seated.submit(READY)
    seated.poll()
    seated.clock.at_ms = NOW_MS + 20
    seated.answer(Answer.EARLY)
    append = seated.poll()
    assert append is not None
    assert [type(event) for event in append.events] == [PlayerReady]


def test_a_pause_may_be_appended_behind_a_deadline(seated: IsolatedRoom) -> None:
    """The deadline that it is behind is one of those that it puts off."""
    seated.services.pauses = (Pause(NOW_MS + 10, NOW_MS + 5_010),)
    seated.clock.at_ms = NOW_MS + 5_010
    seated.submit(ApplyPauses(seated.services.pauses))
    deadline, append = seated.room.deadline, seated.poll()
    assert append is not None and deadline is not None
    window = seated.clock.decision_window()
    assert window is not None
    assert append.not_after_ms == window.not_after_ms


def test_nothing_is_decided_while_redis_is_silent(seated: IsolatedRoom) -> None:
    asker = RecordingSubscriber("here-1")
    seated.clock.is_silent = True
    seated.submit(READY, asker)
    assert seated.poll() is None
    assert [message.code for message in asker.messages if isinstance(message, Refused)] == [Refusal.TRY_AGAIN]


def test_the_log_is_read_before_anything_is_decided_after_a_silence(seated: IsolatedRoom) -> None:
    seated.clock.is_silent = True
    seated.submit(READY)
    seated.poll()
    seated.clock.is_silent = False
    seated.submit(READY)
    assert seated.poll() is None
    assert len(seated.reads) == 1


def test_a_fault_while_deciding_defers_what_it_met(seated: IsolatedRoom, monkeypatch: pytest.MonkeyPatch) -> None:
    asker = RecordingSubscriber("here-1")
    monkeypatch.setattr("fairest_server.live.live_room.propose", lambda *_, **__: 1 / 0)
    seated.submit(READY, asker)
    with pytest.raises(ZeroDivisionError):
        seated.poll()
    seated.answer(Answer.UNKNOWN)
    assert [message.code for message in asker.messages if isinstance(message, Refused)] == [Refusal.TRY_AGAIN]


# IN_FLIGHT


def test_nothing_is_shown_before_the_log_has_it(seated: IsolatedRoom) -> None:
    watcher = RecordingSubscriber("here-1")
    seated.submit(READY, watcher)
    seated.poll()
    assert seated.room.state is not None
    assert (watcher.frames, seated.room.state.seat(0).entropy_hash) == ([], None)


def test_what_the_log_took_is_shown_to_both_players(alone: IsolatedRoom) -> None:
    first, second = alone.seat_both()
    alone.run(READY)
    assert [type(player.messages[-1]) for player in (first, second)] == [View, View]


def test_a_request_during_an_append_waits_for_its_result(seated: IsolatedRoom) -> None:
    seated.submit(READY)
    append = seated.poll()
    seated.submit(LEAVE)
    assert seated.queue == []
    seated.accept(append)
    assert seated.queue == [seated.room]


def test_a_wakeup_during_an_append_is_taken_behind_its_result(seated: IsolatedRoom) -> None:
    seated.submit(READY)
    append = seated.poll()
    assert append is not None
    before = seated.room.cursor.end
    own = seated.append_elsewhere(append.events, append.tag)
    behind = seated.append_elsewhere([Detached(seat=1, link="here-2")], "other")
    for log_slice in (own, behind):
        seated.room.on_log_slice(log_slice)
    assert seated.room.cursor.end == before
    seated.answer(Answer.APPENDED)
    assert seated.room.cursor.end == (len(seated.log), "other")


def test_an_append_in_flight_is_not_read_around(seated: IsolatedRoom) -> None:
    seated.submit(READY)
    seated.poll()
    seated.room.catch_up()
    assert seated.reads == []


def test_a_conflict_is_decided_again_on_what_was_missed(seated: IsolatedRoom) -> None:
    seated.submit(READY)
    seated.poll()
    known = seated.room.cursor.index
    seated.append_elsewhere([Detached(seat=1, link="here-2")], "other")
    seated.answer(Answer.CONFLICT, seated.log[known - 1 :])
    append = seated.poll()
    assert append is not None
    assert (append.expected, append.expected_tag) == (len(seated.log), "other")


def test_a_conflict_needs_no_read(seated: IsolatedRoom) -> None:
    seated.submit(READY)
    seated.poll()
    known = seated.room.cursor.index
    seated.append_elsewhere([Detached(seat=1, link="here-2")], "other")
    seated.answer(Answer.CONFLICT, seated.log[known - 1 :])
    assert seated.reads == []


def test_a_conflict_that_does_not_hold_our_last_entry_gives_the_room_up(seated: IsolatedRoom) -> None:
    seated.submit(READY)
    seated.poll()
    seated.answer(Answer.CONFLICT, [])
    assert seated.given_up == 1


def test_an_append_that_came_late_is_decided_again_behind_the_deadline(seated: IsolatedRoom) -> None:
    deadline = seated.room.deadline
    assert deadline is not None
    seated.submit(READY)
    seated.poll()
    seated.clock.at_ms = deadline.at_ms + 1
    seated.answer(Answer.LATE)
    append = seated.poll()
    assert append is not None
    assert append.not_before_ms == deadline.at_ms + 1


def test_an_append_that_came_early_corrects_the_clock(seated: IsolatedRoom) -> None:
    seated.submit(READY)
    seated.poll()
    seated.clock.at_ms = NOW_MS - 500
    seated.answer(Answer.EARLY)
    assert seated.clock.now_ms() == NOW_MS - 500


# READING


def test_a_read_that_redis_does_not_answer_is_tried_again(seated: IsolatedRoom) -> None:
    seated.room.catch_up()
    seated.submit(Disconnect("here-1"))
    seated.room.on_log_read(None)
    assert seated.retries == 1


def test_a_room_that_reads_is_not_asked_to_read_again(seated: IsolatedRoom) -> None:
    seated.room.catch_up()
    seated.room.catch_up()
    assert len(seated.reads) == 1


def test_a_request_during_a_read_waits_for_it(seated: IsolatedRoom) -> None:
    seated.room.catch_up()
    seated.submit(READY)
    assert seated.queue == []
    seated.finish_read()
    assert seated.queue == [seated.room]


def test_a_log_that_lost_its_tail_gives_the_room_up(seated: IsolatedRoom) -> None:
    seated.room.catch_up()
    del seated.log[-1]
    seated.finish_read()
    assert seated.given_up == 1


def test_a_gap_in_a_wakeup_makes_the_room_read(seated: IsolatedRoom) -> None:
    seated.append_elsewhere([Detached(seat=0, link="here-1")], "other")
    seated.room.on_log_slice(seated.append_elsewhere([Detached(seat=1, link="here-2")], "another"))
    assert len(seated.reads) == 1


def test_a_wakeup_that_fits_is_taken_without_a_read(seated: IsolatedRoom) -> None:
    seated.room.on_log_slice(seated.append_elsewhere([Detached(seat=0, link="here-1")], "other"))
    assert seated.reads == []
    assert seated.room.cursor.end == (len(seated.log), "other")


# Who comes and goes


def test_a_player_who_joins_is_shown_the_room(alone: IsolatedRoom) -> None:
    _, second = alone.seat_both()
    assert isinstance(second.messages[0], Snapshot)
    assert second.notes == ["admitted 1"]


def test_a_player_who_is_refused_is_not_pending_any_longer(seated: IsolatedRoom) -> None:
    third = RecordingSubscriber("here-3")
    seated.submit(TakeSeat("player-2", "eve", "here-3"), third)
    seated.poll()
    seated.finish_read()
    seated.poll()
    assert [answer.code for answer in third.refusals] == [Refusal.ROOM_FULL]
    assert not seated.room.subscribers.is_pending(third)


def test_a_newer_connection_of_a_player_replaces_the_older_one(alone: IsolatedRoom) -> None:
    first, _ = alone.seat_both()
    newer = RecordingSubscriber("here-9", "resume")
    alone.run(TakeSeat("player-0", "ann", "here-9", "resume"), newer)
    assert (first.notes[-1], newer.notes) == ("replaced", ["admitted 0"])


def test_a_player_who_attaches_at_another_process_replaces_the_one_here(alone: IsolatedRoom) -> None:
    first, _ = alone.seat_both()
    alone.room.on_log_slice(alone.append_elsewhere([Attached(seat=0, link="elsewhere-1")], "other"))
    assert first.notes[-1] == "replaced"


def test_a_connection_that_is_gone_is_reported_to_the_log(alone: IsolatedRoom) -> None:
    first, _ = alone.seat_both()
    alone.room.disconnect(first)
    append = alone.poll()
    assert append is not None
    assert append.events == [Detached(seat=0, link="here-1")]


def test_a_connection_that_is_gone_is_shown_nothing_more(alone: IsolatedRoom) -> None:
    first, _ = alone.seat_both()
    alone.room.disconnect(first)
    shown = len(first.frames)
    alone.accept(alone.poll())
    assert len(first.frames) == shown


def test_a_connection_that_is_gone_takes_no_seat(seated: IsolatedRoom) -> None:
    joining = RecordingSubscriber("here-3", "resume")
    seated.submit(TakeSeat("player-0", "ann", "here-3", "resume"), joining)
    seated.room.disconnect(joining)
    assert seated.poll() is None


def test_a_subscriber_is_entering_until_the_log_has_answered(alone: IsolatedRoom) -> None:
    joining = RecordingSubscriber("here-1", "create")
    alone.submit(CREATE, joining)
    assert alone.room.requests.has_entry_of(joining)
    append = alone.poll()
    assert alone.room.requests.has_entry_of(joining)
    alone.accept(append)
    assert not alone.room.requests.has_entry_of(joining)


def test_a_room_that_is_given_up_sends_everybody_to_connect_again(alone: IsolatedRoom) -> None:
    players = alone.seat_both()
    give_up(alone)
    assert [player.notes[-1] for player in players] == ["log lost", "log lost"]


def test_a_room_that_is_given_up_names_the_connections_of_which_the_log_has_not_learned(alone: IsolatedRoom) -> None:
    alone.seat_both()
    alone.submit(Disconnect("gone-1"))
    assert set(give_up(alone)) == {"gone-1", "here-1", "here-2"}


def test_a_room_that_is_given_up_drops_what_was_requested(alone: IsolatedRoom) -> None:
    alone.seat_both()
    alone.submit(READY)
    give_up(alone)
    assert not alone.room.is_busy


# Limits and need


def test_a_flood_of_requests_is_told_to_try_again(seated: IsolatedRoom) -> None:
    asker = RecordingSubscriber("here-1")
    for _ in range(MAX_WAITING):
        seated.submit(LEAVE, asker)
    assert asker.frames == []
    seated.submit(LEAVE, asker)
    assert [message.code for message in asker.messages if isinstance(message, Refused)] == [Refusal.TRY_AGAIN]


def test_a_lost_connection_is_never_refused(seated: IsolatedRoom) -> None:
    for _ in range(MAX_WAITING):
        seated.submit(LEAVE, RecordingSubscriber("here-2"))
    seated.submit(Disconnect("here-1"))
    append = seated.poll()
    assert append is not None
    assert Detached(seat=0, link="here-1") in append.events


def test_a_room_without_subscribers_or_requests_is_not_needed(alone: IsolatedRoom) -> None:
    for player in alone.seat_both():
        alone.room.disconnect(player)
    alone.accept(alone.poll())
    assert not alone.room.is_needed


def test_a_room_with_subscribers_is_needed(seated: IsolatedRoom) -> None:
    assert seated.room.is_needed


def test_a_room_that_does_not_exist_is_not_needed_by_those_who_ask_for_it(alone: IsolatedRoom) -> None:
    alone.room.subscribers.add_pending(RecordingSubscriber("here-1"))
    assert not alone.room.is_needed


def test_a_room_with_a_match_to_archive_is_needed(alone: IsolatedRoom) -> None:
    alone.room.open(raced(3).steps, len(raced(3).steps))
    assert alone.room.is_needed


# OPENED


@pytest.fixture
def table() -> Table:
    """A race under way."""
    table = Table(1)
    table.start()
    return table


@pytest.fixture
def opened(alone: IsolatedRoom, table: Table) -> IsolatedRoom:
    """A room that was opened at the end of the log of `table`."""
    alone.room.open(table.steps, len(table.steps))
    return alone


def test_an_opened_room_is_in_the_last_state_of_its_log(opened: IsolatedRoom, table: Table) -> None:
    assert opened.room.state == table.state


def test_an_opened_room_stands_behind_the_last_entry_of_its_log(opened: IsolatedRoom, table: Table) -> None:
    assert opened.room.cursor.end == (len(table.steps), table.steps[-1].tag)


def test_an_opened_room_keeps_its_history_for_those_who_reconnect(opened: IsolatedRoom) -> None:
    assert opened.room.recent.steps is not None


def test_an_opened_room_has_the_next_deadline_of_its_state(opened: IsolatedRoom, table: Table) -> None:
    assert opened.room.deadline is not None
    assert opened.room.deadline == table.state.next_deadline()


def test_a_room_that_was_opened_reports_once_that_its_deadlines_have_changed(opened: IsolatedRoom) -> None:
    opened.room.subscribers.add_pending(RecordingSubscriber("late"))
    for _ in range(2):
        opened.room.on_log_slice(LogSlice("", []))
    assert opened.changes == 1


def test_a_room_without_subscribers_reports_each_time_that_it_may_be_dropped(opened: IsolatedRoom) -> None:
    for _ in range(2):
        opened.room.on_log_slice(LogSlice("", []))
    assert opened.changes == 2


def test_a_room_whose_deadlines_have_changed_reports_it(seated: IsolatedRoom) -> None:
    seated.room.on_log_slice(LogSlice("", []))
    before = seated.changes
    seated.run(Disconnect("here-2"))
    assert seated.changes == before + 1


def test_a_deadline_that_has_passed_without_effect_is_reported(seated: IsolatedRoom) -> None:
    """Its timer has fired, and another one must be set."""
    seated.room.on_log_slice(LogSlice("", []))
    before = seated.changes
    seated.submit(ExpireDeadline(NOW_MS))
    seated.poll()
    assert seated.changes == before + 1


def test_a_request_that_changes_no_deadline_is_not_reported(seated: IsolatedRoom) -> None:
    seated.room.on_log_slice(LogSlice("", []))
    before = seated.changes
    seated.submit(Disconnect("somebody else's"))
    seated.poll()
    assert seated.changes == before


@pytest.mark.parametrize("make_busy", ["submit", "append", "read"])
def test_a_busy_room_is_needed(seated: IsolatedRoom, make_busy: str) -> None:
    for connection in ("here-1", "here-2"):
        seated.room.disconnect(RecordingSubscriber(connection))
    if make_busy != "submit":
        seated.poll()
    if make_busy == "read":
        seated.answer(Answer.UNKNOWN)
        seated.room.catch_up()
    assert seated.room.is_needed


def test_an_append_names_the_entry_that_it_follows(seated: IsolatedRoom) -> None:
    end = seated.room.cursor.end
    seated.submit(READY)
    append = seated.poll()
    assert append is not None
    assert (append.expected, append.expected_tag) == end


def test_a_new_log_begins_with_the_creation_of_its_room(alone: IsolatedRoom) -> None:
    alone.submit(CREATE)
    append = alone.poll()
    assert append is not None
    assert (append.expected, type(append.events[0])) == (0, RoomCreated)


def test_an_archived_match_that_is_none_of_this_room_changes_nothing(seated: IsolatedRoom) -> None:
    seated.submit(MarkRecorded(1))
    assert seated.poll() is None


def test_an_empty_slice_changes_nothing(seated: IsolatedRoom) -> None:
    end = seated.room.cursor.end
    seated.room.on_log_slice(LogSlice("", []))
    assert (seated.room.cursor.end, seated.reads) == (end, [])


def test_a_history_is_forgotten_when_both_players_are_here(seated: IsolatedRoom) -> None:
    seated.room.recent.keep([])
    seated.run(READY)
    assert seated.room.recent.steps is None


def test_a_history_is_forgotten_when_its_time_is_over(alone: IsolatedRoom) -> None:
    alone.room.recent.keep([])
    alone.timers[-1]()
    assert alone.room.recent.steps is None


def test_a_newer_history_outlives_the_timer_of_an_older_one(alone: IsolatedRoom) -> None:
    alone.room.recent.keep([])
    first_timer = alone.timers[-1]
    alone.room.recent.keep([])
    first_timer()
    assert alone.room.recent.steps is not None


def test_a_poll_during_a_read_uses_up_that_the_log_was_read(seated: IsolatedRoom) -> None:
    """The read fails: what is requested then needs a read of its own, or it would be refused on an old state."""
    seated.services.is_shared = True
    seated.submit(READY)
    seated.poll()
    known = seated.room.cursor.index
    seated.append_elsewhere([Detached(seat=1, link="here-2")], "other")
    seated.answer(Answer.CONFLICT, seated.log[known - 1 :])
    seated.room.catch_up()
    seated.poll()
    seated.room.on_log_read(None)
    reads, asker = len(seated.reads), RecordingSubscriber("here-3")
    seated.submit(TakeSeat("player-2", "dave", "here-3"), asker)
    seated.poll()
    assert (asker.refusals, len(seated.reads)) == ([], reads + 1)


def leave_when_ready(seated: IsolatedRoom, link: str) -> None:
    """Let both get ready, and the second player leave over `link`, which decides the match."""
    seated.run(READY)
    seated.run(PlayerRequest(link, Ready(round=ROUND.round, entropy_hash=commit_entropy(ROUND.round, 1, bytes(32)))))
    seated.run(PlayerRequest(link, Leave()))


def test_a_match_of_which_the_room_has_decided_each_step_is_not_read(seated: IsolatedRoom) -> None:
    leave_when_ready(seated, "here-2")
    matches = seated.room.matches
    assert (len(list(matches.recording("quiet-amber-otter"))), matches.partly_read) == (1, set())


def test_a_match_with_a_step_of_another_process_is_read(seated: IsolatedRoom) -> None:
    seated.room.on_log_slice(seated.append_elsewhere([Attached(seat=1, link="elsewhere-1")], "other"))
    leave_when_ready(seated, "elsewhere-1")
    assert seated.room.matches.partly_read == {ROUND.round.hex()}


def race_to_an_end(seated: IsolatedRoom) -> None:
    """Let both race for some moves, and the second player resign. Redis takes each append 3 ms after it was decided."""

    def run(command: Command) -> None:
        seated.submit(command)
        append = seated.poll()
        seated.clock.at_ms += 3
        seated.accept(append)

    links = "here-1", "here-2"
    for seat, link in enumerate(links):
        sealed = commit_entropy(ROUND.round, seat, bytes(32))
        run(PlayerRequest(link, Ready(round=ROUND.round, entropy_hash=sealed)))
    for link in links:
        run(PlayerRequest(link, Reveal(round=ROUND.round, entropy=bytes(32))))
    assert seated.room.deadline is not None
    seated.clock.at_ms = seated.room.deadline.at_ms
    run(ExpireDeadline(seated.clock.at_ms))
    for number in range(1, 4):
        for link in links:
            run(MakeMove(link, number, MOVES["sa"]))
    run(MakeMove("here-2", 4, RESIGN))


def test_the_matches_of_an_open_room_are_those_of_its_log(seated: IsolatedRoom) -> None:
    race_to_an_end(seated)
    recorded = list(seated.room.matches.recording("quiet-amber-otter"))
    assert len(recorded) == 1
    assert recorded == record_matches("quiet-amber-otter", fold(seated.log))
