"""The client in the queue: it queues again after a drop, and follows the server into a room, and out of it again."""

import asyncio
from contextlib import aclosing

import pytest
from redis.asyncio import Redis

from fairest_cli.model.known_room import KnownRoom
from fairest_cli.session.connection import Connection, Update
from fairest_cli.session.identity import Identity
from fairest_cli.session.room_session import RoomSession
from fairest_cli.session.websocket import Rejected, next_entry_request
from fairest_protocol.messages.from_client import Join, Queue, Resume
from fairest_protocol.messages.from_server import LeftQueue, Queued, Snapshot
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.messages.scene import Scene
from fairest_protocol.value import replace
from fairest_server.store.tickets import Change, Tickets
from tests.support.processes import Fleet
from tests.support.wire_client import open_client


async def ignore(_before: KnownRoom, _update: Update) -> None:
    """Take an update of which the test wants to know nothing."""


WAITING = Queued(rules="classic", since_ms=1, waiting=1)


async def test_a_client_that_is_cut_off_queues_again(server_url: str) -> None:
    connection = Connection(server_url, Identity(), Queue())
    queued = 0
    async with asyncio.timeout(30), aclosing(connection.updates()) as updates:
        async for update in updates:
            if isinstance(update.message, Queued):
                queued += 1
                if queued == 2:
                    break
                connection.cut()


async def test_a_client_gets_from_the_queue_into_a_room(server_url: str) -> None:
    connection = Connection(server_url, Identity(), Queue())
    async with open_client(server_url) as other, asyncio.timeout(30), aclosing(connection.updates()) as updates:
        await other.send(Queue())
        async for update in updates:
            if isinstance(update.message, Snapshot):
                break
        assert (await other.receive_a(Snapshot)).room == connection.model.room


def test_the_wait_ends_with_the_room() -> None:
    assert KnownRoom().after(WAITING, 0).after(LeftQueue(), 1).queued is None


async def test_a_refusal_of_the_queue_ends_the_client(server_url: str) -> None:
    session = RoomSession(Connection(server_url, Identity(), Queue(rules="chess")))
    with pytest.raises(Rejected, match="chess"):
        await session.run(ignore)


@pytest.mark.long
async def test_a_client_is_taken_back_into_the_queue_and_enters_another_room(fleet: Fleet, redis: Redis) -> None:
    """The first partner is a player of a process that is frozen: it never arrives."""
    first, second = await fleet.start(), await fleet.start()
    connection = Connection(first, Identity(), Queue())
    rooms: list[str] = []
    async with open_client(second) as absent, open_client(first) as other:
        await absent.send(Queue())
        await absent.receive_a(Queued)
        (ticket,) = (await Tickets(redis).read()).values()
        fleet.freeze(second)
        later = replace(ticket, since_ms=ticket.since_ms + 60_000)
        assert await Tickets(redis).change([Change(ticket.player_id, ticket, later)])
        async with aclosing(connection.updates()) as updates:
            async for update in updates:
                if isinstance(update.message, Snapshot):
                    rooms.append(update.message.room)
                elif isinstance(update.message, Queued) and rooms:
                    await other.send(Queue())
                if len(rooms) == 2:
                    break
        fleet.thaw(second)
    assert rooms[0] != rooms[1]


async def test_a_client_that_is_cut_off_alone_in_a_room_of_the_queue_queues_again(server_url: str) -> None:
    """The room is open to a program, and none comes."""
    connection = Connection(server_url, Identity(), Queue(rival_after_seconds=0))
    rooms: list[str] = []
    async with open_client(server_url) as other, asyncio.timeout(30), aclosing(connection.updates()) as updates:
        async for update in updates:
            if isinstance(update.message, Snapshot):
                rooms.append(update.message.room)
                if len(rooms) == 1:
                    connection.cut()
                elif len(rooms) == 2:
                    await other.send(Queue())
                else:
                    break
        assert (await other.receive_a(Snapshot)).room == rooms[2]


@pytest.mark.parametrize(
    ("first", "round_", "expected"),
    [
        (Queue(), None, Queue),
        (Queue(), bytes(16), Resume),
        (Join(room="a-b-c"), None, Resume),
    ],
)
def test_only_a_room_of_the_queue_in_which_nobody_was_met_is_given_up_after_a_drop(
    first: Queue | Join, round_: bytes | None, expected: type
) -> None:
    model = KnownRoom(room="a-b-c", seat=0, scene=Scene(options=RoomOptions(), round=round_))
    assert type(next_entry_request(model, first)) is expected
