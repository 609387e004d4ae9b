"""A real Redis Cluster: commands find the node of their key, whatever moves, and a node that is away harms no other."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from typing import Any, cast

import pytest
from redis.asyncio import ConnectionPool
from redis.crc import REDIS_CLUSTER_HASH_SLOTS, key_slot
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import MovedError, RedisError

from fairest_protocol.calculation.moves import MOVES
from fairest_server.room.events import Played
from fairest_server.store import keys
from fairest_server.store.appends import Answer, Append
from fairest_server.store.log import Log
from fairest_server.store.redis import cluster_client as cluster_module
from fairest_server.store.redis.batching_client import BatchingRedis
from fairest_server.store.redis.clients import make_client
from fairest_server.store.redis.cluster_client import Cluster, is_sharded, nodes_of, owner_of, partition_count
from fairest_server.store.redis.driver import RedisCommand
from fairest_server.store.redis.scripts import Script
from tests.support.appending import append_once, begin_append
from tests.support.redis_cluster import RedisCluster, other_than, redis_cluster
from tests.support.waiting import PATIENCE_SECONDS

ROOM = "quiet-amber-otter"
MOVE = Played(seat=1, move=MOVES["b4"])


@pytest.fixture
async def client(cluster: RedisCluster) -> AsyncIterator[BatchingRedis]:
    async with make_client(cluster.url) as redis:
        yield redis


class Writer:
    """Appends to a room, one event after the other, and keeps the tags of the acknowledged ones."""

    def __init__(self, log: Log, room: str = ROOM) -> None:
        self.log = log
        self.room = room
        self.acknowledged: list[str] = []

    async def append(self) -> Answer:
        """Append one more event at the end of the log."""
        entries = await self.log.read(self.room)
        last_tag, tag = entries[-1].tag if entries else "", f"{len(entries):08x}"
        # With a deadline, as rooms have: a script of two keys, both of which move.
        append = Append(self.room, len(entries), last_tag, tag, (MOVE,), next_check_ms=1)
        answer = await append_once(self.log, append)
        if answer is Answer.APPENDED:
            self.acknowledged.append(tag)
        return answer

    async def append_more(self) -> None:
        """Append until five more events are acknowledged."""
        wanted = len(self.acknowledged) + 5
        async with asyncio.timeout(PATIENCE_SECONDS):
            while len(self.acknowledged) < wanted:
                # The log may be away as well.
                with suppress(RedisError):
                    await self.append()

    async def tags(self) -> list[str]:
        """Return the tags of all entries in the log."""
        return [entry.tag for entry in await self.log.read(self.room)]


async def test_commands_for_all_nodes_are_answered_in_the_order_of_the_pipeline(client: BatchingRedis) -> None:
    names = [f"key-{number}" for number in range(100)]
    pipeline = client.pipeline(transaction=False)
    for name in names:
        pipeline.set(name, name)
        pipeline.get(name)
    assert (await pipeline.execute())[1::2] == [name.encode() for name in names]
    assert 0 not in [await node.dbsize() for node in await nodes_of(client)]


async def test_an_error_for_one_key_of_a_pipeline_is_raised(client: BatchingRedis) -> None:
    await client.set("text", "x")
    pipeline = client.pipeline(transaction=False)
    pipeline.incr("number")
    pipeline.incr("text")
    with pytest.raises(RedisError, match="not an integer"):
        await pipeline.execute()


async def test_a_node_that_does_not_know_a_script_is_sent_its_text(client: BatchingRedis) -> None:
    script = Script("release_name.lua")
    for name in ("ann", "bob", "cyd", "dan", "eve"):
        await client.set(keys.name(name), "somebody")
        assert await script.run(client, [keys.name(name)], ["somebody", 60, "given_up:"]) == 1
        for node in await nodes_of(client):
            await node.script_flush()


async def test_while_a_slot_moves_old_keys_and_new_ones_are_found(client: BatchingRedis, cluster: RedisCluster) -> None:
    owner = cluster.owner("{moving}")
    await client.set("{moving}old", "here")
    # Several connections to each node: what a redirection needs must go over the same one.
    await asyncio.gather(*(client.set(f"key-{number}", "x") for number in range(100)))
    cluster.begin_to_move("{moving}", to=other_than(owner, cluster))
    await client.set("{moving}new", "there")
    pipeline = client.pipeline(transaction=False)
    pipeline.get("{moving}old")
    pipeline.get("{moving}new")
    pipeline.get("{moving}old")
    pipeline.strlen("{moving}new")
    pipeline.append("{moving}new", "!")
    found = await pipeline.execute()
    cluster.carry("{moving}", to=other_than(owner, cluster))
    cluster.settle("{moving}", to=other_than(owner, cluster))
    assert found == [b"here", b"there", b"here", 5, 6]


async def test_a_bucket_that_moves_to_another_node_loses_nothing_acknowledged(
    client: BatchingRedis, cluster: RedisCluster
) -> None:
    owner = cluster.owner(keys.log(ROOM))
    target = other_than(owner, cluster)
    target.call("SCRIPT", "FLUSH")
    log = Log(client)
    async with log.sending():
        writer = Writer(log)
        await writer.append_more()
        for step in (cluster.begin_to_move, cluster.carry, cluster.settle):
            await asyncio.to_thread(cast("Callable[..., None]", step), keys.log(ROOM), to=target)
            await writer.append_more()
        assert await writer.tags() == writer.acknowledged
    assert cluster.owner(keys.log(ROOM)) is target


async def test_appends_that_meet_a_moving_bucket_half_way_are_made_later_or_not_at_all(
    client: BatchingRedis, cluster: RedisCluster
) -> None:
    target = other_than(cluster.owner(keys.log(ROOM)), cluster)
    log = Log(client)
    async with log.sending():
        writer = Writer(log)
        moving = asyncio.create_task(asyncio.to_thread(cluster.move, keys.log(ROOM), to=target))
        while not moving.done():
            await writer.append()
        await writer.append_more()
        tags = await writer.tags()
    assert [tag for tag in tags if tag in writer.acknowledged] == writer.acknowledged


def one_room_each(cluster: RedisCluster) -> list[str]:
    """Return one room for each node."""
    rooms = {cluster.owner(keys.log(f"room-{number}")).port: f"room-{number}" for number in range(50)}
    return [rooms[node.port] for node in cluster.nodes]


async def test_a_node_that_does_not_answer_delays_no_append_to_the_others(
    client: BatchingRedis, cluster: RedisCluster
) -> None:
    frozen, *others = one_room_each(cluster)
    log = Log(client)
    async with log.sending():
        for room in (frozen, *others):
            await Writer(log, room).append()
        cluster.nodes[0].freeze()
        try:
            answered = begin_append(log, Append(frozen, 1, f"{0:08x}", "later", (MOVE,)))
            for room in others:
                await Writer(log, room).append_more()
            assert not answered.done()
        finally:
            cluster.nodes[0].thaw()
    assert (await answered).answer is Answer.APPENDED


async def test_due_rooms_on_other_nodes_are_found_while_one_is_away() -> None:
    with redis_cluster("--cluster-require-full-coverage", "no") as cluster:
        # The clock is that of the node which has the processes.
        victim = other_than(cluster.owner(keys.PROCESSES), cluster)
        rooms = one_room_each(cluster)
        lost = rooms[cluster.nodes.index(victim)]
        async with make_client(cluster.url) as client:
            log = Log(client)
            async with log.sending():
                for room in rooms:
                    await Writer(log, room).append()
                victim.kill()
                assert sorted(await log.due_rooms(overdue_ms=0)) == sorted(set(rooms) - {lost})
                assert [end is None for end in await log.last_positions(rooms)] == [room == lost for room in rooms]


@pytest.mark.long
async def test_a_replica_that_takes_the_place_of_a_dead_node_is_found() -> None:
    with redis_cluster(spares=1) as cluster:
        master = cluster.owner(keys.log(ROOM))
        replica = cluster.replicate(master)
        async with make_client(cluster.url) as client:
            log = Log(client)
            async with log.sending():
                writer = Writer(log)
                await writer.append_more()
                cluster.wait_until_in_step(master, replica)
                master.kill()
                replica.cluster("FAILOVER", "TAKEOVER")
                await writer.append_more()
                assert await writer.tags() == writer.acknowledged


async def test_any_of_the_named_nodes_leads_to_all(cluster: RedisCluster) -> None:
    async with make_client(f"redis+cluster://127.0.0.1:9,{cluster.nodes[2].address}") as client:
        assert len(await nodes_of(client)) == 3


async def test_a_cluster_of_which_no_node_answers_is_an_error_of_redis() -> None:
    async with make_client("redis+cluster://127.0.0.1:9") as client:
        with pytest.raises(RedisError, match="no node of the Cluster says which slots it serves"):
            await client.get("key")


async def test_a_redis_that_is_not_a_cluster_is_an_error(redis_server: str) -> None:
    async with Cluster(["one:1"], lambda *_: make_client(redis_server)) as client:
        with pytest.raises(RedisError, match="cluster support disabled"):
            await client.get("key")


@pytest.mark.parametrize("url", ["redis+cluster://", "redis+cluster://host", "redis+cluster://host:1,:2"])
def test_an_url_without_hosts_and_ports_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="host:port"):
        make_client(url)


class Node(BatchingRedis):
    """A node that serves all slots, by this address, and has this version."""

    def __init__(self, host: bytes | None, version: str) -> None:
        super().__init__(connection_pool=ConnectionPool())
        self.host = host
        self.version = version

    async def send_commands(self, commands: Sequence[RedisCommand]) -> list[Any]:
        served = [[0, REDIS_CLUSTER_HASH_SLOTS - 1, [self.host, 7, b"id"]]]
        return [served if words[0] == "CLUSTER" else {"redis_version": self.version} for words, _ in commands]


@pytest.mark.parametrize(
    ("version", "expected"), [("6.2.14", False), ("7.0.0", True), ("7.4.1", True), ("10.0.0", True)]
)
async def test_channels_belong_to_slots_since_redis_7(version: str, expected: bool) -> None:
    async with Cluster(["one:1"], lambda *_: Node(b"one", version)) as client:
        assert await is_sharded(client) is expected


async def test_the_channels_of_a_single_redis_belong_to_no_slots(redis_server: str) -> None:
    async with make_client(redis_server) as client:
        assert await is_sharded(client) is False


@pytest.mark.parametrize(
    ("host", "expected"),
    [(b"two", "two:7"), (None, "one:7"), (b"", "one:7"), (b"::1", "[::1]:7"), (b"[::1]", "[::1]:7")],
)
async def test_a_node_is_asked_by_the_address_that_it_gives_or_by_which_it_was_reached(
    host: bytes | None, expected: str
) -> None:
    opened: list[tuple[str, bool]] = []

    def open_node(address: str, is_used_once: bool) -> BatchingRedis:
        opened.append((address, is_used_once))
        return Node(host, "6.2.14")

    async with Cluster(["one:1"], open_node) as client:
        await client.nodes()
    assert opened == [("one:1", False), ("one:1", True), (expected, False)]


async def test_the_nodes_of_a_cluster_that_does_not_answer_are_an_error_of_redis() -> None:
    async with make_client("redis+cluster://127.0.0.1:9") as client:
        with pytest.raises(RedisError, match="no node of the Cluster says which slots it serves"):
            await nodes_of(client)


HALF = REDIS_CLUSTER_HASH_SLOTS // 2


class Nodes:
    """Two nodes: `owners` serve the lower and the upper half of the slots. `asked` are those asked for that, in order.

    `sent` are the commands that reached each node; one in `away` does not answer them.
    """

    def __init__(self) -> None:
        self.owners = ["one:1", "two:2"]
        self.away: set[str] = set()
        self.asked: list[str] = []
        self.sent: dict[str, list[tuple[Any, ...]]] = {"one:1": [], "two:2": []}

    def open(self, address: str, _: bool) -> BatchingRedis:
        return NodeOf(self, address)


class NodeOf(BatchingRedis):
    """One of `Nodes`."""

    def __init__(self, nodes: Nodes, address: str) -> None:
        super().__init__(connection_pool=ConnectionPool())
        self.nodes = nodes
        self.address = address

    async def send_commands(self, commands: Sequence[RedisCommand]) -> list[Any]:
        ((words, _), *_) = commands
        if words[0] == "CLUSTER":
            self.nodes.asked.append(self.address)
            halves = [(0, HALF - 1), (HALF, REDIS_CLUSTER_HASH_SLOTS - 1)]
            places = [owner.split(":") for owner in self.nodes.owners]
            return [
                [
                    [first, last, [host.encode(), int(port), b"id"]]
                    for (first, last), (host, port) in reversed([*zip(halves, places, strict=True)])
                ]
            ]
        if words[0] == "INFO":
            return [{"redis_version": "6.2.14"}]
        if self.address in self.nodes.away:
            raise RedisConnectionError("away")
        self.nodes.sent[self.address] += [words for words, _ in commands]
        return [b"OK"] * len(commands)


class Moved(NodeOf):
    """A node of `Nodes` that has given all slots to port 2 of a host, or of its own one if the host is empty."""

    def __init__(self, nodes: Nodes, address: str, host: str) -> None:
        super().__init__(nodes, address)
        self.host = host

    async def send_commands(self, commands: Sequence[RedisCommand]) -> list[Any]:
        replies = await super().send_commands(commands)
        is_moved = self.address.endswith(":1") and replies == [b"OK"]
        return [MovedError(f"1 {self.host}:2")] if is_moved else replies


@pytest.mark.parametrize(("host", "expected"), [("two", "two:2"), ("", "one:2")])
async def test_a_redirection_leads_to_the_host_that_it_names_or_else_to_the_same_one(host: str, expected: str) -> None:
    nodes = Nodes()
    nodes.owners = ["one:1", "one:1"]
    nodes.sent[expected] = []
    async with Cluster(["one:1"], lambda address, _: Moved(nodes, address, host)) as client:
        await client.get("key")
    assert nodes.sent[expected] == [("GET", "key")]


class EverMoving(NodeOf):
    """A node of `Nodes` that sends every command to the other one."""

    async def send_commands(self, commands: Sequence[RedisCommand]) -> list[Any]:
        replies = await super().send_commands(commands)
        other = "two:2" if self.address == "one:1" else "one:1"
        return [MovedError(f"1 {other}")] if replies == [b"OK"] else replies


async def test_a_command_follows_five_redirections_and_then_fails() -> None:
    nodes = Nodes()
    async with Cluster(["one:1"], lambda address, _: EverMoving(nodes, address)) as client:
        with pytest.raises(RedisError, match="still moving after 5 redirections"):
            await client.get("key")
    assert len(nodes.sent["one:1"] + nodes.sent["two:2"]) == 6


@pytest.mark.parametrize("run", ["EVAL", "EVALSHA"])
@pytest.mark.parametrize("key", ["a", "b", "c", "d", "e", "f"])
async def test_a_script_goes_to_the_node_of_its_first_key(run: str, key: str) -> None:
    nodes = Nodes()
    async with Cluster(["one:1"], nodes.open) as client:
        await cast("Any", client).execute_command(run, "script", 1, key)
    assert nodes.sent[nodes.owners[key_slot(key.encode()) // HALF]] == [(run, "script", 1, key)]


async def test_the_owner_of_a_key_is_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_module, "REFRESH_SECONDS", -1.0)
    nodes = Nodes()
    async with Cluster(["one:1"], nodes.open) as client:
        await owner_of(client, "a")
        nodes.owners.reverse()
        owner = await owner_of(client, "a")
    assert isinstance(owner, NodeOf)
    assert owner.address == nodes.owners[key_slot(b"a") // HALF]


async def test_a_node_that_is_away_is_asked_last_which_node_has_taken_its_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cluster_module, "REFRESH_SECONDS", -1.0)
    nodes = Nodes()
    async with Cluster(["one:1", "two:2"], nodes.open) as client:
        await client.nodes()
        nodes.asked.clear()
        nodes.away, nodes.owners = {"one:1"}, ["two:2", "two:2"]
        low = next(key for key in ("a", "b", "c", "d", "e") if key_slot(key.encode()) < HALF)
        await cast("Any", client).execute_command("GET", low)
    assert (nodes.asked, nodes.sent["two:2"]) == (["two:2"], [("GET", low)])


async def test_a_cluster_has_a_part_for_each_bucket_and_a_single_redis_has_one(redis_server: str) -> None:
    async with Cluster(["one:1"], Nodes().open) as client, make_client(redis_server) as single:
        assert (partition_count(client), partition_count(single)) == (keys.BUCKETS, 1)


async def test_every_node_is_opened_with_the_name_and_password_of_the_url() -> None:
    async with make_client("redis+cluster://ann:secret@one:1,two:2") as client:
        options = client.connection_pool.connection_kwargs
    assert [options[name] for name in ("username", "password", "host", "port")] == ["ann", "secret", "one", 1]


@pytest.mark.parametrize(
    ("slot", "expected"),
    [(0, "one:1"), (HALF - 1, "one:1"), (HALF, "two:2"), (REDIS_CLUSTER_HASH_SLOTS - 1, "two:2")],
)
async def test_a_node_serves_its_slots_from_the_first_to_the_last(slot: int, expected: str) -> None:
    key = next(key for key in map(str, itertools.count()) if key_slot(key.encode()) == slot)
    async with Cluster(["one:1"], Nodes().open) as client:
        owner = await owner_of(client, key)
    assert isinstance(owner, NodeOf)
    assert owner.address == expected


class TwiceMoved(NodeOf):
    """A node of `Nodes` that sends the first of two commands to one node, and the second to another one."""

    async def send_commands(self, commands: Sequence[RedisCommand]) -> list[Any]:
        replies = await super().send_commands(commands)
        if self.address == "one:1" and replies == [b"OK", b"OK"]:
            return [MovedError("1 old:3"), MovedError("1 two:2")]
        return replies


async def test_the_last_redirection_is_followed() -> None:
    nodes = Nodes()
    nodes.owners = ["one:1", "one:1"]
    async with Cluster(["one:1"], lambda address, _: TwiceMoved(nodes, address)) as client:
        await client.send(0, [(("GET", "a"), {}), (("GET", "b"), {})])
    assert nodes.sent["two:2"] == [("GET", "a"), ("GET", "b")]


async def test_a_command_for_a_node_that_is_away_fails_when_no_other_has_taken_its_place() -> None:
    nodes = Nodes()
    nodes.away = {"one:1"}
    async with Cluster(["two:2"], nodes.open) as client:
        with pytest.raises(RedisConnectionError, match="away"):
            await client.send(0, [(("GET", "a"), {})])


async def test_the_nodes_are_asked_once_for_many_callers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_module, "REFRESH_SECONDS", -1.0)
    nodes = Nodes()
    async with Cluster(["one:1"], nodes.open) as client:
        await asyncio.gather(client.nodes(), client.nodes(), client.nodes())
    assert nodes.asked == ["one:1"]


async def test_the_nodes_are_not_asked_again_within_the_refresh_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_module, "REFRESH_SECONDS", 3600.0)
    nodes = Nodes()
    async with Cluster(["one:1"], nodes.open) as client:
        await client.nodes()
        await client.nodes()
    assert nodes.asked == ["one:1"]


class HalfServed(NodeOf):
    """A node of `Nodes` that knows of no node for the upper half of the slots."""

    async def send_commands(self, commands: Sequence[RedisCommand]) -> list[Any]:
        replies = await super().send_commands(commands)
        return [[replies[0][1]]] if commands[0][0][0] == "CLUSTER" else replies


async def test_a_command_for_a_slot_that_no_node_serves_fails_with_that_reason() -> None:
    async with Cluster(["one:1"], lambda address, _: HalfServed(Nodes(), address)) as client:
        with pytest.raises(RedisConnectionError, match=r"^no node serves this slot$"):
            await client.send(HALF, [(("GET", "a"), {})])


async def test_an_unserved_slot_is_not_taken_for_a_node_to_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_module, "REFRESH_SECONDS", -1.0)
    nodes, opened = Nodes(), set[str]()
    nodes.away = {"one:1"}

    def open_node(address: str, _: bool) -> BatchingRedis:
        opened.add(address)
        return HalfServed(nodes, address)

    async with Cluster(["one:1"], open_node) as client:
        with pytest.raises(RedisConnectionError):
            await client.send(HALF, [(("GET", "a"), {})])
        with pytest.raises(RedisConnectionError):
            await client.send(0, [(("GET", "a"), {})])
    assert "" not in opened
