"""Each caller gets its own replies, however many share the connection and whatever happens to the others."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any, cast

import pytest
from redis.asyncio import Redis
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError, ResponseError

from fairest_server.store.redis.batch_connection import RETRIES
from fairest_server.store.redis.batching_client import RAW_REPLY
from fairest_server.store.redis.clients import make_client
from fairest_server.store.redis.single_node_client import ENOUGH_IN_BATCH
from tests.store.test_log import opened_connections
from tests.support.faulty_link import faulty_link
from tests.support.processes import RedisProcess, redis_process
from tests.support.waiting import PATIENCE_SECONDS, until

MANY = 10 * ENOUGH_IN_BATCH


@pytest.fixture
def process() -> Iterator[RedisProcess]:
    with redis_process() as process:
        yield process


@pytest.fixture
async def single(process: RedisProcess) -> AsyncIterator[Redis]:
    async with make_client(process.url) as client:
        yield client


async def echo(client: Redis, text: object) -> str:
    """Return the reply to ECHO."""
    reply: Any = await client.echo(str(text))
    return bytes(reply).decode()


def reads(process: RedisProcess) -> int:
    """Return how often this Redis has read from a socket."""
    stats = dict(line.split(b":") for line in process.info("stats").splitlines() if b":" in line)
    return int(stats[b"total_reads_processed"])


async def test_each_of_many_simultaneous_callers_gets_its_own_reply(single: Redis) -> None:
    assert await asyncio.gather(*(echo(single, each) for each in range(MANY))) == [str(each) for each in range(MANY)]


async def test_simultaneous_callers_share_round_trips(single: Redis, process: RedisProcess) -> None:
    await single.ping()
    before = reads(process)
    await asyncio.gather(*(echo(single, each) for each in range(MANY)))
    # Some of the reads are those of INFO itself.
    assert reads(process) - before < MANY / 4


async def test_commands_run_in_the_order_of_the_calls(single: Redis) -> None:
    await asyncio.gather(*(single.rpush("asked", str(each)) for each in range(MANY)))
    assert await single.lrange("asked", 0, -1) == [str(each).encode() for each in range(MANY)]


async def test_replies_are_read_as_redis_py_reads_them(single: Redis) -> None:
    await single.xadd("stream", {"field": "value"}, id="1-0")
    assert await single.xrange("stream") == [(b"1-0", {b"field": b"value"})]


async def test_a_reply_that_is_wanted_raw_is_returned_as_redis_sends_it(single: Redis) -> None:
    await single.xadd("stream", {"field": "value"}, id="1-0")
    found = await cast("Any", single).execute_command("XRANGE", "stream", "-", "+", **RAW_REPLY)
    assert found == [[b"1-0", [b"field", b"value"]]]


async def test_a_name_of_two_words_is_a_command(single: Redis) -> None:
    assert await single.config_set("maxclients", 200)


async def test_an_error_is_raised_for_its_own_caller_only(single: Redis) -> None:
    await single.set("text", "no number")
    wrong, right = await asyncio.gather(single.incr("text"), echo(single, "right"), return_exceptions=True)
    assert isinstance(wrong, ResponseError)
    assert right == "right"


async def test_a_text_that_cannot_be_encoded_fails_for_its_own_caller_only(single: Redis) -> None:
    wrong, right = await asyncio.gather(echo(single, "\ud800"), echo(single, "right"), return_exceptions=True)
    assert isinstance(wrong, UnicodeEncodeError)
    assert right == "right"


async def test_a_pipeline_longer_than_a_batch_is_sent_as_one(single: Redis) -> None:
    pipeline = single.pipeline(transaction=False)
    for each in range(MANY):
        pipeline.echo(str(each))
    assert await pipeline.execute() == [str(each).encode() for each in range(MANY)]


@pytest.mark.parametrize("counts", [(15, 15, 1), (15, 15), (16, 1)])
async def test_pipelines_share_a_round_trip_until_it_has_enough(
    single: Redis, process: RedisProcess, counts: tuple[int, ...]
) -> None:
    await single.ping()
    before = reads(process)
    own = reads(process) - before
    pipelines = [single.pipeline(transaction=False) for _ in counts]
    for pipeline, count in zip(pipelines, counts, strict=True):
        for each in range(count):
            pipeline.echo(str(each))
    await asyncio.gather(*(pipeline.execute() for pipeline in pipelines))
    assert reads(process) - before == 2 * own + 2


async def test_a_pipeline_without_commands_has_no_replies_and_delays_no_other(single: Redis) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        assert await single.pipeline(transaction=False).execute() == []
        assert await echo(single, "next") == "next"


async def test_a_pipeline_raises_its_first_error(single: Redis) -> None:
    pipeline = single.pipeline(transaction=False)
    pipeline.echo("one")
    pipeline.execute_command("LPOP")
    with pytest.raises(ResponseError):
        await pipeline.execute()


async def test_a_pipeline_returns_its_errors_in_their_places_when_told_to(single: Redis) -> None:
    pipeline = single.pipeline(transaction=False)
    pipeline.execute_command("LPOP")
    pipeline.echo("two")
    wrong, right = await pipeline.execute(raise_on_error=False)
    assert isinstance(wrong, ResponseError)
    assert right == b"two"


async def test_the_replies_of_a_cancelled_caller_do_not_go_to_the_next_one(process: RedisProcess) -> None:
    async with faulty_link(process.socket) as link, make_client(link.url) as single:
        await single.ping()
        link.stall()
        asking = [asyncio.create_task(echo(single, each)) for each in range(MANY)]
        await asyncio.sleep(0)
        for task in asking[::2]:
            task.cancel()
        link.flow()
        results = await asyncio.gather(*asking, return_exceptions=True)
        assert results[1::2] == [str(each) for each in range(1, MANY, 2)]


async def test_a_client_whose_closing_is_cancelled_leaves_no_connection_and_no_caller(process: RedisProcess) -> None:
    async with faulty_link(process.socket) as link:
        single = make_client(link.url)
        await single.ping()
        link.stall()
        asking = asyncio.create_task(echo(single, "held back"))
        await asyncio.sleep(0)
        closing = asyncio.create_task(single.aclose())
        await asyncio.sleep(0)
        closing.cancel()
        _, failure = await asyncio.gather(closing, asking, return_exceptions=True)
        assert isinstance(failure, RedisConnectionError)
        link.flow()

        async def has_ended() -> bool:
            return not link.strands

        await until(has_ended, "the connection has ended")


async def test_a_redis_that_was_started_again_answers_the_next_caller(single: Redis, process: RedisProcess) -> None:
    await single.ping()
    process.kill()
    process.start()
    assert await echo(single, "here") == "here"


async def test_a_redis_that_does_not_answer_is_tried_once_for_all_waiting_callers(
    process: RedisProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If each batch were tried by itself, it would take ten times as many connections, and as long."""
    async with make_client(process.url, timeout_seconds=0.2) as single:
        await single.ping()
        opened = opened_connections(single, monkeypatch)
        process.freeze()
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                results = await asyncio.gather(*(echo(single, each) for each in range(MANY)), return_exceptions=True)
        finally:
            process.thaw()
        assert all(isinstance(each, RedisError) for each in results)
        assert len(opened) == RETRIES


async def test_commands_that_failed_with_the_batch_before_them_are_not_sent_later(process: RedisProcess) -> None:
    async with make_client(process.url) as single:
        await single.ping()
        process.kill()
        await asyncio.gather(*(single.incr("counted") for _ in range(MANY)), return_exceptions=True)
        process.start()
        assert await single.get("counted") is None


@pytest.mark.parametrize(("closes_pool", "stays"), [(None, False), (True, False), (False, True)])
async def test_a_client_that_is_closed_ends_the_connections_of_its_pool_unless_told_otherwise(
    process: RedisProcess, closes_pool: bool | None, stays: bool
) -> None:
    single = make_client(process.url)
    pool: Any = single.connection_pool
    connection = await pool.get_connection()
    await single.aclose(closes_pool)
    assert connection.is_connected is stays
    await pool.disconnect()


async def test_commands_sent_before_the_client_was_closed_are_answered(process: RedisProcess) -> None:
    single = make_client(process.url)
    asking = [asyncio.create_task(echo(single, each)) for each in range(MANY)]
    await asyncio.sleep(0)
    await single.aclose()
    assert await asyncio.gather(*asking) == [str(each) for each in range(MANY)]
