"""Requests of the operator, read with the heartbeat and carried out on a real Redis; and entries that are none."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
import structlog
from redis.asyncio import Redis

from fairest_protocol.messages.entries import RoomClosed
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_server import View
from fairest_server.live.room_server import RoomServer
from fairest_server.membership.heartbeat import Heartbeat
from fairest_server.membership.operator_control import OperatorControl
from fairest_server.membership.player_verbs import PlayerVerbs
from fairest_server.store import keys
from fairest_server.store.bans import BanStore
from fairest_server.store.control import Close, Control, ControlAnswer, Describe, Envelope, Verb
from fairest_server.store.players import Players
from fairest_server.store.processes import Processes
from fairest_server.store.redis.batching_client import BatchingRedis
from tests.support.room_server import create_room, serving_room_server
from tests.support.waiting import until

OWN = "abcd1234"
CLOSE = Close(room="quiet-amber-otter", reason="bad name")


class Operated:
    """A process with its rooms and heartbeat, to which a test sends requests."""

    def __init__(self, rooms: RoomServer, heartbeat: Heartbeat, control: Control) -> None:
        self.rooms = rooms
        self.heartbeat = heartbeat
        self.control = control

    async def answer(self, request: Verb, to: str = OWN) -> ControlAnswer:
        """Send a request, let a heartbeat read it, and return the answer."""
        request_id = await self.control.send(Envelope(to=to, request=request))
        await self.heartbeat.beat()

        async def is_answered() -> bool:
            return OWN in await self.control.answers(request_id)

        await until(is_answered, "the request is answered")
        return (await self.control.answers(request_id))[OWN]


@pytest.fixture
async def operated(redis: BatchingRedis, redis_url: str) -> AsyncIterator[Operated]:
    async with serving_room_server(redis, redis_url) as rooms, asyncio.TaskGroup() as tasks:
        processes, verbs = Processes(redis, redis, OWN), PlayerVerbs(Players(redis), BanStore(redis))
        heartbeat = Heartbeat(processes, rooms.clock, rooms.registry, rooms.attached, rooms.stopping)
        heartbeat.on_requests = OperatorControl(Control(redis), verbs, rooms, tasks.create_task).on_requests
        await heartbeat.beat()
        yield Operated(rooms, heartbeat, Control(redis))


async def test_a_room_is_closed_with_the_reason_for_its_players(operated: Operated) -> None:
    room, player = await create_room(operated.rooms)
    assert (await operated.answer(Close(room=room.code, reason="bad name"))).done
    views = [message for message in player.messages if isinstance(message, View)]
    assert views[-1].entries[-1] == RoomClosed(reason="bad name")


async def test_a_room_that_no_process_has_open_is_closed(operated: Operated) -> None:
    room, player = await create_room(operated.rooms)
    room.disconnect(player)

    async def is_dropped() -> bool:
        return room.code not in operated.rooms.registry.rooms

    await until(is_dropped, "the room is not open any more")
    assert (await operated.answer(Close(room=room.code, reason="bad name"))).done
    reopened = await operated.rooms.registry.open_room(room.code)
    assert reopened is not None
    assert reopened.state is not None
    assert reopened.state.phase is Phase.CLOSED


async def test_a_room_that_is_closed_already_is_not_closed_again(operated: Operated) -> None:
    room, _ = await create_room(operated.rooms)
    await operated.answer(Close(room=room.code, reason="bad name"))
    answer = await operated.answer(Close(room=room.code, reason="bad name"))
    assert (answer.done, answer.sentence) == (False, "it is closed already")


async def test_an_unknown_room_is_not_closed(operated: Operated) -> None:
    assert (await operated.answer(CLOSE)).sentence == "there is no room with this code"


async def test_a_process_describes_its_rooms(operated: Operated) -> None:
    room, _ = await create_room(operated.rooms)
    answer = await operated.answer(Describe(rooms=True))
    assert [(row.room, row.phase, row.names) for row in answer.rooms] == [(room.code, Phase.WAITING, ("ann", None))]


async def test_a_request_to_another_process_is_left_alone(operated: Operated) -> None:
    request_id = await operated.control.send(Envelope(to="00000000", request=Describe(rooms=False)))
    await operated.answer(Describe(rooms=False))
    assert await operated.control.answers(request_id) == {}


async def test_a_request_from_before_the_process_started_is_not_carried_out(redis: BatchingRedis) -> None:
    await Control(redis).send(Envelope(to="", request=CLOSE))
    assert (await Processes(redis, redis, OWN).beat()).requests == ()


async def test_a_request_that_came_too_late_is_not_carried_out(operated: Operated, redis: Redis) -> None:
    text = Envelope(to=OWN, request=Describe(rooms=False)).model_dump_json()
    operated.heartbeat._processes._last_request = "0-0"
    await redis.xadd(keys.CONTROL, {"request": text}, id="1-0")
    await operated.answer(Describe(rooms=False))
    assert await operated.control.answers("1-0") == {}


@pytest.mark.parametrize(
    "fields",
    [
        {"request": "{"},
        {"request": b"\xff\xfe"},
        {"request": json.dumps({"to": "", "request": {"verb": "explode"}})},
        {"request": json.dumps({"to": "", "request": {"verb": "close", "room": "../../etc", "reason": "x"}})},
        {"request": json.dumps({"to": "", "request": {"verb": "close", "room": "a-b", "reason": "\x1b[2J"}})},
        {"": ""},
    ],
)
async def test_an_entry_that_is_not_a_request_is_logged_and_skipped(
    operated: Operated, redis: Redis, fields: dict[Any, Any]
) -> None:
    await redis.xadd(keys.CONTROL, fields)
    with structlog.testing.capture_logs() as logs:
        assert (await operated.answer(Describe(rooms=False))).done
    assert [line["event"] for line in logs if line["log_level"] == "warning"] == ["bad_request"]


async def test_a_control_key_of_another_type_does_not_stop_the_heartbeat(operated: Operated, redis: Redis) -> None:
    await redis.set(keys.CONTROL, "a liar")
    await operated.heartbeat.beat()
    assert await Processes(redis, redis, "00000000").beat()
