"""The operator's commands as processes beside real servers, one or two of them, some killed in the middle."""

import asyncio
import json

import pytest

from fairest_protocol.messages.entries import RoomClosed
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_client import Create, Watch
from fairest_protocol.messages.from_server import Left, View
from fairest_protocol.messages.options import RoomOptions
from fairest_server.store import keys
from fairest_server.store.control import Control
from fairest_server.store.records import RecordStore
from fairest_server.store.redis.batching_client import BatchingRedis
from tests.support.operator import operate
from tests.support.processes import Fleet
from tests.support.waiting import until
from tests.support.wire_client import open_client, racing_players

pytestmark = pytest.mark.long


async def test_rooms_lists_rooms_of_all_processes_and_those_that_wait_in_redis(fleet: Fleet, redis_url: str) -> None:
    first, second = await fleet.start(), await fleet.start()
    async with open_client(first, name="ann") as ann, open_client(second, name="bob") as bob:
        listed = await ann.enter(Create(options=RoomOptions(listed=True)))
        async with open_client(second) as watcher:
            await watcher.enter(Watch(room=listed.room))
            unlisted = await bob.enter(Create())
            ran = await operate(redis_url, "rooms", "--json")
    rows = {row["room"]: row for row in map(json.loads, ran.written.splitlines())}
    assert [
        (rows[each]["names"], rows[each]["spectators"], rows[each]["listed"], len(rows[each]["processes"]))
        for each in (listed.room, unlisted.room)
    ] == [(["ann", None], 1, True, 2), (["bob", None], 0, False, 1)]
    await fleet.end(first)
    await fleet.end(second)
    ran = await operate(redis_url, "rooms")
    assert ran.code == 0
    assert [line.split()[0] for line in ran.written.splitlines()] == ["room", listed.room, unlisted.room]


async def test_processes_lists_each_process_with_its_connections(fleet: Fleet, redis_url: str) -> None:
    first, second = await fleet.start(), await fleet.start()
    async with open_client(first), open_client(first):
        ran = await operate(redis_url, "processes", "--json")
    rows = [json.loads(line) for line in ran.written.splitlines()]
    pids = {fleet.processes[first].pid: 2, fleet.processes[second].pid: 0}
    assert {row["pid"]: row["connections"] for row in rows} == pids


@pytest.mark.parametrize("count", [1, 2])
async def test_close_ends_a_race_for_both_players_and_keeps_its_record(
    fleet: Fleet, redis_url: str, redis: BatchingRedis, count: int
) -> None:
    urls = [await fleet.start() for _ in range(count)]
    async with racing_players(urls[0], urls[-1]) as players:
        ran = await operate(redis_url, "close", players[0].room, "--reason", "bad names")
        assert ran.code == 0, ran.errors
        for player in players:
            scene = await player.receive_until(lambda seen: seen.phase is Phase.CLOSED)
            assert scene.outcome is not None
            closed = [each for message in player.received if isinstance(message, View) for each in message.entries]
            assert closed[-1] == RoomClosed(reason="bad names")
            await player.receive_a(Left)

    async def is_archived() -> bool:
        return bool(await redis.keys(RecordStore.key_pattern))

    await until(is_archived, "the record of the race is stored")


async def test_close_is_done_by_another_process_if_the_first_is_killed_in_the_middle(
    fleet: Fleet, redis_url: str, redis: BatchingRedis
) -> None:
    urls = [await fleet.start(), await fleet.start()]
    first = (await Control(redis).living())[0]
    ran = await operate(redis_url, "processes", "--json")
    pids = {row["process"]: row["pid"] for row in map(json.loads, ran.written.splitlines())}
    asked = next(url for url in urls if fleet.processes[url].pid == pids[first])
    (other,) = set(urls) - {asked}
    async with open_client(other) as client:
        room = (await client.enter(Create())).room
        sent_before = await redis.xlen(keys.CONTROL)
        closing = asyncio.create_task(operate(redis_url, "close", room))

        async def is_asked() -> bool:
            return await redis.xlen(keys.CONTROL) > sent_before

        await until(is_asked, "the request is sent")
        await fleet.kill(asked)
        ran = await closing
        assert ran.code == 0, ran.errors
        await client.receive_until(lambda seen: seen.phase is Phase.CLOSED)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("close", "quiet-amber-otter"), "there is no room with this code"),
        (("close", "no code"), "'no code' cannot be the room: one looks like amber-quiet-lynx"),
        (("close", "quiet-amber-otter", "--reason", "\x1b[2J"), "one line of printable characters"),
        (("close", "quiet-amber-otter", "--reason", "x" * 501), "printable characters, at most 500"),
    ],
)
async def test_a_request_that_cannot_be_done_is_refused_with_a_sentence(
    fleet: Fleet, redis_url: str, words: tuple[str, ...], sentence: str
) -> None:
    await fleet.start()
    ran = await operate(redis_url, *words)
    assert ran.code == 1
    assert ran.errors.startswith("fairest-server: ")
    assert sentence in ran.errors


@pytest.mark.parametrize(
    ("url", "sentence"),
    [("unix:///nowhere/redis.sock", "no Redis answers"), ("", "no server process runs on this Redis")],
)
async def test_a_deployment_that_is_away_is_named_in_a_sentence(redis_url: str, url: str, sentence: str) -> None:
    ran = await operate(url or redis_url, "close", "quiet-amber-otter")
    assert (ran.code, sentence in ran.errors) == (1, True)
