"""The rooms of a process, wired together."""

import pytest

from fairest_protocol.messages.from_server import Refused
from fairest_protocol.messages.refusals import Refusal
from fairest_server.live.drain import Drain
from fairest_server.live.entrance import is_seated
from fairest_server.live.room_server import RoomServer
from fairest_server.live.signing import DeploymentKey, SigningKey
from fairest_server.store.processes import Processes
from fairest_server.store.redis.batching_client import BatchingRedis
from tests.support.isolated_room import RecordingSubscriber
from tests.support.room_server import create_room


def make_server(redis: BatchingRedis, drain: Drain | None = None) -> RoomServer:
    processes = Processes(redis, redis, "abcd1234")
    key = DeploymentKey(redis, SigningKey(bytes(32)))
    return RoomServer(redis, redis, processes, key, closed_room_seconds=60, drain=drain)


async def test_a_process_drains_by_the_drain_that_it_is_given(redis: BatchingRedis) -> None:
    drain = Drain()
    assert make_server(redis, drain).drain is drain


async def test_a_process_without_a_drain_has_one_of_its_own(redis: BatchingRedis) -> None:
    assert not make_server(redis).drain.is_draining


@pytest.mark.parametrize(("code", "match_id"), [("no-such-room", None), (None, "0" * 32), (None, None)])
async def test_a_record_that_there_is_not_is_refused(rooms: RoomServer, code: str | None, match_id: str | None) -> None:
    answer, _ = await rooms.find_record(code, match_id)
    assert isinstance(answer, Refused)
    assert answer.code is Refusal.NO_RECORD


@pytest.mark.parametrize(("player_id", "has_seat"), [("player-0", True), ("player-1", False)])
async def test_the_player_who_created_a_room_has_a_seat_there(
    rooms: RoomServer, player_id: str, has_seat: bool
) -> None:
    room, _ = await create_room(rooms)
    assert is_seated(room, RecordingSubscriber("abcd1234-9", player_id=player_id)) is has_seat
