"""`fairest daily` as typed: an attempt in lines, the table of a day that is over, replay and analysis."""

import asyncio
import json
from pathlib import Path

import pytest
from redis.asyncio import Redis

from fairest_cli.analysis.judging import Effort
from fairest_cli.exit_codes import INTERRUPTED
from fairest_cli.model import drand_beacon
from fairest_protocol.calculation.daily import next_day
from fairest_server.store import daily_keys
from tests.support.daily import (
    LONG_AGO,
    announce_by_drand,
    deal_today,
    long_ago_moves,
    open_long_ago,
    open_long_ago_by_drand,
)
from tests.support.drand import NETWORK, needs_pyblst
from tests.support.invoking import invoke, run_typed
from tests.support.real_terminal import on_terminal


async def run(home: Path, url: str, *words: str, typed: str | None = None) -> tuple[int, str]:
    arguments = ("daily", "--server", url, *words)
    if typed is not None:
        done = await asyncio.to_thread(lambda: run_typed(home, *arguments, typed=typed))
        return done.returncode, done.stdout
    ran = await asyncio.to_thread(lambda: invoke(home, *arguments))
    return ran.exit_code, ran.output


@pytest.mark.long
async def test_an_attempt_is_raced_in_lines_and_once(server_url: str, redis: Redis, tmp_path: Path) -> None:
    await deal_today(redis, server_url)
    code, shown = await run(tmp_path, server_url, "--name", "ann", typed="sa\nab\nstop\n")
    assert code == 0
    assert "Cards never move from one waste pile to another." in shown
    assert "Rank 1 of 1 attempt" in shown
    code, again = await run(tmp_path, server_url, "--name", "ann", typed="sb\n")
    assert code == 0 and "Your attempt is over" in again


@pytest.mark.long
async def test_an_attempt_that_was_left_goes_on_where_it_was(server_url: str, redis: Redis, tmp_path: Path) -> None:
    await deal_today(redis, server_url)
    await run(tmp_path, server_url, "--name", "ann", typed="sa\nsb\nquit\n")
    code, shown = await run(tmp_path, server_url, "--name", "ann", typed="sc\nstop\n")
    assert code == 0 and "Rank 1 of 1" in shown
    [moves] = [key async for key in redis.scan_iter("fairest:{0}:daily:moves:*")]
    assert await redis.llen(moves) == 4


def _interrupt_at_the_prompt(home: Path, *arguments: str) -> int:
    player = on_terminal(home, *arguments)
    try:
        player.read_until(lambda _: player.cursor_line == ">")
        player.type(b"\x03")
        return player.wait()
    finally:
        player.close()


@pytest.mark.long
async def test_ctrl_c_ends_an_attempt_that_waits_for_a_line(server_url: str, redis: Redis, tmp_path: Path) -> None:
    await deal_today(redis, server_url)
    command = ("daily", "--server", server_url, "--name", "ann", "--plain")
    assert await asyncio.to_thread(_interrupt_at_the_prompt, tmp_path, *command) == INTERRUPTED


async def test_a_server_without_daily_deals_says_so(server_url: str, tmp_path: Path) -> None:
    code, shown = await run(tmp_path, server_url)
    assert (code, "There is no daily deal" in shown) == (1, True)


async def test_the_table_of_a_day_is_printed(server_url: str, redis: Redis, tmp_path: Path) -> None:
    await open_long_ago(redis, server_url, ann=long_ago_moves(), bob=[])
    code, shown = await run(tmp_path, server_url, "--day", LONG_AGO.day)
    assert code == 0
    rows = [line.split()[:2] for line in shown.splitlines() if "  ann " in line or "  bob " in line]
    assert rows == [["1", "ann"], ["2", "bob"]]
    assert "The secret belongs to the commitment." in shown


async def test_yesterday_is_the_day_before_today(
    server_url: str, redis: Redis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await open_long_ago(redis, server_url, ann=long_ago_moves())
    monkeypatch.setattr("fairest_cli.commands.daily._today", lambda: next_day(LONG_AGO.day))
    _, shown = await run(tmp_path, server_url, "--yesterday")
    assert LONG_AGO.day in shown


async def test_a_table_is_printed_for_programs_as_json(server_url: str, redis: Redis, tmp_path: Path) -> None:
    await open_long_ago(redis, server_url, ann=long_ago_moves())
    _, shown = await run(tmp_path, server_url, "--day", LONG_AGO.day, "--json")
    assert [row["name"] for row in json.loads(shown)["rows"]] == ["ann"]


async def test_an_attempt_is_replayed_beside_the_best_one(server_url: str, redis: Redis, tmp_path: Path) -> None:
    await open_long_ago(redis, server_url, ann=long_ago_moves(), bob=["sa", "sb"])
    code, shown = await run(tmp_path, server_url, "--day", LONG_AGO.day, "--replay", "--rank", "2", "--plain")
    assert code == 0
    assert "bob against ann" in shown


async def test_an_attempt_is_analysed_beside_the_best_one(
    server_url: str, redis: Redis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fairest_cli.commands.solo_races.Effort", lambda: Effort(1, 1, 0))
    await open_long_ago(redis, server_url, ann=long_ago_moves(6), bob=["sa", "sb"])
    code, shown = await run(tmp_path, server_url, "--day", LONG_AGO.day, "--analyse", "--rank", "2")
    assert code == 0
    assert "bob: the chance to win" in shown and "ann: the chance to win" in shown


async def test_a_forged_table_ends_with_the_exit_code_of_a_broken_seal(
    server_url: str, redis: Redis, tmp_path: Path
) -> None:
    await open_long_ago(redis, server_url, ann=long_ago_moves(), bob=[])
    await redis.hset(daily_keys.deal(LONG_AGO.day, LONG_AGO.variant), "secret", bytes(32))
    code, shown = await run(tmp_path, server_url, "--day", LONG_AGO.day, "--replay")
    assert code == 3 and "THE SEAL IS BROKEN" in shown


async def test_a_beacon_that_the_chain_of_rounds_contradicts_is_an_alarm(
    server_url: str, redis: Redis, tmp_path: Path
) -> None:
    await open_long_ago(redis, server_url)
    await redis.hset(daily_keys.deal(LONG_AGO.day, LONG_AGO.variant), "beacon", f"1 {'00' * 32}")
    code, shown = await run(tmp_path, server_url, "--day", LONG_AGO.day)
    assert code == 3 and "is not the hash of entry 1 of the server's list of rounds" in shown


@pytest.mark.long
async def test_an_attempt_on_a_deal_that_the_chain_contradicts_ends_with_an_alarm(
    server_url: str, redis: Redis, tmp_path: Path
) -> None:
    await deal_today(redis, server_url)
    for key in [key async for key in redis.scan_iter("fairest:{0}:daily:deal:*")]:
        await redis.hset(key, "beacon", f"1 {'00' * 32}")
    code, shown = await run(tmp_path, server_url, "--name", "ann", typed="sa\nquit\n")
    assert code == 3 and "is not the hash of entry 1" in shown


@pytest.mark.long
@needs_pyblst
async def test_an_attempt_on_a_drand_round_that_drand_has_not_signed_ends_with_an_alarm(
    server_url: str, redis: Redis, tmp_path: Path
) -> None:
    """The typed command trusts drand's own network only, and the drand rounds of the tests are not signed by it."""
    await deal_today(redis, server_url, announce=announce_by_drand, by_drand=True)
    code, shown = await run(tmp_path, server_url, "--name", "ann", typed="sa\nquit\n")
    assert code == 3 and "drand has not signed it" in shown


@needs_pyblst
async def test_the_table_of_a_deal_by_drand_says_which_drand_round_it_is(
    server_url: str, redis: Redis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drand_beacon, "NETWORK", NETWORK)
    await open_long_ago_by_drand(redis, server_url)
    code, shown = await run(tmp_path, server_url, "--day", LONG_AGO.day)
    number = NETWORK.first_round(LONG_AGO.begins_ms)
    assert code == 0
    assert f"Beacon: drand round {number}, " in shown
    assert "The commitment is entry 1 of the server's list of rounds, from before the day." in " ".join(shown.split())
    assert "with the signature of drand." in shown


@pytest.mark.long
async def test_an_attempt_says_where_its_deal_stands_in_the_chain_of_rounds(
    server_url: str, redis: Redis, tmp_path: Path
) -> None:
    await deal_today(redis, server_url)
    _, shown = await run(tmp_path, server_url, "--name", "ann", typed="sa\nquit\n")
    assert "of the server's list of rounds, the beacon entry" in shown


@pytest.mark.parametrize(
    "words", [("--replay",), ("--rank", "1"), ("--day", "today"), ("--yesterday", "--day", "2026-01-05")]
)
def test_options_that_do_not_go_together_are_an_error_of_usage(tmp_path: Path, words: tuple[str, ...]) -> None:
    assert invoke(tmp_path, "daily", *words).exit_code == 2
