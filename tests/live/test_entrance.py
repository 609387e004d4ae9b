"""The way into a room, on a real Redis: spectators who ask to watch, players to whom the log has given a seat."""

import asyncio

from fairest_protocol.messages.options import RoomOptions, Spectators
from fairest_protocol.messages.refusals import Refusal
from fairest_server.live.live_room import LiveRoom
from fairest_server.live.proposal import Request
from fairest_server.live.room_server import RoomServer
from fairest_server.room.commands import TakeSeat
from tests.support.isolated_room import RecordingSubscriber
from tests.support.room_server import create_room, soon


def has_seat(room: LiveRoom, player: RecordingSubscriber) -> bool:
    return room.state is not None and room.state.seat(0).connection_id == player.connection_id


async def test_a_spectator_is_shown_the_room(rooms: RoomServer) -> None:
    room, _ = await create_room(rooms)
    spectator = RecordingSubscriber("abcd1234-2", "watch")
    assert await rooms.entrance.watch(room.code, spectator) is room
    assert spectator.notes == ["admitted None"]


async def test_a_spectator_of_no_room_is_told_so(rooms: RoomServer) -> None:
    spectator = RecordingSubscriber("abcd1234-2", "watch")
    assert await rooms.entrance.watch("no-such-room", spectator) is None
    assert [answer.code for answer in spectator.refusals] == [Refusal.NO_SUCH_ROOM]


async def test_a_spectator_of_a_closed_race_is_told_so(rooms: RoomServer) -> None:
    room, _ = await create_room(rooms, RoomOptions(spectators=Spectators.CLOSED))
    spectator = RecordingSubscriber("abcd1234-2", "watch")
    assert await rooms.entrance.watch(room.code, spectator) is None
    assert [answer.code for answer in spectator.refusals] == [Refusal.NO_SPECTATORS]


async def test_a_spectator_who_gives_up_waiting_is_forgotten(rooms: RoomServer) -> None:
    room, _ = await create_room(rooms)
    spectator = RecordingSubscriber("abcd1234-2", "watch")
    async with rooms.registry.reader.lock(room.code):
        watching = asyncio.create_task(rooms.entrance.watch(room.code, spectator))
        await soon(lambda: room.subscribers.is_pending(spectator), "the spectator waits")
        watching.cancel()
        await asyncio.wait([watching])
    assert not room.subscribers.is_pending(spectator)


async def test_a_player_whose_seat_is_gone_by_the_time_it_is_shown_is_replaced(rooms: RoomServer) -> None:
    room, _ = await create_room(rooms)
    late, newer = RecordingSubscriber("abcd1234-2", "resume"), RecordingSubscriber("abcd1234-3", "resume")
    room.recent.drop()
    async with rooms.registry.reader.lock(room.code):
        for player in (late, newer):
            room.submit(Request(TakeSeat("player-0", "ann", player.connection_id, "resume"), player))
        await soon(lambda: has_seat(room, newer), "the newer one has the seat")
    await soon(lambda: late.notes, "the late one hears of it")
    assert late.notes == ["replaced"]
