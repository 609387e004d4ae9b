"""The requests that wait in a room: a deadline goes first and alone, and an entry can be withdrawn."""

from fairest_server.live.proposal import Request
from fairest_server.live.request_queue import RequestQueue
from fairest_server.room.commands import Disconnect, ExpireDeadline, TakeSeat
from tests.support.isolated_room import RecordingSubscriber

GONE = Request(Disconnect("here-1"))
DEADLINE = Request(ExpireDeadline(5))


def test_a_deadline_is_taken_once_and_before_everything_else() -> None:
    queue = RequestQueue()
    queue.waiting = [GONE, DEADLINE]
    queue.take()
    assert (list(queue.in_flight), queue.waiting) == ([DEADLINE], [GONE])


def test_withdrawing_an_entry_leaves_all_other_requests() -> None:
    leaver, other = RecordingSubscriber("here-3"), RecordingSubscriber("here-4")
    entry = TakeSeat("player-2", "eve", "here-3")
    kept = [GONE, Request(Disconnect("here-3"), leaver), Request(entry, other)]
    queue = RequestQueue()
    queue.waiting = [*kept, Request(entry, leaver)]
    queue.withdraw_entry(leaver)
    assert queue.waiting == kept
