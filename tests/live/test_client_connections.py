"""The connections of clients to a process: who is told something by the operator, and who is sent away."""

from dataclasses import dataclass, field

import pytest

from fairest_protocol.messages.codec import decode_from_server
from fairest_protocol.messages.from_server import Announcement
from fairest_server.live.client_connections import ClientConnections
from fairest_server.live.live_room import LiveRoom
from fairest_server.live.subscribers import DropReason
from fairest_server.store.bans import Ban
from fairest_server.store.players import Player
from tests.support.isolated_room import IsolatedRoom


@dataclass(eq=False)
class Connection:
    """Notes what it is told."""

    connection_id: str = ""
    player: Player | None = field(default_factory=lambda: Player("p" * 64, "ann"))
    room: LiveRoom | None = None
    address: str = "203.0.113.7"
    shown: list[str] = field(default_factory=list)
    reasons: list[DropReason] = field(default_factory=list)

    def show(self, data: bytes) -> None:
        message = decode_from_server(data.decode())
        assert isinstance(message, Announcement)
        self.shown.append(message.text)

    def banned(self, ban: Ban) -> None:
        raise AssertionError(f"nobody is banned here: {ban}")

    def sent_away(self, reason: DropReason) -> None:
        self.reasons.append(reason)


@pytest.fixture
def connections() -> ClientConnections:
    return ClientConnections()


def test_connections_are_counted_from_their_begin_to_their_end(connections: ClientConnections) -> None:
    one, other = Connection(), Connection()
    connections.add(one)
    connections.add(other)
    connections.remove(one)
    connections.remove(one)
    assert (len(connections), list(connections)) == (1, [other])


def test_a_connection_may_end_while_the_others_are_told_something(connections: ClientConnections) -> None:
    for each in (Connection(), Connection()):
        connections.add(each)
    for connection in connections:
        connections.remove(connection)
    assert len(connections) == 0


def test_an_announcement_reaches_each_client_that_was_welcomed_and_no_other(connections: ClientConnections) -> None:
    welcomed, unknown = [Connection(), Connection()], Connection(player=None)
    for each in (*welcomed, unknown):
        connections.add(each)
    assert connections.announce("Back in a minute.") == 2
    assert ([each.shown for each in welcomed], unknown.shown) == ([["Back in a minute."]] * 2, [])


def test_everybody_who_does_not_race_is_sent_away(connections: ClientConnections, seated: IsolatedRoom) -> None:
    """Before both players are ready nobody races."""
    waiting = [Connection(), Connection(room=seated.room, connection_id="link-0")]
    for each in waiting:
        connections.add(each)
    connections.send_away_others()
    assert [each.reasons for each in waiting] == [[DropReason.DRAINING]] * 2


def test_a_room_without_a_race_is_not_counted(connections: ClientConnections, seated: IsolatedRoom) -> None:
    connections.add(Connection(room=seated.room, connection_id="link-0"))
    assert connections.races() == 0
