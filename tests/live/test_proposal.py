"""The append that a room's requests lead to: when its log is due to be looked at, and how long it stays."""

import json

import pytest

from fairest_protocol.messages.from_client import Leave, Ready
from fairest_protocol.messages.options import RoomOptions
from fairest_server.live.log_cursor import LogCursor
from fairest_server.live.proposal import UNRACED_LOG_SECONDS, Proposal, Request, make_append, propose
from fairest_server.live.redis_clock import DecisionWindow
from fairest_server.room.commands import CloseRoom, CreateRoom, Disconnect, ExpireDeadline, PlayerRequest
from fairest_server.room.evolve import evolve
from fairest_server.room.steps import fold
from fairest_server.store.appends import Append
from tests.support.isolated_room import NOW_MS, ROUND, IsolatedRoom
from tests.support.races import Table
from tests.support.random_rooms import random_log


def test_an_append_that_leaves_all_deadlines_leaves_the_next_check(seated: IsolatedRoom) -> None:
    seated.submit(PlayerRequest("here-1", Ready(round=ROUND.round, entropy_hash=bytes(32))))
    append = seated.poll()
    assert append is not None
    assert (append.next_check_ms, append.expire_seconds, append.not_before_ms) == (None, 0, 0)


def test_an_append_that_moves_a_deadline_names_the_next_check(seated: IsolatedRoom) -> None:
    seated.submit(Disconnect("here-2"))
    append = seated.poll()
    seated.accept(append)
    assert append is not None and seated.room.state is not None
    assert (append.next_check_ms, append.expire_seconds) == (seated.room.state.next_check_ms(), 0)


def test_the_log_of_a_closed_room_is_looked_at_no_more_and_expires(seated: IsolatedRoom) -> None:
    for connection in ("here-1", "here-2"):
        seated.run(PlayerRequest(connection, Leave()))
    deadline = seated.room.deadline
    assert deadline is not None
    seated.submit(ExpireDeadline(deadline.at_ms))
    append = seated.poll()
    assert append is not None
    assert (append.next_check_ms, append.expire_seconds) == (0, 60)


@pytest.mark.parametrize(("wanted", "kept"), [(3_600, UNRACED_LOG_SECONDS), (5, 5)])
def test_the_log_of_a_closed_room_without_a_race_is_kept_for_a_minute_at_most(wanted: int, kept: int) -> None:
    assert closing_append(Table(1, RoomOptions()), wanted).expire_seconds == kept


def test_the_log_of_a_closed_room_with_a_race_is_kept_as_the_operator_wants() -> None:
    table = Table(1, RoomOptions())
    table.start()
    table.play(0, "resign")
    assert closing_append(table, 3_600).expire_seconds == 3_600


def closing_append(table: Table, closed_room_seconds: int) -> Append:
    """Return the append with which the operator closes a room."""
    request = Request(CloseRoom("the day is over"))
    proposal = propose([request], table.state, lambda *_: ROUND, now_ms=NOW_MS, tag="01234567")
    window = DecisionWindow(NOW_MS, NOW_MS + 1_000)
    return make_append(proposal, "a-b", LogCursor(), None, window, closed_room_seconds, own_subscriptions=None)


def test_the_state_goes_by_the_time_at_which_the_log_took_an_append(seated: IsolatedRoom) -> None:
    seated.submit(Disconnect("here-1"))
    append = seated.poll()
    seated.clock.at_ms += 700
    seated.accept(append)
    assert seated.room.state == fold(seated.log)[-1].after


@pytest.mark.parametrize("ahead_ms", [-7, 0, 7])
@pytest.mark.parametrize("options", [RoomOptions(), RoomOptions(piles=8, credit=1)], ids=("plain", "with credit"))
def test_a_room_takes_the_steps_that_its_log_would_be_read_as(options: RoomOptions, ahead_ms: int) -> None:
    """The process decides by its estimate of Redis' clock, which is ahead of it or behind."""
    for step in random_log(3, options):
        decided_ms = step.at_ms + ahead_ms
        decided = evolve(step.before, step.event, decided_ms)
        proposal = Proposal((), step.tag, decided_ms, step.before, [step.event], [decided])
        assert proposal.steps_at(step.at_ms) == [step]


def test_the_creation_of_a_listed_room_brings_its_row_in_the_lobby() -> None:
    isolated = IsolatedRoom()
    isolated.submit(CreateRoom(RoomOptions(listed=True), "player-0", "ann", "here-1"))
    append = isolated.poll()
    assert append is not None and append.listing is not None
    row = json.loads(append.listing)
    assert (row["room"], row["names"], row["since_ms"]) == ("quiet-amber-otter", ["ann", None], NOW_MS)
