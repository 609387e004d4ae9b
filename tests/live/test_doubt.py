"""Appends with an unknown outcome: their requests are in doubt until the log was read."""

from collections.abc import Sequence

from fairest_protocol.calculation.seal import commit_entropy
from fairest_protocol.messages.from_client import Leave, Ready, Rematch
from fairest_protocol.messages.from_server import Refused, Snapshot, View
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.messages.refusals import Refusal
from fairest_server.room.commands import Command, CreateRoom, Disconnect, PlayerRequest, TakeSeat
from fairest_server.room.events import Attached, Detached, PlayerReady, SeatFreed, SeatTaken
from fairest_server.store.appends import Answer, Append
from tests.support.isolated_room import ROUND, IsolatedRoom, RecordingSubscriber

READY = PlayerRequest("here-1", Ready(round=ROUND.round, entropy_hash=commit_entropy(ROUND.round, 0, bytes(32))))
LEAVE = PlayerRequest("here-2", Leave())
TOO_EARLY = PlayerRequest("here-1", Rematch())
CREATE = CreateRoom(RoomOptions(), "player-0", "ann", "here-1")
JOIN = TakeSeat("player-1", "bob", "here-2")


def doubt(isolated: IsolatedRoom, command: Command, asker: RecordingSubscriber | None = None) -> Append:
    """Request this, and leave the append that follows from it without an answer."""
    isolated.submit(command, asker)
    append = isolated.poll()
    assert append is not None
    isolated.answer(Answer.UNKNOWN)
    return append


def make(isolated: IsolatedRoom, append: Append) -> None:
    """Let the log hold an append whose reply was lost."""
    isolated.append_elsewhere(append.events, append.tag)


def end_time(isolated: IsolatedRoom) -> None:
    """Let the time be over for which requests may be in doubt: the room set this timer last."""
    isolated.timers[-1]()


def codes(asker: RecordingSubscriber) -> list[str]:
    """Return the codes of all refusals that a subscriber was sent, also of a request to enter."""
    return [
        *(each.code for each in asker.messages if isinstance(each, Refused)),
        *(each.code for each in asker.refusals),
    ]


def kinds(events: Sequence[object]) -> list[type]:
    return [type(event) for event in events]


def test_an_unknown_outcome_is_no_refusal(seated: IsolatedRoom) -> None:
    asker = RecordingSubscriber("here-1")
    doubt(seated, READY, asker)
    assert asker.frames == []


def test_the_log_is_read_at_once_for_an_append_in_doubt(seated: IsolatedRoom) -> None:
    doubt(seated, READY)
    assert len(seated.reads) == 1


def test_an_append_that_the_log_holds_is_shown_as_usual(alone: IsolatedRoom) -> None:
    first, _ = alone.seat_both()
    append = doubt(alone, READY, first)
    make(alone, append)
    alone.finish_read()
    assert isinstance(first.messages[-1], View)
    assert (codes(first), alone.room.is_busy) == ([], False)


def test_a_wakeup_with_our_own_append_ends_the_doubt(seated: IsolatedRoom) -> None:
    append = doubt(seated, READY)
    seated.room.on_log_read(None)
    seated.room.on_log_slice(seated.append_elsewhere(append.events, append.tag))
    assert not seated.room.is_busy


def test_an_append_that_the_log_does_not_hold_is_decided_again(seated: IsolatedRoom) -> None:
    first = doubt(seated, READY)
    seated.finish_read()
    second = seated.poll()
    assert second is not None
    assert (second.events, second.expected) == (first.events, first.expected)


def test_an_append_that_redis_makes_after_all_is_not_decided_twice(alone: IsolatedRoom) -> None:
    """The read did not find it, and the same requests were on their way again when Redis made it."""
    _, second = alone.seat_both()
    known = alone.room.cursor.index
    append = doubt(alone, LEAVE, second)
    alone.finish_read()
    alone.poll()
    make(alone, append)
    alone.answer(Answer.CONFLICT, alone.log[known - 1 :])
    assert (codes(second), alone.room.is_busy) == ([], False)
    assert second.notes[-1] == "unseated"


def test_an_append_whose_first_reply_was_lost_is_found_in_the_conflict(alone: IsolatedRoom) -> None:
    """Redis made it, another process appended behind it, and only then it was sent again."""
    asker = RecordingSubscriber("here-1", "create")
    alone.submit(CREATE, asker)
    append = alone.poll()
    assert append is not None
    make(alone, append)
    alone.append_elsewhere(
        [SeatTaken(seat=1, player="player-1", name="bob"), Attached(seat=1, link="there-1")], "other"
    )
    alone.answer(Answer.CONFLICT, alone.log)
    assert (asker.refusals, asker.notes) == ([], ["admitted 0"])


def test_requests_that_came_behind_an_append_in_doubt_are_decided_on_it(seated: IsolatedRoom) -> None:
    append = doubt(seated, READY)
    seated.submit(LEAVE)
    make(seated, append)
    seated.finish_read()
    behind = seated.poll()
    assert behind is not None
    assert kinds(behind.events)[:1] == [SeatFreed]


def test_requests_behind_an_append_in_doubt_are_not_refused_before_it(seated: IsolatedRoom) -> None:
    asker = RecordingSubscriber("here-2")
    doubt(seated, READY)
    seated.submit(LEAVE, asker)
    seated.room.on_log_read(None)
    assert codes(asker) == []


def test_an_equal_request_that_came_later_is_answered_by_itself(seated: IsolatedRoom) -> None:
    asker = RecordingSubscriber("here-2")
    seated.submit(LEAVE, asker)
    append = seated.poll()
    seated.submit(LEAVE, asker)
    seated.answer(Answer.UNKNOWN)
    assert append is not None
    make(seated, append)
    seated.finish_read()
    seated.poll()
    assert codes(asker) == [Refusal.NOT_SEATED]


def test_answers_that_waited_for_an_append_in_doubt_are_given_with_it(seated: IsolatedRoom) -> None:
    asker = RecordingSubscriber("here-1")
    seated.submit(READY)
    append = doubt(seated, TOO_EARLY, asker)
    make(seated, append)
    seated.finish_read()
    assert codes(asker) == [Refusal.WRONG_PHASE]


def test_a_log_that_went_on_without_the_append_voids_it(seated: IsolatedRoom) -> None:
    doubt(seated, READY)
    seated.append_elsewhere([Detached(seat=1, link="here-2")], "other")
    seated.finish_read()
    again = seated.poll()
    assert again is not None
    assert (again.expected, kinds(again.events)) == (len(seated.log), [PlayerReady])


def test_a_read_that_fails_while_requests_are_in_doubt_is_tried_again(seated: IsolatedRoom) -> None:
    doubt(seated, READY)
    seated.room.on_log_read(None)
    assert seated.retries == 1


def test_a_second_unknown_outcome_waits_before_it_reads(seated: IsolatedRoom) -> None:
    doubt(seated, READY)
    seated.finish_read()
    seated.poll()
    seated.answer(Answer.UNKNOWN)
    assert (len(seated.reads), seated.retries) == (1, 1)


def test_a_request_that_is_in_doubt_for_long_is_answered_so(seated: IsolatedRoom) -> None:
    asker = RecordingSubscriber("here-1")
    doubt(seated, READY, asker)
    end_time(seated)
    assert codes(asker) == [Refusal.IN_DOUBT]


def test_a_request_behind_one_in_doubt_is_refused_behind_it(seated: IsolatedRoom) -> None:
    asker = RecordingSubscriber("here-1")
    doubt(seated, READY, asker)
    seated.submit(TOO_EARLY, asker)
    end_time(seated)
    assert codes(asker) == [Refusal.IN_DOUBT, Refusal.TRY_AGAIN]


def test_a_request_that_is_in_doubt_for_long_is_answered_once(seated: IsolatedRoom) -> None:
    asker = RecordingSubscriber("here-1")
    append = doubt(seated, READY, asker)
    end_time(seated)
    make(seated, append)
    seated.finish_read()
    assert codes(asker) == [Refusal.IN_DOUBT]


def test_a_request_that_was_answered_as_in_doubt_is_not_decided_again(seated: IsolatedRoom) -> None:
    doubt(seated, READY)
    end_time(seated)
    seated.finish_read()
    assert not seated.queue


def test_a_request_on_its_way_again_when_the_time_is_over_is_answered_by_its_result(alone: IsolatedRoom) -> None:
    first, _ = alone.seat_both()
    doubt(alone, READY, first)
    timer = alone.timers[-1]
    alone.finish_read()
    append = alone.poll()
    timer()
    alone.accept(append)
    assert codes(first) == []


def test_the_failure_of_a_request_whose_time_is_over_is_answered_at_once(seated: IsolatedRoom) -> None:
    asker = RecordingSubscriber("here-1")
    doubt(seated, READY, asker)
    timer = seated.timers[-1]
    seated.finish_read()
    seated.poll()
    timer()
    seated.answer(Answer.UNKNOWN)
    assert codes(asker) == [Refusal.IN_DOUBT]


def test_the_time_of_a_doubt_that_has_ended_does_not_end_a_later_one(seated: IsolatedRoom) -> None:
    append = doubt(seated, READY)
    timer = seated.timers[-1]
    make(seated, append)
    seated.finish_read()
    asker = RecordingSubscriber("here-2")
    doubt(seated, LEAVE, asker)
    timer()
    assert codes(asker) == []


def test_a_silent_redis_refuses_nothing_that_is_in_doubt(seated: IsolatedRoom) -> None:
    asker = RecordingSubscriber("here-1")
    doubt(seated, READY, asker)
    seated.finish_read()
    seated.clock.is_silent = True
    seated.poll()
    assert codes(asker) == []


def test_an_error_of_redis_is_a_refusal_once_the_log_was_read(seated: IsolatedRoom) -> None:
    asker = RecordingSubscriber("here-1")
    seated.submit(READY, asker)
    seated.poll()
    seated.answer(Answer.FAILED)
    assert codes(asker) == []
    seated.finish_read()
    assert codes(asker) == [Refusal.TRY_AGAIN]


def test_an_error_of_redis_behind_a_lost_reply_leaves_the_request_in_doubt(seated: IsolatedRoom) -> None:
    asker = RecordingSubscriber("here-1")
    doubt(seated, READY, asker)
    timer = seated.timers[-1]
    seated.finish_read()
    seated.poll()
    seated.answer(Answer.FAILED)
    timer()
    assert codes(asker) == [Refusal.IN_DOUBT]


def test_an_append_that_failed_and_is_in_the_log_all_the_same_is_shown(alone: IsolatedRoom) -> None:
    first, _ = alone.seat_both()
    alone.submit(READY, first)
    append = alone.poll()
    alone.answer(Answer.FAILED)
    assert append is not None
    make(alone, append)
    alone.finish_read()
    assert (codes(first), type(first.messages[-1])) == ([], View)


def test_a_create_whose_reply_was_lost_lets_its_player_in(alone: IsolatedRoom) -> None:
    asker = RecordingSubscriber("here-1", "create")
    append = doubt(alone, CREATE, asker)
    make(alone, append)
    alone.finish_read()
    assert (codes(asker), type(asker.messages[0])) == ([], Snapshot)


def test_a_create_that_is_in_doubt_for_long_is_reported_as_gone_later(alone: IsolatedRoom) -> None:
    """It may stand in the log although its player was refused: then the seat would seem to be attached for ever."""
    asker = RecordingSubscriber("here-1", "create")
    append = doubt(alone, CREATE, asker)
    end_time(alone)
    make(alone, append)
    alone.finish_read()
    gone = alone.poll()
    assert gone is not None
    assert (codes(asker), kinds(gone.events)) == ([Refusal.IN_DOUBT], [Detached])


def test_a_join_that_is_sent_again_after_a_doubt_has_its_seat(alone: IsolatedRoom) -> None:
    alone.run(CREATE)
    asker = RecordingSubscriber("here-2")
    append = doubt(alone, JOIN, asker)
    end_time(alone)
    alone.submit(JOIN, asker)
    make(alone, append)
    alone.finish_read()
    alone.accept(alone.poll())
    assert asker.notes == ["admitted 1"]


def test_a_join_that_is_sent_again_while_its_seat_is_taken_back_has_its_seat(alone: IsolatedRoom) -> None:
    alone.run(CREATE)
    asker = RecordingSubscriber("here-2")
    append = doubt(alone, JOIN, asker)
    end_time(alone)
    make(alone, append)
    alone.finish_read()
    taken_back = alone.poll()
    alone.submit(JOIN, asker)
    alone.accept(taken_back)
    alone.accept(alone.poll())
    assert asker.notes == ["admitted 1"]


def test_a_lost_connection_in_doubt_is_reported_again(seated: IsolatedRoom) -> None:
    doubt(seated, Disconnect("here-1"))
    seated.finish_read()
    append = seated.poll()
    assert append is not None
    assert append.events == [Detached(seat=0, link="here-1")]


def test_a_lost_connection_in_doubt_is_reported_when_the_log_is_lost(
    seated: IsolatedRoom,
) -> None:
    doubt(seated, Disconnect("here-1"))
    assert seated.room.requests.clear() == ["here-1"]
