"""The connection of an attempt: cut in the middle, to a server that is killed, to one whose Redis is killed."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from redis.asyncio import Redis

from fairest_cli.model import drand_beacon
from fairest_cli.model.cheated import Cheated
from fairest_cli.session.daily_connection import DailyConnection
from fairest_cli.session.identity import Identity
from fairest_cli.session.own_clock import now_ms
from fairest_cli.session.request_connection import ANSWER_SECONDS
from fairest_cli.session.websocket import Rejected
from fairest_cli.text.daily_player import race_daily
from fairest_protocol.calculation.moves import MOVES, STOP
from fairest_protocol.calculation.rules import VARIANTS
from tests.support.daily import announce_by_drand, deal_today
from tests.support.drand import NETWORK
from tests.support.ports import free_port
from tests.support.processes import Fleet, RedisProcess, redis_process, serving_fleet

pytestmark = pytest.mark.usefixtures("home")
RULES = VARIANTS["classic"].rules


@asynccontextmanager
async def connected(server_url: str) -> AsyncIterator[DailyConnection]:
    connection = DailyConnection(server_url, Identity(), RULES, "ann")
    try:
        yield connection
    finally:
        await connection.close()


async def typed(*lines: str) -> AsyncIterator[str]:
    for line in lines:
        yield line


async def test_a_connection_that_is_cut_goes_on_with_the_next_move(server_url: str, redis: Redis) -> None:
    await deal_today(redis, server_url)
    async with connected(server_url) as connection:
        await connection.begin()
        await connection.play(MOVES["sa"])
        await connection.close()
        game = await connection.play(MOVES["sb"])
        assert game.own.moves == 2


async def test_an_attempt_at_a_deal_by_drand_is_raced(
    server_url: str, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drand_beacon, "NETWORK", NETWORK)
    await deal_today(redis, server_url, announce=announce_by_drand, by_drand=True)
    async with connected(server_url) as connection:
        await connection.begin()
        game = await connection.play(STOP)
        assert game.result is not None and game.seal.drand is not None


async def test_the_drand_round_of_a_deal_is_said_in_lines(
    server_url: str, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drand_beacon, "NETWORK", NETWORK)
    await deal_today(redis, server_url, announce=announce_by_drand, by_drand=True)
    printed: list[str] = []
    async with connected(server_url) as connection:
        await race_daily(connection, server_url, typed("stop"), printed.append)
    assert any(line.startswith("The beacon is drand round ") for line in printed)


async def test_another_day_than_today_is_an_alarm(
    server_url: str, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its deck is known when it is over, and a server could show one that a friend has raced."""
    await deal_today(redis, server_url)
    monkeypatch.setattr("fairest_cli.session.daily_connection.now_ms", lambda: now_ms() + 2 * 86_400_000)
    async with connected(server_url) as connection:
        with pytest.raises(Cheated, match="which it is by the clock of this machine"):
            await connection.begin()


async def test_a_second_begin_leads_to_the_same_attempt(server_url: str, redis: Redis) -> None:
    await deal_today(redis, server_url)
    async with connected(server_url) as connection:
        first = await connection.begin()
        await connection.play(MOVES["sa"])
        again = await connection.begin()
        assert (again.seal, again.envelopes, again.own.moves) == (first.seal, first.envelopes, 1)


async def test_a_move_of_another_terminal_is_shown_in_place_of_ours(server_url: str, redis: Redis) -> None:
    await deal_today(redis, server_url)
    async with connected(server_url) as first:
        await first.begin()
        async with connected(server_url) as second:
            second._identity = first._identity
            await second.begin()
            await second.play(MOVES["sc"])
        game = await first.play(MOVES["sa"])
        assert [len(pile) for pile in game.board.piles] == [0, 0, 1, 0]


async def test_an_attempt_that_is_over_takes_no_move(server_url: str, redis: Redis) -> None:
    await deal_today(redis, server_url)
    async with connected(server_url) as first:
        await first.begin()
        async with connected(server_url) as second:
            second._identity = first._identity
            await second.begin()
            await second.play(STOP)
        game = await first.play(MOVES["sa"])
        assert game.result is not None and game.own.moves == 1


async def test_a_server_that_never_answers_is_named() -> None:
    url = f"ws://127.0.0.1:{free_port()}"
    async with connected(url) as connection:
        with pytest.raises(Rejected, match="No server answers"):
            await connection.begin()


async def test_a_server_without_the_deal_refuses(server_url: str) -> None:
    async with connected(server_url) as connection:
        with pytest.raises(Rejected, match="There is no daily deal"):
            await connection.begin()


async def test_words_that_are_no_moves_reach_no_server(server_url: str, redis: Redis) -> None:
    await deal_today(redis, server_url)
    printed: list[str] = []
    async with connected(server_url) as connection:
        bad = typed("xyzzy", "s9", "\x1b[2J", "a" * 5_000, "resign", "help", "quit")
        game = await race_daily(connection, server_url, bad, printed.append)
    assert game.own.moves == 0
    assert "'xyzzy' is not a move; type help." in printed
    assert not [line for line in printed if "\x1b" in line or len(line) > 1_000]


async def test_lines_that_end_leave_the_attempt_on_the_server(server_url: str, redis: Redis) -> None:
    await deal_today(redis, server_url)
    async with connected(server_url) as connection:
        game = await race_daily(connection, server_url, typed("sa"), lambda _: None)
        assert game.result is None
        assert (await connection.begin()).own.moves == 1


async def test_a_folder_that_takes_no_note_is_said_and_the_attempt_goes_on(
    server_url: str, redis: Redis, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    await deal_today(redis, server_url)
    (tmp_path / "file").write_text("")
    monkeypatch.setattr("fairest_cli.records.daily_notes.daily_folder", lambda: tmp_path / "file" / "daily")
    printed: list[str] = []
    async with connected(server_url) as connection:
        game = await race_daily(connection, server_url, typed("sa", "stop"), printed.append)
    assert game.result is not None
    assert any(line.startswith("Your attempt could not be noted on this machine") for line in printed)


@asynccontextmanager
async def served() -> AsyncIterator[tuple[Fleet, RedisProcess, str, int]]:
    """Yield a server process on a Redis that keeps each write, with today's deal, and the port of the server."""
    with redis_process("--appendonly", "yes", "--appendfsync", "always") as engine:
        async with serving_fleet(engine.url) as fleet:
            port = free_port()
            url = await fleet.start(port=port)
            async with Redis.from_url(engine.url, protocol=2) as redis:
                await deal_today(redis, url)
            yield fleet, engine, url, port


@pytest.mark.long
async def test_a_move_waits_for_a_server_that_was_killed_in_the_middle_of_an_attempt() -> None:
    async with served() as (fleet, _, url, port), connected(url) as connection:
        await connection.begin()
        await connection.play(MOVES["sa"])
        await fleet.kill(url)
        moving = asyncio.create_task(connection.play(MOVES["sb"]))
        await fleet.start(port=port)
        assert (await moving).own.moves == 2


@pytest.mark.long
async def test_a_move_waits_for_a_redis_that_was_killed_in_the_middle_of_an_attempt() -> None:
    async with served() as (_, engine, url, _), connected(url) as connection:
        await connection.begin()
        await connection.play(MOVES["sa"])
        await asyncio.to_thread(engine.kill)
        moving = asyncio.create_task(connection.play(MOVES["sb"]))
        await asyncio.to_thread(engine.start)
        assert (await moving).own.moves == 2


@pytest.mark.long
async def test_a_redis_that_has_lost_the_attempt_is_an_alarm() -> None:
    async with served() as (_, engine, url, _), connected(url) as connection:
        await connection.begin()
        await connection.play(MOVES["sa"])
        async with Redis.from_url(engine.url, protocol=2) as redis:
            [moves] = [key async for key in redis.scan_iter("fairest:{0}:daily:moves:*")]
            await redis.delete(moves)
        with pytest.raises(Cheated, match="lost our moves"):
            await connection.begin()


@pytest.mark.long
async def test_a_move_waits_for_a_server_that_sleeps() -> None:
    async with served() as (fleet, _, url, _), connected(url) as connection:
        await connection.begin()
        fleet.freeze(url)
        moving = asyncio.create_task(connection.play(MOVES["sa"]))
        # A second socket is opened once the first one has not answered for `ANSWER_SECONDS`.
        await asyncio.wait({moving}, timeout=ANSWER_SECONDS + 1)
        fleet.thaw(url)
        assert (await moving).own.moves == 1
