"""The lobby: listed rooms and live matches, the same from every process, over WebSocket and over HTTP."""

import asyncio
import json
from asyncio.subprocess import PIPE
from typing import Any, cast

import pytest
from redis.asyncio import Redis
from redis.exceptions import RedisError

from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_client import Create, GetLobby, Join, Leave
from fairest_protocol.messages.from_server import Left, ListedRoom, LobbyPage
from fairest_protocol.messages.options import RoomOptions
from fairest_server.app import running
from fairest_server.settings import Settings
from fairest_server.store import keys
from fairest_server.store import lobby as lobby_module
from fairest_server.store.lobby import Lobby, in_order, make_page
from fairest_server.store.redis.clients import make_client
from tests.edge.test_http_pages import get
from tests.support.processes import CLIENT_COMMAND, redis_process
from tests.support.races import make_listed_room
from tests.support.waiting import PATIENCE_SECONDS, until
from tests.support.wire_client import QUICK, WireClient, open_client

LISTED = QUICK.model_copy(update={"listed": True})


async def lobby(redis: Redis) -> dict[str, ListedRoom]:
    """Return the lobby as a process reads it for the first time."""
    return {listed.room: listed for listed in (await Lobby(redis).page(0)).rooms}


async def test_a_listed_room_stands_in_the_lobby_until_nobody_is_there(server_url: str, redis: Redis) -> None:
    async with open_client(server_url, name="ann") as first:
        room = (await first.enter(Create(options=LISTED))).room
        listed = (await lobby(redis))[room]
        assert (listed.phase, listed.names, listed.rules) == (Phase.WAITING, ("ann", None), "classic")
        await first.send(Leave())
        await first.receive_a(Left)
        assert await lobby(redis) == {}


async def test_a_private_room_is_not_listed(server_url: str, redis: Redis) -> None:
    async with open_client(server_url) as first:
        await first.enter(Create(options=QUICK))
        assert await lobby(redis) == {}


async def test_a_live_match_is_listed_with_both_names_and_the_score(server_url: str, redis: Redis) -> None:
    async with open_client(server_url, name="ann") as first, open_client(server_url, name="bob") as second:
        room = (await first.enter(Create(options=LISTED))).room
        await second.enter(Join(room=room))
        await asyncio.gather(first.take_part_in_deal(), second.take_part_in_deal())
        assert (await lobby(redis))[room].phase is Phase.RACING
        await first.play("resign")
        listed = (await lobby(redis))[room]
        assert (listed.phase, listed.names, listed.wins) == (Phase.FINISHED, ("ann", "bob"), (0, 1))


async def entries(redis: Redis) -> list[bytes]:
    """Return the entries of the lobby as the logs have written them, without the public counts."""
    found = [await cast("Any", redis.hvals(keys.lobby(number))) for number in range(keys.BUCKETS)]
    return [entry for bucket in found for entry in bucket]


async def test_moves_do_not_touch_the_lobby(server_url: str, redis: Redis) -> None:
    """The entries are the same before and after a move, so they show nothing of a race."""
    async with open_client(server_url) as first, open_client(server_url) as second:
        room = (await first.enter(Create(options=LISTED))).room
        await second.enter(Join(room=room))
        await asyncio.gather(first.take_part_in_deal(), second.take_part_in_deal())
        before = await entries(redis)
        await asyncio.gather(first.play("sa"), second.play("sb"))
        assert (len(before), await entries(redis)) == (1, before)


async def test_a_room_that_was_abandoned_leaves_the_lobby(server_url: str, redis: Redis) -> None:
    options = RoomOptions(listed=True, grace_seconds=1)
    async with open_client(server_url) as first:
        await first.enter(Create(options=options))

    async def is_empty() -> None:
        assert not await lobby(redis)

    await until(is_empty, "the lobby is empty")


async def test_a_room_whose_log_was_deleted_by_hand_leaves_the_lobby(server_url: str, redis: Redis) -> None:
    async with open_client(server_url) as first:
        room = (await first.enter(Create(options=LISTED.model_copy(update={"grace_seconds": 1})))).room
    await redis.delete(keys.log(room))
    await redis.zadd(keys.deadlines(keys.bucket(room)), {room: 1})

    async def is_empty() -> None:
        assert not await lobby(redis)

    await until(is_empty, "the lobby is empty")


async def test_clients_get_the_lobby_on_their_connection_from_any_process(settings_for_tests: Settings) -> None:
    async with running(settings_for_tests) as here, running(settings_for_tests) as there, open_client(here) as first:
        room = (await first.enter(Create(options=LISTED))).room
        async with open_client(there) as other:
            page = await ask(other, 0)
            assert [listed.room for listed in page.rooms] == [room]
            assert (await ask(other, 7)).rooms == ()


async def ask(client: WireClient, page: int) -> LobbyPage:
    await client.send(GetLobby(page=page))
    return await client.receive_a(LobbyPage)


async def test_requests_that_come_at_once_read_the_lobby_once(redis: Redis) -> None:
    async def reads() -> int:
        return int((await redis.info("commandstats"))["cmdstat_hvals"]["calls"])

    await Lobby(redis).page(0)
    before, lobby = await reads(), Lobby(redis)
    await asyncio.gather(*(lobby.page(0) for _ in range(20)))
    assert await reads() - before == keys.BUCKETS


async def test_a_lobby_that_was_just_read_is_not_read_again(redis: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lobby_module, "STALE_SECONDS", 3600.0)
    read = Lobby(redis)
    assert (await read.page(0)).total == 0
    room = make_listed_room()
    await cast("Any", redis.hset(keys.lobby(keys.bucket(room.room)), room.room, room.model_dump_json()))
    assert (await read.page(0)).total == 0


async def test_a_lobby_that_could_not_be_read_is_read_again() -> None:
    with redis_process() as process:
        client = make_client(process.url, timeout_seconds=0.2)
        lobby = Lobby(client)
        process.freeze()
        failed = await asyncio.gather(*(lobby.page(0) for _ in range(3)), return_exceptions=True)
        assert all(isinstance(each, RedisError | OSError) for each in failed)
        process.thaw()
        assert (await lobby.page(0)).total == 0
        await client.aclose()


async def test_the_lobby_is_json_over_http(server_url: str) -> None:
    async with open_client(server_url) as first:
        room = (await first.enter(Create(options=LISTED))).room
        status, text = await asyncio.to_thread(get, server_url, "/lobby?page=0")
        assert status == 200
        assert [listed["room"] for listed in json.loads(text)["rooms"]] == [room]


@pytest.mark.parametrize("page", ["-1", "x", "1e3", "99999999", "%00"])
async def test_a_page_that_is_not_a_number_is_refused(server_url: str, page: str) -> None:
    status, text = await asyncio.to_thread(get, server_url, f"/lobby?page={page}")
    assert status == 400
    assert "page is a number" in text


def listed(number: int, phase: Phase) -> ListedRoom:
    return make_listed_room(number, phase=phase, names=("ann", None if phase is Phase.WAITING else "bob"))


def test_pages_show_every_room_once_those_with_a_free_seat_first() -> None:
    rooms = [listed(number, Phase.RACING if number % 2 else Phase.WAITING) for number in range(120)]
    pages = [make_page(in_order(rooms), number) for number in range(3)]
    shown = [room for page in pages for room in page.rooms]
    assert [len(page.rooms) for page in pages] == [50, 50, 20]
    assert {(page.pages, page.total) for page in pages} == {(3, 120)}
    assert len({room.room for room in shown}) == 120
    assert [room.phase for room in shown] == [Phase.WAITING] * 60 + [Phase.RACING] * 60


async def fairest(*words: str) -> tuple[int, str, str]:
    process = await asyncio.create_subprocess_exec(*CLIENT_COMMAND, *words, stdout=PIPE, stderr=PIPE)
    async with asyncio.timeout(PATIENCE_SECONDS):
        out, errors = await process.communicate()
    return process.returncode or 0, out.decode(), errors.decode()


@pytest.mark.long
async def test_the_command_shows_how_to_join(server_url: str) -> None:
    async with open_client(server_url, name="ann") as first:
        room = (await first.enter(Create(options=LISTED))).room
        code, told, _ = await fairest("lobby", "--server", server_url)
        assert code == 0
        assert "ann waits" in told
        assert f"fairest join {room} --server {server_url}" in told


@pytest.mark.long
async def test_the_command_says_that_no_server_answers() -> None:
    code, _, errors = await fairest("lobby", "--server", "ws://127.0.0.1:9")
    assert code == 1
    assert "No server answers at ws://127.0.0.1:9" in errors


def test_the_lobby_is_at_most_a_second_old() -> None:
    assert lobby_module.STALE_SECONDS == 1.0


async def test_a_row_that_cannot_be_read_is_left_out(redis: Redis) -> None:
    """A process of another version may have written it."""
    await redis.hset(keys.lobby(0), "a-b-c", '{"room":"a-b-c","of":"another version"}')
    assert (await Lobby(redis).page(0)).total == 0
