"""The operator's commands on a Redis Cluster: each of them beside real servers, and while a node is away."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from fairest_protocol.messages.entries import RoomClosed
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_client import Create, GetRecord, Hello, Watch
from fairest_protocol.messages.from_server import Announcement, Error, Left, MatchRecord, View, Welcome
from fairest_server.app import running
from fairest_server.settings import Settings
from fairest_server.store import keys
from fairest_server.store.records import RecordStore
from fairest_server.store.redis.batching_client import BatchingRedis
from fairest_server.store.redis.clients import make_client
from tests.support.operator import operate
from tests.support.processes import Fleet
from tests.support.records import store_records
from tests.support.redis_cluster import RedisCluster, other_than, redis_cluster
from tests.support.waiting import until
from tests.support.wire_client import open_client, open_raw_client, racing_players

pytestmark = pytest.mark.long


@pytest.fixture
def redis_url(cluster: RedisCluster) -> Iterator[str]:
    """Yield the URL of the Cluster, emptied before the test, and after it for those that use the Cluster."""
    yield cluster.url
    cluster.flush()


@pytest.fixture
async def redis(redis_url: str) -> AsyncIterator[BatchingRedis]:
    client = make_client(redis_url)
    yield client
    await client.aclose()


async def test_rooms_lists_the_rooms_of_all_nodes_open_and_waiting(fleet: Fleet, redis_url: str) -> None:
    first, second = await fleet.start(), await fleet.start()
    codes = []
    async with open_client(first, name="ann") as ann:
        codes.append((await ann.enter(Create())).room)
        for _ in range(6):
            async with open_client(second) as other:
                codes.append((await other.enter(Create())).room)
        async with open_client(second) as watcher:
            await watcher.enter(Watch(room=codes[0]))
            ran = await operate(redis_url, "rooms", "--json")
    rows = {row["room"]: row for row in map(json.loads, ran.written.splitlines())}
    assert rows.keys() == set(codes)
    assert (rows[codes[0]]["names"], rows[codes[0]]["spectators"], len(rows[codes[0]]["processes"])) == (
        ["ann", None],
        1,
        2,
    )


async def test_close_ends_a_race_on_two_processes_and_keeps_its_record(
    fleet: Fleet, redis_url: str, cluster: RedisCluster
) -> None:
    urls = [await fleet.start(), await fleet.start()]
    async with racing_players(urls[0], urls[1]) as players:
        ran = await operate(redis_url, "close", players[0].room, "--reason", "bad names")
        assert ran.code == 0, ran.errors
        for player in players:
            await player.receive_until(lambda seen: seen.phase is Phase.CLOSED)
            shown = [each for message in player.received if isinstance(message, View) for each in message.entries]
            assert shown[-1] == RoomClosed(reason="bad names")
            await player.receive_a(Left)

    async def is_recorded() -> bool:
        return any(node.call("KEYS", RecordStore.key_pattern) for node in cluster.nodes)

    await until(is_recorded, "the record of the race is stored")


async def test_ban_announce_and_rename_reach_players_of_all_processes(fleet: Fleet, redis_url: str) -> None:
    urls = [await fleet.start(), await fleet.start()]
    async with open_client(urls[0], name="ann") as ann, open_client(urls[1], name="bob") as bob:
        ran = await operate(redis_url, "announce", "We restart at 20:00.")
        assert [line.partition(": ")[2] for line in ran.written.splitlines()] == ["shown to 1 clients"] * 2
        for client in (ann, bob):
            assert (await client.receive_a(Announcement)).text == "We restart at 20:00."
        assert (await operate(redis_url, "rename", "bob", "rob")).code == 0
        async with open_raw_client(urls[0]) as again:
            await again.send(Hello(token=bob.token, name="bob"))
            assert (await again.receive_a(Welcome)).name == "rob"
        assert (await operate(redis_url, "ban", "ann")).code == 0
        assert (await ann.receive_a(Error)).code == "banned"
        assert "ann " in (await operate(redis_url, "bans")).written
        assert (await operate(redis_url, "unban", "ann")).code == 0


async def test_drain_ends_a_process_when_the_race_of_its_player_is_over(fleet: Fleet, redis_url: str) -> None:
    one, two = await fleet.start(), await fleet.start()
    rows = map(json.loads, (await operate(redis_url, "processes", "--json")).written.splitlines())
    drained = next(row["process"] for row in rows if row["pid"] == fleet.processes[one].pid)
    async with racing_players(one, two) as (first, second):
        draining = asyncio.create_task(operate(redis_url, "drain", drained[:4]))
        await first.play("sa")
        await second.play("resign")
        ran = await draining
    assert (ran.code, ran.written.splitlines()[-1]) == (0, f"drained: {drained}")
    assert await fleet.wait_for_end(one) == 0


async def test_archive_moves_the_records_of_all_nodes_and_servers_answer_for_them(
    redis: BatchingRedis, redis_url: str, cluster: RedisCluster, tmp_path: Path
) -> None:
    records = await store_records(redis, 12)
    assert len({cluster.owner(keys.record(each.match_id)).id for each in records}) == len(cluster.nodes)
    ran = await operate(redis_url, "archive", str(tmp_path))
    assert (ran.code, ran.written) == (0, "12 records moved, 0 younger than 30 days left in Redis.\n")
    settings = Settings(port=0, redis_url=redis_url, archive=str(tmp_path))
    async with running(settings) as url, open_client(url) as player:
        for record in records:
            await player.send(GetRecord(match=record.match_id))
            assert (await player.receive_a(MatchRecord)).lines == tuple(record.lines())


async def test_a_backup_of_a_cluster_goes_back_into_it_with_its_race_and_its_key(
    redis: BatchingRedis, redis_url: str, cluster: RedisCluster, tmp_path: Path
) -> None:
    settings = Settings(port=0, redis_url=redis_url)
    [record] = await store_records(redis, 1)
    async with running(settings) as url, racing_players(url) as (first, _):
        await first.play("sa")
        ran = await operate(redis_url, "backup", str(tmp_path))
        assert ran.code == 0, ran.errors
        key, token, room = first.key, first.token, first.room
    cluster.flush()
    restored = await operate(redis_url, "restore", ran.written.strip())
    assert restored.code == 0, restored.errors
    assert await RecordStore(redis).read(record.match_id) is not None
    async with running(settings) as url, open_client(url, token=token) as again:
        assert (await again.resume(room)).scene.phase is Phase.RACING
        assert again.key == key


async def test_the_key_is_saved_forgotten_and_loaded_again(
    redis: BatchingRedis, redis_url: str, tmp_path: Path
) -> None:
    settings, file = Settings(port=0, redis_url=redis_url), tmp_path / "key.bin"
    async with running(settings):
        public = (await operate(redis_url, "key", "save", str(file))).written
        assert "would put their key back" in (await operate(redis_url, "key", "forget")).errors
    await redis.delete(keys.PROCESSES)
    assert (await operate(redis_url, "key", "forget")).code == 0
    assert "this Redis has no key yet" in (await operate(redis_url, "key", "save", str(tmp_path / "none"))).errors
    assert (await operate(redis_url, "key", "load", str(file))).written == public


async def test_a_node_that_is_away_is_named_and_the_commands_that_do_not_need_it_work(tmp_path: Path) -> None:
    with redis_cluster("--appendonly", "yes", "--cluster-require-full-coverage", "no") as cluster:
        dead = other_than(cluster.owner(keys.PROCESSES), cluster)
        async with running(Settings(port=0, redis_url=cluster.url)):
            dead.kill()
            assert (await operate(cluster.url, "announce", "one node is away")).code == 0
            assert (await operate(cluster.url, "ban", "10.0.0.0/8")).code == 0
            for words in (("rooms",), ("backup", str(tmp_path)), ("archive", str(tmp_path))):
                ran = await operate(cluster.url, *words)
                assert (ran.code, dead.address in ran.errors, ".." in ran.errors) == (1, True, False), ran.errors
            assert list(tmp_path.glob("*.backup")) == []


async def test_a_node_without_which_no_command_works_is_named() -> None:
    with redis_cluster("--cluster-require-full-coverage", "no") as cluster:
        decides = cluster.owner(keys.PROCESSES)
        decides.kill()
        ran = await operate(cluster.url, "processes")
        assert ran.code == 1
        assert "the node of the Cluster that serves {processes} is away" in ran.errors
        assert f"{decides.port}" in ran.errors
