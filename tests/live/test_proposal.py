"""The append that a room's requests lead to: when its log is due to be looked at, and how long it stays."""

import json

import pytest

from fairest_protocol.messages.from_client import Leave, Ready
from fairest_protocol.messages.options import RoomOptions
from fairest_server.room.commands import CreateRoom, Disconnect, ExpireDeadline, PlayerRequest
from fairest_server.room.steps import fold
from tests.support.isolated_room import NOW_MS, ROUND, IsolatedRoom


@pytest.fixture
def seated() -> IsolatedRoom:
    """A room with two players, before anybody is ready."""
    isolated = IsolatedRoom()
    isolated.seat_both()
    return isolated


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


def test_the_state_goes_by_the_time_at_which_the_log_took_an_append(seated: IsolatedRoom) -> None:
    seated.submit(Disconnect("here-1"))
    append = seated.poll()
    seated.clock.at_ms += 700
    seated.accept(append)
    assert seated.room.state == fold(seated.log)[-1].after


def test_the_creation_of_a_listed_room_brings_its_row_in_the_lobby() -> None:
    isolated = IsolatedRoom()
    isolated.submit(CreateRoom(RoomOptions(listed=True), "player-0", "ann", "here-1"))
    append = isolated.poll()
    assert append is not None and append.listing is not None
    row = json.loads(append.listing)
    assert (row["room"], row["names"], row["since_ms"]) == ("quiet-amber-otter", ["ann", None], NOW_MS)
