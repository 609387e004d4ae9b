"""Ratings over HTTP: what a request gets, what is refused, and what it costs an address."""

import json
from typing import Any

import pytest
from redis.asyncio import Redis

from fairest_server.store.bans import Ban, BanStore
from tests.support.limited import Limited
from tests.support.rated_players import add_players, rate_rounds
from tests.support.raw_http import ask
from tests.support.waiting import until


async def get(url: str, path: str) -> Any:
    answer = await ask(url, path)
    assert (answer.status, answer.headers["Content-Type"]) == (200, "application/json")
    return json.loads(answer.body)


async def test_the_leaderboard_of_a_variant_is_found_by_any_of_its_names(server_url: str, redis: Redis) -> None:
    await add_players(redis, "ann", "bob")
    await rate_rounds(redis, ("ann", "bob"), *((0, 0, 1) * 9), rules="senior")
    board = await get(server_url, "/leaderboard?rules=GIANT")
    assert (board["rules"], [each["name"] for each in board["players"]]) == ("senior", ["ann", "bob"])


async def test_without_a_variant_it_is_that_of_classic(server_url: str) -> None:
    assert (await get(server_url, "/leaderboard"))["rules"] == "classic"


async def test_a_player_is_found_by_its_name_in_any_case(server_url: str, redis: Redis) -> None:
    await add_players(redis, "ann", "bob")
    await rate_rounds(redis, ("ann", "bob"), 0, 0)
    page = await get(server_url, "/players/ANN?against=bob")
    assert (page["name"], page["against"]) == ("ann", "bob")
    assert (page["ratings"][0]["wins"], page["pairs"][0]["wins"]) == (2, [2, 0])


@pytest.mark.parametrize(
    ("path", "status", "sentence"),
    [
        ("/leaderboard?page=x", 400, "page is a number from 0, not 'x'."),
        ("/leaderboard?page=1234567", 400, "page is a number from 0, not '1234567'."),
        ("/players/a", 400, "A name has 2 to 20 letters, digits, _ or -; 'a' is none."),
        ("/players/ann?against=%1b[31m", 400, "A name has 2 to 20 letters, digits, _ or -; '\\x1b[31m' is none."),
        ("/players/nobody", 404, "Nobody is known by the name nobody."),
    ],
)
async def test_a_wrong_request_is_refused_with_a_sentence(
    server_url: str, path: str, status: int, sentence: str
) -> None:
    answer = await ask(server_url, path)
    assert (answer.status, answer.body.decode()) == (status, f"{sentence}\n")


async def test_a_variant_that_does_not_exist_is_refused_without_its_control_characters(server_url: str) -> None:
    answer = await ask(server_url, "/leaderboard?rules=%1b[31m%0awhist")
    assert answer.status == 400
    assert answer.body.decode().removesuffix("\n").isprintable()


@pytest.mark.parametrize("path", ["/leaderboard", "/players/ann"])
async def test_an_address_that_has_read_much_has_to_wait(limited: Limited, path: str) -> None:
    async with limited(messages_burst=1, messages_per_second=0.01) as url:
        await ask(url, path)
        answer = await ask(url, path)
    assert (answer.status, "Retry-After" in answer.headers) == (429, True)


async def test_a_banned_player_is_not_shown(limited: Limited, redis: Redis) -> None:
    await add_players(redis, "ann", "bob")
    await rate_rounds(redis, ("ann", "bob"), 0)
    # The page is asked for again and again, each time over another socket, until the server has read the ban.
    async with limited(messages_burst=1_000_000, connections_per_address=10_000) as url:
        assert (await ask(url, "/players/ann")).status == 200
        await BanStore(redis).put(Ban(player="id-ann", name="ann", since_ms=0, until_ms=None, reason=None))

        async def is_hidden() -> bool:
            return (await ask(url, "/players/ann")).status == 404

        await until(is_hidden, "the banned player is hidden")
        assert (await get(url, "/players/bob"))["name"] == "bob"
