"""The lists of players' rooms follow the seats that logs give and free, in order, and no list is lost by another's."""

from redis.asyncio import Redis

from fairest_server.live.player_seats import PlayerSeats
from fairest_server.live.room_server import RoomServer
from fairest_server.room.events import SeatFreed, SeatTaken
from fairest_server.room.steps import Step
from fairest_server.store import keys
from fairest_server.store.player_rooms import PlayerRooms
from tests.support.isolated_room import IsolatedRoom
from tests.support.room_server import soon
from tests.support.waiting import until


def seats_given(isolated: IsolatedRoom) -> list[Step]:
    """Return the steps by which both players took their seats."""
    return [step for step in isolated.shown if isinstance(step.event, SeatTaken)]


def freed(taken: Step) -> Step:
    """Return the step by which a seat is freed again."""
    assert isinstance(taken.event, SeatTaken)
    event = SeatFreed(seat=taken.event.seat, reason="away")
    assert taken.before is not None
    return Step(before=taken.after, event=event, at_ms=taken.at_ms, after=taken.before, tag=taken.tag)


def player_of(step: Step) -> str:
    assert isinstance(step.event, SeatTaken)
    return step.event.player


async def listed(redis: Redis, player_id: str) -> list[bytes | str]:
    return await redis.lrange(keys.player_rooms(player_id), 0, -1)


async def test_a_seat_that_is_freed_just_after_it_was_given_is_not_listed(
    rooms: RoomServer, redis: Redis, seated: IsolatedRoom
) -> None:
    seats = PlayerSeats(PlayerRooms(redis), rooms.tasks)
    first, second = seats_given(seated)
    seats.on_steps("a-b", [first, freed(first), second])

    async def is_listed() -> None:
        assert await listed(redis, player_of(second)) == [b"a-b"]

    await until(is_listed, "the other player's seat is listed")
    assert await listed(redis, player_of(first)) == []


async def test_a_list_that_redis_refuses_leaves_the_other_lists_alone(
    rooms: RoomServer, redis: Redis, seated: IsolatedRoom
) -> None:
    seats = PlayerSeats(PlayerRooms(redis), rooms.tasks)
    first, second = seats_given(seated)
    await redis.set(keys.player_rooms(player_of(first)), "not a list")
    seats.on_steps("a-b", [first, second])

    async def is_listed() -> None:
        assert await listed(redis, player_of(second)) == [b"a-b"]

    await until(is_listed, "the other player's seat is listed")


async def test_a_list_is_written_again_after_redis_refused_one(
    rooms: RoomServer, redis: Redis, seated: IsolatedRoom
) -> None:
    seats = PlayerSeats(PlayerRooms(redis), rooms.tasks)
    first, second = seats_given(seated)
    await redis.set(keys.player_rooms(player_of(first)), "not a list")
    seats.on_steps("a-b", [first])
    await soon(lambda: not seats.is_writing, "the refused list is given up")
    seats.on_steps("a-b", [second])

    async def is_listed() -> None:
        assert await listed(redis, player_of(second)) == [b"a-b"]

    await until(is_listed, "the other player's seat is listed")
