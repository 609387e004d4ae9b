"""Servers on a real Redis Cluster: whole races through killed processes, killed nodes and failovers."""

import asyncio
import hashlib
import os
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from fairest_protocol.calculation.record_parser import read_record
from fairest_protocol.messages.entries import Paused
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_client import Create, GetLobby, GetRecord, Hello, Resume
from fairest_protocol.messages.from_server import FromServer, LobbyPage, MatchRecord, Refused, Snapshot, View, Welcome
from fairest_protocol.messages.refusals import Refusal
from fairest_server.app import StartError, running
from fairest_server.live.redis_clock import MAX_CLOCK_AGE_SECONDS
from fairest_server.settings import Settings
from fairest_server.store import keys
from fairest_server.store.log import Log
from fairest_server.store.records import RecordStore
from fairest_server.store.redis.clients import make_client
from tests.support.bots import Match, start_match
from tests.support.faulty_link import let_fault_last
from tests.support.history import check_history
from tests.support.processes import serving_fleet
from tests.support.redis_cluster import ClusterNode, RedisCluster, other_than, redis_cluster
from tests.support.waiting import until
from tests.support.wire_client import QUICK, WireClient, open_client, open_raw_client, racing_players

PACE_SECONDS = 0.02
ALWAYS = ("--appendonly", "yes", "--appendfsync", "always")


async def problems(cluster: RedisCluster, match: Match) -> list[str]:
    """Wait for the end of a match; return the problems in its history."""
    await match.end()
    async with make_client(cluster.url) as redis:
        entries = await Log(redis).read(match.room)
    return check_history(match.room, entries, match.transcripts)


@asynccontextmanager
async def two_servers(cluster: RedisCluster) -> AsyncIterator[tuple[str, str]]:
    settings = Settings(port=0, redis_url=cluster.url)
    async with running(settings) as one, running(settings) as two:
        yield one, two


@pytest.mark.long
async def test_races_on_workers_go_through_the_death_of_one(cluster: RedisCluster) -> None:
    async with serving_fleet(cluster.url) as fleet:
        url = await fleet.start("--workers", "2")
        keeper = fleet.processes[url].pid
        matches = [await start_match((url,), QUICK, number, PACE_SECONDS) for number in range(3)]
        await asyncio.gather(*(match.moved(5) for match in matches))
        victim = Path(f"/proc/{keeper}/task/{keeper}/children").read_text().split()[0]
        os.kill(int(victim), signal.SIGKILL)
        assert [await problems(cluster, match) for match in matches] == [[], [], []]
        records = [match.players[0].record for match in matches]
        async with make_client(cluster.url) as redis:

            async def are_stored() -> bool:
                stored = [await redis.exists(keys.record(record.match_id)) for record in records if record]
                return stored == [1, 1, 1]

            await until(are_stored, "the records of all three matches are stored")


@pytest.mark.long
async def test_moves_on_one_process_reach_the_other(cluster: RedisCluster) -> None:
    async with two_servers(cluster) as urls:
        matches = [await start_match(urls, QUICK, number) for number in range(3)]
        assert [await problems(cluster, match) for match in matches] == [[], [], []]


async def test_the_lobby_lists_the_rooms_of_all_nodes(cluster: RedisCluster) -> None:
    listed = QUICK.model_copy(update={"listed": True})
    async with (
        two_servers(cluster) as (one, two),
        open_client(one) as first,
        open_client(one) as second,
        open_client(two) as third,
    ):
        rooms = {(await client.enter(Create(options=listed))).room for client in (first, second)}
        await third.send(GetLobby(page=0))
        page = await third.receive_a(LobbyPage)
        assert {room.room for room in page.rooms} == rooms


async def enter_some_room(url: str) -> str:
    """Create a room, as often as it takes: the room's node, or the player's, may be away. Return its code."""
    while True:
        async with open_raw_client(url) as client:
            await client.send(Hello())
            if isinstance(await client.receive(), Welcome):
                await client.send(Create(options=QUICK))
                answer = await client.receive()
                if isinstance(answer, Snapshot):
                    return answer.room


async def leave_room_behind(url: str, cluster: RedisCluster, node: ClusterNode) -> tuple[str, str]:
    """Create a room on this node by a player on another one; return its code and the player's token."""
    while True:
        async with open_client(url) as client:
            welcome = client.received[0]
            assert isinstance(welcome, Welcome)
            own = keys.player(hashlib.sha256(client.token.encode()).hexdigest()), keys.name(welcome.name)
            room = (await client.enter(Create(options=QUICK))).room
            if cluster.owner(keys.log(room)) is node and node not in map(cluster.owner, own):
                return room, client.token


async def resume(url: str, room: str, token: str) -> FromServer:
    """Return the answer to a player who comes back to a room."""
    async with open_client(url, token=token) as client:
        await client.send(Resume(room=room, position=0))
        return await client.receive()


@pytest.mark.long
@pytest.mark.parametrize("number", range(3))
async def test_a_process_starts_while_a_master_is_dead(number: int) -> None:
    with redis_cluster(*ALWAYS, "--cluster-require-full-coverage", "no") as cluster:
        settings, dead = Settings(port=0, redis_url=cluster.url), cluster.nodes[number]
        async with running(settings) as url:
            async with open_client(url) as client:
                key = client.key
            room, token = await leave_room_behind(url, cluster, dead)
        decides = cluster.owner(keys.PROCESSES) is not dead
        dead.kill()
        async with running(settings) as url:
            refused = await resume(url, room, token)
            assert isinstance(refused, Refused)
            assert refused.code is Refusal.TRY_AGAIN
            if decides:
                await enter_some_room(url)
            dead.start()

            async def is_served() -> bool:
                return isinstance(await resume(url, room, token), Snapshot)

            await until(is_served, "the room of the node that is back is served")
            async with open_client(url) as client:
                assert client.key == key


@pytest.mark.long
async def test_a_dead_node_stops_its_own_races_until_it_is_back_and_no_others() -> None:
    with redis_cluster(*ALWAYS, "--cluster-require-full-coverage", "no") as cluster:
        async with two_servers(cluster) as urls:
            dead = other_than(cluster.owner(keys.PROCESSES), cluster)
            spared: list[Match] = []
            hurt: list[Match] = []
            while not (spared and hurt):
                match = await start_match(urls, QUICK, pace_seconds=PACE_SECONDS)
                (hurt if cluster.owner(keys.log(match.room)) is dead else spared).append(match)
            await hurt[0].moved(3)
            dead.kill()
            assert not any([await problems(cluster, match) for match in spared])
            assert not hurt[0].playing.done()
            dead.start()
            assert not any([await problems(cluster, match) for match in hurt])


@pytest.mark.long
async def test_a_frozen_node_stops_no_clock_and_no_race_on_the_others(cluster: RedisCluster) -> None:
    frozen = other_than(cluster.owner(keys.PROCESSES), cluster)
    async with two_servers(cluster) as urls, AsyncExitStack() as stack:
        spared: WireClient | None = None
        hurt: WireClient | None = None
        while spared is None or hurt is None:
            player, _ = await stack.enter_async_context(racing_players(*urls))
            if cluster.owner(keys.log(player.room)) is frozen:
                hurt = player
            else:
                spared = player
        frozen.freeze()
        try:
            for _ in range(10):
                await spared.play("sa")
                await let_fault_last((MAX_CLOCK_AGE_SECONDS + 1) / 10)
        finally:
            frozen.thaw()
        entries = [entry for view in spared.received if isinstance(view, View) for entry in view.entries]
        assert not any(isinstance(entry, Paused) for entry in entries)
        await hurt.play("sa")


@pytest.mark.long
async def test_a_race_goes_on_when_a_replica_takes_the_place_of_its_node() -> None:
    with redis_cluster(spares=1) as cluster:
        master = cluster.owner(keys.PROCESSES)
        replica = cluster.replicate(master)
        async with two_servers(cluster) as urls:
            match = await start_match(urls, QUICK, pace_seconds=PACE_SECONDS)
            await match.moved(5)
            replica.cluster("FAILOVER")

            async def has_taken_over() -> None:
                assert b"role:master" in await asyncio.to_thread(replica.info, "replication")

            await until(has_taken_over, "the replica is the master")
            master.kill()
            assert await problems(cluster, match) == []


@pytest.mark.long
async def test_a_race_whose_end_a_replica_has_missed_has_the_record_of_its_other_end() -> None:
    with redis_cluster(spares=1) as cluster:
        async with two_servers(cluster) as urls, make_client(cluster.url) as redis:
            async with racing_players(*urls) as (first, second):
                master = cluster.owner(keys.log(first.room))
                replica = cluster.replicate(master)
                cluster.wait_until_in_step(master, replica)
                cluster.cut_off_replicas(master)
                await second.play("resign")
                await second.receive_until(lambda scene: scene.phase is Phase.FINISHED)
                await second.send(GetRecord())
                match = (await second.receive_a(MatchRecord)).match
                await until(lambda: redis.exists(keys.record(match)), "the record of the first end is stored")
                master.kill()
                replica.cluster("FAILOVER", "TAKEOVER")

            async def is_racing() -> bool:
                shown = await resume(urls[0], first.room, first.token)
                return isinstance(shown, Snapshot) and shown.scene.phase is Phase.RACING

            await until(is_racing, "the race goes on")
            async with open_client(urls[0], token=first.token) as again:
                await again.resume(first.room)
                await again.play("resign")

            async def is_the_other_end() -> None:
                text = await RecordStore(redis).read(match)
                assert text is not None
                outcome = read_record(text.decode().split("\n")).rounds[-1].outcome
                assert outcome is not None
                assert outcome.winner == second.seat

            await until(is_the_other_end, "the record of the other end is stored")


async def test_a_node_of_a_cluster_is_not_accepted_as_a_single_redis(cluster: RedisCluster) -> None:
    settings = Settings(port=0, redis_url=f"redis://{cluster.nodes[0].address}")
    with pytest.raises(StartError, match=r"give --redis-url redis\+cluster://"):
        async with running(settings):
            pass
