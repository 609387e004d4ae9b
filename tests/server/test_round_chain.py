"""The chain of rounds, on real servers: each round stands in it once, with its end, through kills and losses."""

import asyncio
import os
import signal
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from fairest_protocol.calculation.seal import make_seed
from fairest_protocol.messages.from_client import Create, Join, Leave
from fairest_protocol.messages.from_server import Left, Welcome
from fairest_protocol.messages.options import RoomOptions
from fairest_server.app import running
from fairest_server.settings import Settings
from fairest_server.store import keys
from fairest_server.store.redis.batching_client import BatchingRedis
from tests.support.processes import Fleet, redis_process, serving_fleet
from tests.support.redis_cluster import RedisCluster, redis_cluster
from tests.support.round_chain import chain_of, endings
from tests.support.waiting import until
from tests.support.wire_client import QUICK, open_client, racing_players


async def chain_with(url: str, **counts: int) -> list[dict[str, Any]]:
    """Wait until the chain has so many rounds that ended in each way; return its entries."""
    found: list[dict[str, Any]] = []

    async def has() -> None:
        found[:] = await chain_of(url)
        assert endings(found) == counts

    await until(has, f"the chain has {counts}")
    return found


async def race_once(url: str, other: str) -> None:
    """Play a round to its end: seat 0 resigns."""
    async with racing_players(url, other) as (first, second):
        await asyncio.gather(first.play("resign"), second.receive_until(lambda seen: seen.outcome is not None))


async def test_a_round_that_was_raced_is_proved_with_the_seed_of_its_deck(server_url: str) -> None:
    async with racing_players(server_url, server_url) as (first, second):
        scene = await first.play("resign")
        await second.receive_until(lambda seen: seen.outcome is not None)
    opened, ended = await chain_with(server_url, proved=1)
    assert (opened["type"], opened["rules"]) == ("opened", "classic 4 0")
    assert (ended["type"], ended["how"], ended["endings"]) == ("ended", "proved", ["resigned", "round_over"])
    assert scene.commitment is not None
    assert opened["commitment"] == ended["commitment"] == scene.commitment.hex()
    assert scene.secret is not None
    assert scene.round is not None
    entropies = [seat.entropy for seat in scene.seats if seat.entropy]
    assert ended["seed"] == make_seed(scene.secret, entropies, scene.round).hex()


async def test_a_round_that_was_called_off_is_voided_and_says_why(server_url: str) -> None:
    async with open_client(server_url) as first, open_client(server_url) as second:
        room = (await first.enter(Create(options=QUICK))).room
        await second.enter(Join(room=room))
        await second.send(Leave())
        await second.receive_a(Left)
        _, ended = await chain_with(server_url, voided=1)
    assert (ended["why"], ended["endings"], ended["revealed"]) == ("left", None, [False, False])


async def test_a_round_whose_players_do_not_reveal_is_broken_off(server_url: str) -> None:
    async with open_client(server_url) as first, open_client(server_url) as second:
        options = RoomOptions(reveal_seconds=1, countdown_seconds=0)
        room = (await first.enter(Create(options=options))).room
        await second.enter(Join(room=room))
        await first.get_ready_without_revealing()
        await second.get_ready_without_revealing()
        _, ended = await chain_with(server_url, broken_off=1)
    assert (ended["why"], ended["endings"]) == (None, ["not_revealed", "not_revealed"])


async def test_a_welcome_shows_the_head_of_the_chain(server_url: str) -> None:
    await race_once(server_url, server_url)
    entries = await chain_with(server_url, proved=1)
    async with open_client(server_url) as client:
        welcome = client.received[0]
    assert isinstance(welcome, Welcome)
    assert welcome.rounds is not None
    assert welcome.rounds.number == len(entries)


async def test_the_chain_names_no_room_no_player_and_no_match(server_url: str) -> None:
    """Everybody who knows the id of a match may ask for its record, which names its players and its room."""
    async with racing_players(server_url, server_url) as (first, second):
        scene = await first.play("resign")
        await second.receive_until(lambda seen: seen.outcome is not None)
        text = str(await chain_with(server_url, proved=1))
        assert scene.round is not None
        assert [word for word in (first.room, "guest", scene.round.hex()) if word in text] == []


@pytest.mark.long
async def test_two_processes_write_each_of_fifty_rounds_once(redis_url: str) -> None:
    settings = Settings(port=0, redis_url=redis_url)
    async with running(settings) as one, running(settings) as two:
        await asyncio.gather(*(race_once(one, two) for _ in range(50)))
        assert await chain_with(one, proved=50) == await chain_with(two, proved=50)


@pytest.mark.long
async def test_a_process_that_is_killed_before_it_wrote_an_end_loses_none(fleet: Fleet) -> None:
    """Entries are moved once a second, so most ends still wait when the process is killed; another one moves them."""
    url = await fleet.start()
    async with AsyncExitStack() as stack:
        pairs = [await stack.enter_async_context(racing_players(url, url)) for _ in range(10)]
        await chain_with(url, open=10)
        await asyncio.gather(*(first.play("resign") for first, _ in pairs))
        await fleet.kill(url)
    other = await fleet.start()
    assert len(await chain_with(other, proved=10)) == 20


@pytest.mark.long
async def test_kills_at_any_time_leave_each_round_in_the_chain_once(fleet: Fleet) -> None:
    urls = [await fleet.start(), await fleet.start()]
    for number in range(6):
        await asyncio.gather(*(race_once(urls[1], urls[1]) for _ in range(10)))
        await asyncio.sleep(number * 0.2)
        await fleet.kill(urls[0])
        urls = [urls[1], await fleet.start()]
    assert len(await chain_with(urls[0], proved=60)) == 120


@pytest.mark.long
async def test_an_entry_that_only_the_chain_has_lost_joins_it_again(redis: BatchingRedis, server_url: str) -> None:
    """As a fail-over of the chain's node does: the outbox, on another node, has kept its entries."""
    await race_once(server_url, server_url)
    await chain_with(server_url, proved=1)
    await redis.delete(keys.ROUND_CHAIN, keys.CHAINED_ROUNDS)

    async def is_back() -> None:
        entries = await chain_of(server_url)
        assert [entry["type"] for entry in entries] == ["lost", "opened", "ended"]
        assert entries[0]["lost_number"] == 2

    await until(is_back, "the round stands in the chain again, behind the entry that declares the loss")


@pytest.mark.long
async def test_a_redis_that_lost_its_last_seconds_is_declared_in_the_chain(tmp_path: Path) -> None:
    """Redis is killed and starts with the data of a minute ago, below a process that lives on."""
    folder = ("--appendonly", "no", "--dir", str(tmp_path))
    with redis_process(*folder) as redis:
        async with serving_fleet(redis.url) as fleet:
            url = await fleet.start()
            await race_once(url, url)
            known = await chain_with(url, proved=1)
            redis.kill()
            redis.start()

            async def is_declared() -> None:
                entries = await chain_of(url)
                assert entries[0]["type"] == "lost"
                assert entries[0]["lost_number"] == len(known)

            await until(is_declared, "the loss is declared")


@pytest.mark.long
async def test_rounds_on_a_cluster_stand_in_one_chain(cluster: RedisCluster) -> None:
    settings = Settings(port=0, redis_url=cluster.url)
    async with running(settings) as one, running(settings) as two:
        await asyncio.gather(*(race_once(one, two) for _ in range(8)))
        assert await chain_with(one, proved=8) == await chain_with(two, proved=8)


@pytest.mark.long
async def test_rounds_wait_for_the_node_of_the_chain_while_it_is_dead() -> None:
    """Races on the other nodes go on meanwhile, and clients are shown no old head as the newest."""
    options = ("--appendonly", "yes", "--cluster-require-full-coverage", "no")
    with redis_cluster(*options) as cluster:
        dead = cluster.owner(keys.ROUND_CHAIN)
        async with running(Settings(port=0, redis_url=cluster.url)) as url, AsyncExitStack() as stack:
            assert cluster.owner(keys.PROCESSES) is not dead
            first, _ = await stack.enter_async_context(racing_players(url))
            while cluster.owner(keys.log(first.room)) is dead:
                first, _ = await stack.enter_async_context(racing_players(url))
            before = await chain_of(url)
            dead.kill()
            await first.play("resign")
            dead.start()

            async def is_ended() -> None:
                entries = await chain_of(url)
                assert entries[: len(before)] == before
                assert endings(entries)["proved"] == 1

            await until(is_ended, "the end of the round is in the chain")


@pytest.mark.long
async def test_workers_that_die_leave_the_chain_to_the_others(fleet: Fleet) -> None:
    url = await fleet.start("--workers", "2")
    await race_once(url, url)
    await chain_with(url, proved=1)
    keeper = fleet.processes[url].pid
    children = Path(f"/proc/{keeper}/task/{keeper}/children")
    victim = children.read_text().split()[0]
    os.kill(int(victim), signal.SIGKILL)

    async def is_gone() -> bool:
        return victim not in children.read_text().split()

    await until(is_gone, "nobody connects to the worker that died")
    await race_once(url, url)
    await chain_with(url, proved=2)
