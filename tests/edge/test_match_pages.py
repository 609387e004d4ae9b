"""The list of finished matches over HTTP: what is on it, what is refused, and what it costs an address."""

import json
from typing import Any

import pytest
from redis.asyncio import Redis

from fairest_protocol.messages.options import RoomOptions
from fairest_server.store.matches import MatchList
from tests.support.limited import Limited
from tests.support.listed_matches import make_row
from tests.support.raw_http import ask
from tests.support.waiting import until
from tests.support.wire_client import QUICK, racing_players

NOW_MS = 2_000_000_000_000


async def matches(url: str, query: str = "") -> Any:
    answer = await ask(url, f"/matches{query}")
    assert (answer.status, answer.headers["Content-Type"]) == (200, "application/json")
    return json.loads(answer.body)


async def listed_ids(url: str, query: str = "") -> list[str]:
    return [row["match"] for row in (await matches(url, query))["matches"]]


async def finish_match(url: str, options: RoomOptions) -> str:
    """Race a match to its end and return its id, once its record is stored."""
    async with racing_players(url, options=options) as (first, _):
        assert first.scene is not None
        assert first.scene.match is not None
        match = first.scene.match.hex()
        await first.play("resign")

        async def is_stored() -> bool:
            return (await ask(url, f"/records/{match}")).status == 200

        await until(is_stored, "the record of the match is stored")
    return match


async def test_a_finished_match_of_a_listed_room_is_listed(limited: Limited) -> None:
    async with limited(messages_burst=10_000) as url:
        match = await finish_match(url, QUICK.model_copy(update={"listed": True}))

        async def is_listed() -> bool:
            return await listed_ids(url) == [match]

        await until(is_listed, "the match is listed")


async def test_a_match_of_a_room_that_was_not_listed_is_not_on_the_list(limited: Limited) -> None:
    async with limited(messages_burst=10_000) as url:
        await finish_match(url, QUICK)
        other = await finish_match(url, QUICK.model_copy(update={"listed": True}))

        async def is_listed() -> bool:
            return await listed_ids(url) == [other]

        await until(is_listed, "only the other match is listed")


async def test_a_match_that_is_under_way_is_not_listed(limited: Limited) -> None:
    async with limited() as url, racing_players(url, options=QUICK.model_copy(update={"listed": True})):
        assert await matches(url) == {"type": "matches", "matches": [], "next": None}


async def test_the_parameters_choose_player_variant_and_page(limited: Limited, redis: Redis) -> None:
    listed = MatchList(redis)
    for number in range(21):
        await listed.add("quiet-amber-otter", make_row(number, finished_at_ms=NOW_MS + number))
    await listed.add(
        "quiet-amber-otter", make_row(50, rules="senior", names=("eve", "bob"), finished_at_ms=NOW_MS + 50)
    )
    async with limited() as url:
        assert await listed_ids(url, "?player=EVE") == [make_row(50).match]
        assert await listed_ids(url, "?rules=senior&player=bob") == [make_row(50).match]
        first = await matches(url, "?player=ann")
        assert await listed_ids(url, f"?player=ann&before={first['next']}") == [make_row(0).match]


@pytest.mark.parametrize(
    "query", ["?player=a", "?player=ann%20", "?player=%3Cb%3E", "?rules=%00", "?before=1", "?before=" + "G" * 48]
)
async def test_a_parameter_that_is_malformed_is_a_bad_request(limited: Limited, query: str) -> None:
    async with limited() as url:
        answer = await ask(url, f"/matches{query}")
    assert (answer.status, answer.body[:1]) == (400, query[1:2].encode())


async def test_a_player_and_a_variant_that_nobody_knows_have_an_empty_list(limited: Limited) -> None:
    async with limited() as url:
        assert (await listed_ids(url, "?player=nobody"), await listed_ids(url, "?rules=nothing")) == ([], [])


async def test_the_list_and_the_records_share_the_budget_of_an_address(limited: Limited) -> None:
    async with limited(messages_burst=20, messages_per_second=0.01) as url:
        asked = ("/matches", f"/records/{'0' * 32}", "/matches")
        assert [(await ask(url, path)).status for path in asked] == [200, 404, 429]


async def test_a_list_that_redis_refuses_is_unavailable(limited: Limited, redis: Redis) -> None:
    async with limited() as url:
        for number in range(16):
            await redis.set(f"fairest:{{{number}}}:matches", "no list")
        answer = await ask(url, "/matches")
    assert (answer.status, answer.body) == (503, b"The server cannot answer right now; try again.\n")
