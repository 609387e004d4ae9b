"""Wake-ups between processes, over real pub/sub."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import pytest
from structlog.testing import capture_logs

from fairest_server.ops import metrics
from fairest_server.room.events import RoomClosed
from fairest_server.room.steps import LogSlice
from fairest_server.store import keys, wakeups
from fairest_server.store.appends import Answer, Append
from fairest_server.store.log import Log
from fairest_server.store.redis.batching_client import RAW_REPLY, BatchingRedis
from fairest_server.store.redis.clients import make_client
from fairest_server.store.redis.cluster_client import channel_commands, is_sharded, owner_of
from fairest_server.store.wakeups import SILENCE_SECONDS, Channels, Wakeups
from tests.support.appending import append_once
from tests.support.faulty_link import faulty_link
from tests.support.processes import RedisProcess, redis_process
from tests.support.redis_cluster import RedisCluster
from tests.support.waiting import PATIENCE_SECONDS, until

ROOM = "one-small-room"


class Writer:
    """Another process, which appends to the room."""

    def __init__(self, redis: BatchingRedis) -> None:
        self.redis = redis
        self.log = Log(redis)
        self.index, self.tag = 0, ""

    async def append(self, own_subscriptions: int = 0) -> None:
        tag = f"{self.index:08x}"
        append = Append(ROOM, self.index, self.tag, tag, [RoomClosed()], own_subscriptions=own_subscriptions)
        assert await append_once(self.log, append) is Answer.APPENDED
        self.index, self.tag = self.index + 1, tag


class Listener:
    """A process that subscribes to the room. `received` has the indexes of the entries that came."""

    def __init__(self, writer: Writer, listening: BatchingRedis) -> None:
        self.writer = writer
        self.wakeups = Wakeups(listening, self.receive)
        self.received: list[int] = []

    def receive(self, room: str, log_slice: LogSlice) -> None:
        assert room == ROOM
        self.received.extend(entry.index for entry in log_slice.entries)

    async def receives_more(self) -> None:
        """Append until one of these appends is received."""
        since = self.writer.index

        async def receives() -> bool:
            await self.writer.append()
            return any(index > since for index in self.received)

        await until(receives, "an append is received")

    async def is_confirmed(self) -> None:
        """Wait until Redis has confirmed the subscription."""

        async def is_one() -> bool:
            return self.wakeups.own_subscriptions(ROOM) == 1

        await until(is_one, "the subscription is confirmed")

    async def has_received(self, index: int) -> None:
        """Wait until the entry with this index was received."""

        async def has_it() -> bool:
            return index in self.received

        await until(has_it, f"the entry {index} was received")


@asynccontextmanager
async def listening(url: str, listening_url: str | None = None) -> AsyncIterator[Listener]:
    """Run a process that appends and one that subscribes, perhaps over another address."""
    redis, subscribed = make_client(url), make_client(listening_url or url, timeout_seconds=None)
    listener = Listener(Writer(redis), subscribed)
    listener.wakeups.subscribe(ROOM)
    running = asyncio.create_task(listener.wakeups.run())
    async with listener.writer.log.sending(), asyncio.timeout(PATIENCE_SECONDS):
        yield listener
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    await redis.aclose()
    await subscribed.aclose()


async def test_a_subscriber_of_a_room_receives_its_appends(redis_url: str) -> None:
    async with listening(redis_url) as listener:
        await listener.receives_more()


async def test_an_append_that_nobody_but_its_sender_would_hear_is_not_published(redis_url: str) -> None:
    """On a Cluster of Redis 6.2 it is: subscribers stay on their node when the room moves to another, and a node counts
    its own.
    """
    async with listening(redis_url) as listener:
        is_counted = "nil" not in await channel_commands(listener.writer.redis)
        await listener.is_confirmed()
        await listener.writer.append(own_subscriptions=1)
        await listener.writer.append()
        await listener.has_received(2)
        assert listener.received == ([2] if is_counted else [1, 2])


async def test_an_append_is_published_as_soon_as_another_process_listens(redis_url: str) -> None:
    async with listening(redis_url) as listener, listening(redis_url) as other:
        await listener.is_confirmed()
        await other.is_confirmed()
        await listener.writer.append(own_subscriptions=1)
        await listener.has_received(1)
        await other.has_received(1)


async def test_a_subscription_counts_once_redis_has_confirmed_it(redis_url: str) -> None:
    async with listening(redis_url) as listener:
        assert listener.wakeups.own_subscriptions(ROOM) == 0
        await listener.is_confirmed()


async def test_a_subscription_whose_connection_has_ended_does_not_count() -> None:
    with redis_process() as process:
        async with listening(process.url) as listener:
            await listener.is_confirmed()
            process.kill()

            async def has_ended() -> bool:
                return listener.wakeups.own_subscriptions(ROOM) == 0

            await until(has_ended, "the subscription does not count any more")
            process.start()
            await listener.is_confirmed()


async def test_a_room_that_was_unsubscribed_does_not_count(redis_url: str) -> None:
    async with listening(redis_url) as listener:
        await listener.is_confirmed()
        listener.wakeups.unsubscribe(ROOM)

        async def is_left() -> bool:
            return listener.wakeups.own_subscriptions(ROOM) == 0

        await until(is_left, "the room does not count any more")


async def test_a_room_that_was_unsubscribed_before_redis_confirmed_it_does_not_count(redis_url: str) -> None:
    rooms = [f"brief-room-{number}" for number in range(50)]
    async with listening(redis_url) as listener:
        await listener.is_confirmed()
        for room in rooms:
            listener.wakeups.subscribe(room)
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            listener.wakeups.unsubscribe(room)
            await asyncio.sleep(0)
        listener.wakeups.subscribe("last-room")

        async def last_is_confirmed() -> bool:
            return listener.wakeups.own_subscriptions("last-room") == 1

        await until(last_is_confirmed, "the last room is confirmed")

        async def none_counts() -> bool:
            return not any(map(listener.wakeups.own_subscriptions, rooms))

        await until(none_counts, "no room that was unsubscribed counts")


@pytest.mark.long
async def test_a_subscription_on_a_half_open_connection_is_replaced() -> None:
    with redis_process() as process:
        async with faulty_link(process.socket) as link, listening(process.url, link.url) as listener:
            await listener.receives_more()
            link.half_open()
            await listener.receives_more()


async def test_a_subscription_without_messages_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    # Longer than a busy machine holds up the event loop, shorter than the pings below take.
    monkeypatch.setattr(wakeups, "SILENCE_SECONDS", 1.0)
    monkeypatch.setattr(wakeups, "_PING_SECONDS", 0.05)
    with redis_process() as process:
        async with listening(process.url) as listener:
            await listener.receives_more()
            before = await asyncio.to_thread(subscribers, process)

            async def was_pinged_for_long() -> bool:
                return pings(await asyncio.to_thread(process.info, "commandstats")) > 30

            await until(was_pinged_for_long, "Redis was pinged more than 30 times")
            assert await asyncio.to_thread(subscribers, process) == before


async def test_a_process_without_rooms_is_subscribed_to_the_keepalive_channel() -> None:
    """Otherwise it would have no connection on which a ping is answered."""
    channel = keys.keepalive_channel(0)
    with redis_process() as process:
        async with make_client(process.url, timeout_seconds=None) as client:
            running = asyncio.create_task(Wakeups(client, lambda _room, _slice: None).run())

            async def is_subscribed() -> bool:
                return await asyncio.to_thread(process.call, "PUBSUB", "NUMSUB", channel) == [channel.encode(), 1]

            await until(is_subscribed, "the process is subscribed")
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)


async def test_a_subscription_is_pinged_no_more_often_than_it_must_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wakeups, "_PING_SECONDS", 0.05)
    with redis_process() as process:
        started, before = time.monotonic(), pings(process.info("commandstats"))
        async with listening(process.url) as listener:

            async def was_pinged_for_long() -> bool:
                return pings(await asyncio.to_thread(process.info, "commandstats")) > 10

            await until(was_pinged_for_long, "Redis was pinged more than 10 times")
            sent = pings(await listener.writer.redis.execute_command("INFO", "commandstats", **RAW_REPLY))
            assert sent - before <= (time.monotonic() - started) / 0.05


def shortened_pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Shorten all pauses from now on; return those that were asked for, in seconds."""
    pauses: list[float] = []
    sleep = asyncio.sleep

    async def shortened(seconds: float) -> None:
        pauses.append(seconds)
        await sleep(min(seconds, 0.01))

    monkeypatch.setattr(asyncio, "sleep", shortened)
    return pauses


async def pauses_of(url: str, monkeypatch: pytest.MonkeyPatch, awaited: float) -> list[float]:
    """Return the pauses, in seconds, that a process which subscribes makes until one is `awaited`."""
    pauses = shortened_pauses(monkeypatch)
    async with make_client(url, timeout_seconds=None) as client:
        running = asyncio.create_task(Wakeups(client, lambda _room, _slice: None).run())

        async def has_paused() -> bool:
            return awaited in pauses

        await until(has_paused, f"there was a pause of {awaited} s")
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    return pauses


async def test_a_subscription_that_fails_is_tried_again_after_half_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    assert 0.5 in await pauses_of("unix:///nowhere/redis.sock", monkeypatch, awaited=0.5)


async def test_a_subscription_is_checked_every_second(monkeypatch: pytest.MonkeyPatch, redis_server: str) -> None:
    assert 1.0 in await pauses_of(redis_server, monkeypatch, awaited=1.0)


def test_a_subscription_may_miss_the_replies_to_two_pings() -> None:
    assert SILENCE_SECONDS == 3.0


async def test_a_ping_before_there_is_a_connection_sends_nothing() -> None:
    async with make_client("unix:///nowhere/redis.sock") as client:
        channels = Channels(client.pubsub(), is_sharded=False)
        await channels.ping()
        assert channels.pubsub.connection is None


async def test_a_subscription_that_never_began_is_not_logged(monkeypatch: pytest.MonkeyPatch) -> None:
    """While a node is away there are two a second."""
    with capture_logs() as logged:
        await pauses_of("unix:///nowhere/redis.sock", monkeypatch, awaited=0.5)
    assert logged == []


async def test_a_redis_that_stays_away_is_logged_once(monkeypatch: pytest.MonkeyPatch) -> None:
    with redis_process() as process, capture_logs() as logged:
        async with listening(process.url) as listener:
            await listener.receives_more()
            pauses = shortened_pauses(monkeypatch)
            process.kill()

            async def was_tried_again() -> bool:
                return pauses.count(0.5) > 2

            await until(was_tried_again, "the subscription was tried again")
            assert len(logged) == 1
            process.start()


async def test_a_subscription_that_is_replaced_gives_its_connection_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wakeups, "SILENCE_SECONDS", 0.3)
    monkeypatch.setattr(wakeups, "_PING_SECONDS", 0.05)
    with redis_process() as process:
        async with (
            faulty_link(process.socket) as link,
            listening(process.url, f"{link.url}?max_connections=1") as listener,
        ):
            await listener.receives_more()
            link.half_open()
            await listener.receives_more()


async def test_a_subscription_that_ends_is_logged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wakeups, "SILENCE_SECONDS", 0.3)
    monkeypatch.setattr(wakeups, "_PING_SECONDS", 0.05)
    with redis_process() as process, capture_logs() as logged:
        async with faulty_link(process.socket) as link, listening(process.url, link.url) as listener:
            await listener.receives_more()
            link.half_open()
            await listener.receives_more()
    assert {entry["log_level"] for entry in logged} == {"info"}


@pytest.mark.long
async def test_a_process_that_was_held_up_keeps_its_subscription(
    redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wakeups, "SILENCE_SECONDS", 1.0)
    with capture_logs() as logged:
        async with listening(redis_url) as listener:
            await listener.receives_more()
            time.sleep(2.2)  # noqa: ASYNC251  It holds the event loop up.
            await listener.receives_more()
    assert logged == []


async def test_the_channel_of_a_room_that_was_unsubscribed_is_left(redis_url: str) -> None:
    async with listening(redis_url) as listener:
        await listener.receives_more()
        node: Any = await owner_of(listener.writer.redis, keys.log(ROOM))
        count = "SHARDNUMSUB" if await is_sharded(listener.writer.redis) else "NUMSUB"

        async def is_left() -> bool:
            _, left = await node.execute_command("PUBSUB", count, keys.log(ROOM), **RAW_REPLY)
            return bool(left == 0)

        listener.wakeups.unsubscribe(ROOM)
        await until(is_left, "the channel has no subscriber")


def subscribers(process: RedisProcess) -> list[str]:
    found = cast("list[dict[str, str]]", process.call("CLIENT LIST", "TYPE", "pubsub"))
    return [client["id"] for client in found]


def pings(commandstats: bytes) -> int:
    return int(commandstats.partition(b"cmdstat_ping:calls=")[2].partition(b",")[0] or 0)


def faults() -> float:
    """Return the number of faults that were counted for wake-ups."""
    (family,) = metrics.FAULTS.collect()
    counted = [sample for sample in family.samples if sample.name.endswith("_total")]
    return sum(sample.value for sample in counted if sample.labels["where"] == metrics.Part.WAKEUPS)


async def test_a_bucket_that_moves_to_another_node_is_followed_there_without_a_fault(cluster: RedisCluster) -> None:
    before = faults()
    owner = cluster.owner(keys.log(ROOM))
    target = next(node for node in cluster.nodes if node is not owner)
    async with listening(cluster.url) as listener:
        await listener.receives_more()
        await asyncio.to_thread(cluster.move, keys.log(ROOM), to=target)
        await listener.receives_more()
    assert faults() == before


async def test_wake_ups_belong_to_slots_where_redis_has_such_channels(cluster: RedisCluster) -> None:
    """Redis 6.2 has only ordinary channels, whose messages go to every node of a Cluster."""
    owner = cluster.owner(keys.log(ROOM))
    is_old = b"redis_version:6" in owner.info("server")
    async with listening(cluster.url) as listener:
        await listener.receives_more()
        found = await asyncio.to_thread(owner.call, "PUBSUB", "CHANNELS" if is_old else "SHARDCHANNELS")
        assert keys.log(ROOM).encode() in cast("list[bytes]", found)


async def test_a_subscription_that_is_cut_while_rooms_come_and_go_is_replaced() -> None:
    with redis_process() as process:
        async with listening(process.url) as listener:
            for number in range(300):
                listener.wakeups.subscribe(f"room-{number}")
                await listener.writer.redis.client_kill_filter(_type="pubsub")
                listener.wakeups.unsubscribe(f"room-{number - 1}")
            await listener.receives_more()


@pytest.mark.long
async def test_rooms_that_come_and_go_do_not_end_a_subscription() -> None:
    with redis_process() as process:
        redis, listening = make_client(process.url), make_client(process.url, timeout_seconds=None)
        subscriptions = Wakeups(listening, lambda _room, _tail: None)
        listener = asyncio.create_task(subscriptions.run())

        async def ages() -> dict[str, int]:
            """Return the age of each subscription in seconds, by Redis' own count."""
            return {each["id"]: int(each["age"]) for each in await redis.client_list(_type="pubsub")}

        async with asyncio.timeout(PATIENCE_SECONDS):
            while not (first := await ages()):
                continue
            while (
                max((await ages()).values(), default=0) <= SILENCE_SECONDS + 1 and (await ages()).keys() == first.keys()
            ):
                subscriptions.unsubscribe("a-room-without-a-subscriber")
            assert (await ages()).keys() == first.keys()
        listener.cancel()
        await asyncio.gather(listener, return_exceptions=True)
        await redis.aclose()
        await listening.aclose()
