"""The time after which a waiting player may be given a program as an opponent, and the way out of a room."""

from dataclasses import dataclass
from typing import cast

import pytest

from fairest_protocol.messages.from_client import Leave, Queue
from fairest_protocol.messages.options import RoomOptions
from fairest_server.edge.seeker import Seeker, WaitingClient
from fairest_server.live.live_room import LiveRoom
from fairest_server.room.commands import CreateRoom, PlayerRequest, TakeSeat
from fairest_server.store.tickets import Ticket
from tests.support.isolated_room import IsolatedRoom

SINCE_MS = 7_000


def seeker(rival_after_seconds: int | None, partner: str = "") -> Seeker:
    """Return a player who waits since `SINCE_MS`; its client is not asked for anything here."""
    ticket = Ticket("t", "ann", "p", "classic", SINCE_MS, 25.0, partner=partner)
    return Seeker(cast("WaitingClient", None), Queue(rival_after_seconds=rival_after_seconds), ticket)


@pytest.mark.parametrize(("waited_ms", "is_due"), [(0, False), (19_999, False), (20_000, True), (60_000, True)])
def test_a_rival_is_due_after_the_time_that_the_player_set_and_not_before(waited_ms: int, is_due: bool) -> None:
    assert seeker(20).rival_is_due(SINCE_MS + waited_ms) is is_due


def test_a_player_that_wants_no_rival_waits_on() -> None:
    assert not seeker(None).rival_is_due(SINCE_MS + 3_600_000)


def test_a_player_that_has_an_opponent_is_given_no_rival() -> None:
    assert not seeker(20, partner="bob").rival_is_due(SINCE_MS + 60_000)


@dataclass
class SeatedClient:
    """A client that sits in a room."""

    room: LiveRoom
    connection_id: str = "c-1"


def in_room(isolated: IsolatedRoom) -> Seeker:
    """Return a seeker that sits in a new room."""
    isolated.submit(CreateRoom(RoomOptions(), "ann", "ann", "c-1"))
    isolated.accept(isolated.poll())
    found = seeker(0)
    found.client = cast("WaitingClient", SeatedClient(isolated.room))
    return found


def bob_comes(isolated: IsolatedRoom) -> None:
    isolated.submit(TakeSeat("bob", "bob", "c-2"))
    isolated.accept(isolated.poll())


def asked_to_leave(isolated: IsolatedRoom) -> bool:
    leaving = PlayerRequest("c-1", Leave())
    return any(request.command == leaving for request in isolated.room.requests.waiting)


def test_a_player_alone_in_a_room_leaves_it() -> None:
    isolated = IsolatedRoom()
    leaving = in_room(isolated)
    leaving.is_leaving = True
    leaving.leave_room()
    assert asked_to_leave(isolated)


def test_a_player_to_whom_an_opponent_has_come_after_all_stays() -> None:
    isolated = IsolatedRoom()
    leaving = in_room(isolated)
    leaving.is_leaving = True
    bob_comes(isolated)
    leaving.leave_room()
    assert (asked_to_leave(isolated), leaving.is_leaving) == (False, False)


def test_a_player_who_is_gone_gives_up_a_room_without_an_opponent() -> None:
    isolated = IsolatedRoom()
    in_room(isolated).give_up_room()
    assert asked_to_leave(isolated)


def test_a_player_who_is_gone_keeps_its_seat_beside_an_opponent() -> None:
    isolated = IsolatedRoom()
    gone = in_room(isolated)
    bob_comes(isolated)
    gone.give_up_room()
    assert not asked_to_leave(isolated)
