"""The page of a room over HTTP: the view of a spectator in its markup, and what reading it costs."""

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from prometheus_client import REGISTRY
from redis.asyncio import Redis

from fairest_protocol.messages.from_client import Create, Watch
from fairest_protocol.messages.from_server import Refused
from fairest_protocol.messages.options import RoomOptions, Spectators
from fairest_server.app import running
from fairest_server.settings import Settings
from fairest_server.store import keys
from fairest_server.store.bans import Ban, BanStore, parse_network
from tests.support.limited import Limited
from tests.support.processes import redis_process
from tests.support.raw_http import Answer, ask
from tests.support.stored_logs import count_entries
from tests.support.waiting import until
from tests.support.wire_client import QUICK, WireClient, open_client, racing_players

NO_ROOM = "quiet-amber-otter"
VIEW = re.compile('<script type="application/json" id="first-view">(.*?)</script>')
OWN_ADDRESS = "127.0.0.1"


def view_in(answer: Answer) -> dict[str, Any] | None:
    """Return the view in the markup, without the time at which it was made; None if there is none."""
    assert answer.status == 200
    found = VIEW.search(answer.body.decode())
    return None if found is None else json.loads(found[1]) | {"now_ms": None}


async def view_of(url: str, room: str) -> dict[str, Any] | None:
    return view_in(await ask(url, f"/r/{room}"))


@asynccontextmanager
async def race_under_way(url: str, spectators: Spectators) -> AsyncIterator[tuple[WireClient, WireClient]]:
    """Two players, of whom the first has run ahead."""
    options = QUICK.model_copy(update={"spectators": spectators})
    async with racing_players(url, options=options) as (first, second):
        for move in ("sa", "sb", "sc"):
            await first.play(move)
        await second.play("sa")
        yield first, second


async def test_the_page_holds_the_snapshot_that_a_spectator_gets(limited: Limited) -> None:
    async with limited() as url, race_under_way(url, Spectators.HORIZON) as (first, _), open_client(url) as spectator:
        await spectator.enter(Watch(room=first.room))
        view = await view_of(url, first.room)
        assert view == json.loads(spectator.frames[-1]) | {"now_ms": None}


@pytest.mark.parametrize("spectators", [Spectators.CLOSED, Spectators.OPEN])
async def test_only_the_page_of_a_room_with_a_horizon_holds_a_view(limited: Limited, spectators: Spectators) -> None:
    """In an open room spectators see what its players must not, and a player may ask for the page too."""
    async with limited() as url, race_under_way(url, spectators) as (first, _):
        assert await view_of(url, first.room) is None


async def test_moves_ahead_of_the_other_player_change_nothing_of_the_page(limited: Limited) -> None:
    async with limited() as url, race_under_way(url, Spectators.HORIZON) as (first, second):
        before = await view_of(url, first.room)
        for move in ("sd", "sa"):
            await first.play(move)
        assert await view_of(url, first.room) == before
        await second.play("sb")
        assert await view_of(url, first.room) != before


async def test_a_reader_of_the_page_leaves_nothing_in_the_log(limited: Limited, redis: Redis) -> None:
    async with limited() as url, race_under_way(url, Spectators.HORIZON) as (first, _):
        length = await count_entries(redis, first.room)
        assert await view_of(url, first.room) is not None
        assert await count_entries(redis, first.room) == length


async def test_a_room_that_only_the_page_has_read_is_not_kept_open(limited: Limited) -> None:
    async with limited() as url, limited() as other_url, race_under_way(url, Spectators.HORIZON) as (first, _):
        # The metric counts the rooms of both servers, which are in one process here.
        count = REGISTRY.get_sample_value("fairest_rooms")
        assert await view_of(other_url, first.room) is not None
        assert REGISTRY.get_sample_value("fairest_rooms") == count


@pytest.mark.parametrize("code", [NO_ROOM, "NO-ROOM", "x" * 70, "a%0Ab"])
async def test_the_page_of_no_room_holds_no_view(limited: Limited, code: str) -> None:
    async with limited() as url:
        assert await view_of(url, code) is None


async def test_a_client_that_has_guessed_too_many_codes_is_shown_no_room(limited: Limited) -> None:
    async with limited(misses_per_address=2) as url, race_under_way(url, Spectators.HORIZON) as (first, _):
        assert await view_of(url, first.room) is not None
        for _ in range(2):
            await ask(url, f"/r/{NO_ROOM}")
        assert await view_of(url, first.room) is None


async def test_codes_guessed_by_the_page_count_for_connections_too(limited: Limited) -> None:
    async with limited(misses_per_address=1) as url, open_client(url) as client:
        await ask(url, f"/r/{NO_ROOM}")
        await client.send(Watch(room=NO_ROOM))
        assert (await client.receive_a(Refused)).code == "too_many_misses"


async def test_an_address_that_has_read_much_is_shown_no_room(limited: Limited) -> None:
    async with limited(messages_burst=15, messages_per_second=0.01) as url, open_client(url) as client:
        await client.enter(Create(options=RoomOptions()))
        views = [await view_of(url, client.room) for _ in range(4)]
    assert [view is None for view in views] == [False, False, True, True]


async def test_a_banned_address_is_shown_no_room(limited: Limited, redis: Redis) -> None:
    async with limited() as url, open_client(url) as client:
        await client.enter(Create(options=RoomOptions()))
        assert await view_of(url, client.room) is not None
        await BanStore(redis).put(Ban(network=str(parse_network(OWN_ADDRESS)), since_ms=0, until_ms=None, reason=None))

        async def is_hidden() -> bool:
            return await view_of(url, client.room) is None

        await until(is_hidden, "the page shows nothing of the room")


async def test_the_page_comes_without_a_view_while_redis_is_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fairest_server.edge.room_pages.VIEW_SECONDS", 0.2)
    with redis_process() as redis:
        async with running(Settings(port=0, redis_url=redis.url)) as url:
            redis.freeze()
            view = await view_of(url, NO_ROOM)
            redis.thaw()
    assert view is None


async def test_the_page_of_a_log_that_cannot_be_read_comes_without_a_view(limited: Limited, redis: Redis) -> None:
    await redis.set(keys.log("broken-amber-otter"), "not a log")
    async with limited() as url:
        assert await view_of(url, "broken-amber-otter") is None
