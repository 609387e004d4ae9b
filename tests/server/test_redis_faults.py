"""A Redis killed, frozen, replaced, full or emptied: acknowledged moves stay, and races go on by themselves."""

import asyncio
import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from websockets.exceptions import WebSocketException

from fairest_cli.text.narration import describe_changes
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_client import Create, Join, Play
from fairest_protocol.messages.from_server import Refused, Snapshot
from fairest_protocol.messages.refusals import Refusal
from fairest_server.app import running
from fairest_server.room.events import Detached, Paused
from fairest_server.room.steps import LogEntry
from fairest_server.settings import Settings
from fairest_server.store import keys
from fairest_server.store.log import Log
from fairest_server.store.redis.clients import make_client
from tests.support.bots import Bot, Match, start_match
from tests.support.faulty_link import FaultyLink, faulty_link, let_fault_last
from tests.support.history import check_history
from tests.support.processes import RedisProcess, redis_process
from tests.support.waiting import until
from tests.support.wire_client import QUICK, open_client, racing_players

ALWAYS = ("--appendonly", "yes", "--appendfsync", "always")
PACE_SECONDS = 0.03


@asynccontextmanager
async def three_servers(redis_url: str) -> AsyncIterator[tuple[str, str, str]]:
    """Three servers on one Redis: one for each player, one for the spectator."""
    settings = Settings(port=0, redis_url=redis_url)
    async with running(settings) as one, running(settings) as two, running(settings) as three:
        yield one, two, three


@asynccontextmanager
async def match_on_three_servers(redis_url: str) -> AsyncIterator[Match]:
    """A match that has begun, of which each bot is connected to a server of its own."""
    async with three_servers(redis_url) as urls:
        yield await start_match(urls, QUICK, pace_seconds=PACE_SECONDS)


async def read_log(redis_url: str, room: str) -> list[LogEntry]:
    redis = make_client(redis_url)
    entries = await Log(redis).read(room)
    await redis.aclose()
    return entries


async def problems(redis_url: str, match: Match) -> list[str]:
    """Wait for the end of a match; return the problems in its history."""
    await match.end()
    return check_history(match.room, await read_log(redis_url, match.room), match.transcripts)


@pytest.mark.long
async def test_a_redis_killed_under_always_loses_nothing_acknowledged() -> None:
    with redis_process(*ALWAYS) as redis:
        async with match_on_three_servers(redis.url) as match:
            for count in (5, 15, 25):
                await match.moved(count)
                redis.kill()
                redis.start()
            assert await problems(redis.url, match) == []


@pytest.mark.long
async def test_a_redis_frozen_for_three_seconds_loses_nothing_and_stops_the_clocks() -> None:
    with redis_process(*ALWAYS) as redis:
        async with match_on_three_servers(redis.url) as match:
            await match.moved(10)
            redis.freeze()
            await let_fault_last(3.1)
            redis.thaw()
            assert await problems(redis.url, match) == []
            assert any(isinstance(entry.event, Paused) for entry in await read_log(redis.url, match.room))


@pytest.mark.long
async def test_players_are_not_taken_for_lapsed_after_a_silence_of_redis() -> None:
    """Their processes live, and none of them could send a heartbeat."""
    with redis_process(*ALWAYS) as redis:
        async with match_on_three_servers(redis.url) as match:
            for count in (5, 10, 15):
                await match.moved(count)
                redis.freeze()
                await let_fault_last(3.5)
                redis.thaw()
            assert await problems(redis.url, match) == []
            events = [entry.event for entry in await read_log(redis.url, match.room)]
            assert not any(isinstance(event, Detached) and event.lapsed for event in events)


async def test_a_room_takes_no_pause_that_was_recorded_before_the_clock_was_set_back() -> None:
    with redis_process() as redis:
        async with three_servers(redis.url) as urls:
            now_ms = int(time.time() * 1000)
            redis.call("RPUSH", keys.PAUSES, f"{now_ms - 1_000}-{now_ms + 60_000}")
            redis.call("SET", keys.LAST_HEARTBEAT, now_ms + 60_000)

            async def is_set_back() -> bool:
                found = await asyncio.to_thread(redis.call, "GET", keys.LAST_HEARTBEAT)
                return isinstance(found, bytes) and int(found) < now_ms + 30_000

            await until(is_set_back, "a heartbeat has found that the clock was set back")
            async with racing_players(urls[0], urls[1]) as (first, _):
                await first.play("sa")
                events = [entry.event for entry in await read_log(redis.url, first.room)]
            assert not any(isinstance(event, Paused) for event in events)


@asynccontextmanager
async def replicated() -> AsyncIterator[tuple[RedisProcess, RedisProcess, FaultyLink, FaultyLink]]:
    """A Redis and its replica in step, the link between them, and the link through which servers reach the first."""
    with redis_process() as first, redis_process() as second:
        async with faulty_link(first.socket) as replication, faulty_link(first.socket) as service:
            second.call("REPLICAOF", "127.0.0.1", replication.port)

            async def is_in_step() -> None:
                assert b"master_link_status:up" in await asyncio.to_thread(second.info, "replication")

            await until(is_in_step, "the replica is in step with its master")
            yield first, second, replication, service


def printed_for(each: Bot) -> str:
    """Return the text that the plain client prints for all updates of this bot."""
    before = each.updates[0].model
    lines: list[str] = []
    for update in each.updates:
        lines.extend(describe_changes(before, update))
        before = update.model
    return "\n".join(lines)


@pytest.mark.long
async def test_after_a_failover_with_a_lost_tail_all_clients_go_on_from_one_log_and_say_so() -> None:
    async with replicated() as (first, second, replication, service), match_on_three_servers(service.url) as match:
        await match.moved(8)
        replication.stall()
        await match.moved(16)
        first.kill()
        second.call("REPLICAOF", "NO", "ONE")
        service.redirect(second.socket)
        await match.end()
        final = match.transcripts
        for transcript in final:
            begins = max(place for place, message in enumerate(transcript.received) if isinstance(message, Snapshot))
            transcript.received = transcript.received[begins:]
        assert check_history(match.room, await read_log(second.url, match.room), final) == []
        for each in (*match.players, *match.spectators):
            assert "The server has lost its newest memory" in printed_for(each)


async def are_in_step(first: RedisProcess, second: RedisProcess) -> bool:
    """Return whether the replica has everything that was written to its master."""
    offsets = [
        re.search(rb"master_repl_offset:(\d+)", await asyncio.to_thread(each.info, "replication"))
        for each in (first, second)
    ]
    return None not in offsets and len({found[1] for found in offsets if found}) == 1


@pytest.mark.long
async def test_a_redis_that_became_a_replica_is_left_for_the_one_that_took_its_place() -> None:
    async with replicated() as (first, second, _, service), match_on_three_servers(service.url) as match:
        await match.moved(8)
        first.call("CLIENT", "PAUSE", 2000, "WRITE")
        await until(lambda: are_in_step(first, second), "the replica has all that its master was sent")
        second.call("REPLICAOF", "NO", "ONE")
        async with faulty_link(second.socket) as back:
            service.target = second.socket
            first.call("REPLICAOF", "127.0.0.1", back.port)
            first.call("CLIENT", "UNPAUSE")
            assert await problems(second.url, match) == []


async def test_a_full_redis_refuses_moves_until_there_is_room_again() -> None:
    with redis_process() as redis:
        async with three_servers(redis.url) as urls, racing_players(urls[0], urls[1]) as (first, _):
            await first.play("sa")
            redis.call("CONFIG", "SET", "maxmemory", 1)
            refused = await first.expect_refusal(Play(number=2, move=MOVES["sb"]))
            assert refused.code is Refusal.TRY_AGAIN
            redis.call("CONFIG", "SET", "maxmemory", 0)
            while isinstance(await first.expect_refusal_or_view(Play(number=2, move=MOVES["sb"])), Refused):
                continue
            assert first.scene is not None
            assert first.scene.seats[0].moves == 2


@pytest.mark.long
async def test_a_race_goes_through_a_redis_that_was_full_for_seconds() -> None:
    with redis_process() as redis:
        async with match_on_three_servers(redis.url) as match:
            await match.moved(10)
            redis.call("CONFIG", "SET", "maxmemory", 1)
            await let_fault_last(3.5)
            redis.call("CONFIG", "SET", "maxmemory", 0)
            assert await problems(redis.url, match) == []


async def test_scripts_that_redis_forgot_are_loaded_again() -> None:
    with redis_process() as redis:
        async with match_on_three_servers(redis.url) as match:
            for count in (5, 10, 15):
                await match.moved(count)
                redis.call("SCRIPT", "FLUSH")
            assert await problems(redis.url, match) == []


async def test_a_redis_that_lost_everything_gets_the_key_back_and_serves_new_rooms() -> None:
    with redis_process() as redis:
        async with three_servers(redis.url) as urls:
            async with open_client(urls[0]) as before:
                pass
            redis.call("FLUSHALL")

            async def is_kept() -> None:
                assert await asyncio.to_thread(redis.call, "EXISTS", "fairest:key") == 1

            await until(is_kept, "the signing key is stored again")
            async with three_servers(redis.url) as (url, _, _), open_client(url) as after:
                assert after.key == before.key


async def test_joining_a_room_that_redis_lost_is_refused() -> None:
    with redis_process() as redis:
        async with three_servers(redis.url) as urls, open_client(urls[0]) as first, open_client(urls[1]) as second:
            room = (await first.enter(Create(options=QUICK))).room
            redis.call("FLUSHALL")
            refused = await second.expect_refusal(Join(room=room))
            assert refused.code is Refusal.NO_SUCH_ROOM


@pytest.mark.parametrize("level", ["players", "both"])
@pytest.mark.long
async def test_a_redis_restarted_from_its_file_goes_on_where_it_was(level: str) -> None:
    """SHUTDOWN and a new start, as in an upgrade of Redis, before a race and in the middle of it."""
    with redis_process(*ALWAYS) as redis:
        async with match_on_three_servers(redis.url) as match:
            await match.moved(0 if level == "players" else 10)
            redis.end()
            redis.start()
            assert await problems(redis.url, match) == []
            assert all(each.connection.model.phase is Phase.FINISHED for each in match.players)


async def test_a_process_that_started_after_redis_lost_everything_decides_on_the_key() -> None:
    with redis_process() as redis:
        async with faulty_link(redis.socket) as link, running(Settings(port=0, redis_url=link.url)) as old_url:
            link.is_closed = True
            link.reset()
            redis.kill()
            redis.start()
            async with running(Settings(port=0, redis_url=redis.url)) as new_url:
                link.is_closed = False

                async def have_the_same_key() -> bool:
                    try:
                        async with open_client(old_url) as old, open_client(new_url) as new:
                            return old.key == new.key
                    except (OSError, WebSocketException):
                        return False

                await until(have_the_same_key, "both processes sign with the same key")
