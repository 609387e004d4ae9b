"""The append that a room's requests lead to: when its log is due to be looked at, and how long it stays."""

import pytest

from fairest_protocol.messages.from_client import Leave, Ready
from fairest_server.room.commands import Disconnect, ExpireDeadline, PlayerRequest
from tests.support.isolated_room import ROUND, IsolatedRoom


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
    assert (append.next_check_ms, append.expire_seconds) == (None, 0)


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
