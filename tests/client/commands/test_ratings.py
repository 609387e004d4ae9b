"""`fairest leaderboard` and `fairest player` as typed."""

import asyncio
import json
from pathlib import Path

from redis.asyncio import Redis

from tests.support.invoking import invoke
from tests.support.rated_players import add_players, rate_rounds

ROUNDS = (0, 0, 1) * 9


async def test_the_leaderboard_names_players_by_their_rating(server_url: str, redis: Redis, tmp_path: Path) -> None:
    await add_players(redis, "ann", "bob")
    await rate_rounds(redis, ("bob", "ann"), *ROUNDS, rules="senior")
    ran = await asyncio.to_thread(invoke, tmp_path, "leaderboard", "--variant", "giant", "--server", server_url)
    assert ran.exit_code == 0
    assert [line.split()[:2] for line in ran.stdout.splitlines()[2:]] == [["1.", "bob"], ["2.", "ann"]]


async def test_a_player_is_printed_for_programs_as_json(server_url: str, redis: Redis, tmp_path: Path) -> None:
    await add_players(redis, "ann", "bob")
    await rate_rounds(redis, ("ann", "bob"), 0, 1, 0)
    words = ("player", "ann", "--against", "bob", "--server", server_url, "--json")
    ran = await asyncio.to_thread(invoke, tmp_path, *words)
    found = json.loads(ran.stdout)
    assert (found["name"], found["ratings"][0]["wins"], found["pairs"][0]["wins"]) == ("ann", 2, [2, 1])


async def test_a_player_that_is_not_known_ends_with_exit_code_1(server_url: str, tmp_path: Path) -> None:
    ran = await asyncio.to_thread(invoke, tmp_path, "player", "nobody", "--server", server_url)
    assert (ran.exit_code, ran.stderr) == (1, "fairest: Nobody is known by the name nobody.\n")


def test_a_variant_that_does_not_exist_is_an_error_of_usage(tmp_path: Path) -> None:
    ran = invoke(tmp_path, "leaderboard", "--variant", "whist")
    assert ran.exit_code == 2
    assert "whist" in ran.output


def test_a_text_that_is_no_name_is_an_error_of_usage(tmp_path: Path) -> None:
    assert invoke(tmp_path, "player", "a b").exit_code == 2
