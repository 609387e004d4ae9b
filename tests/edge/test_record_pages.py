"""Records over HTTP: the lines as their file has them, and what reading them may cost the server."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest
from prometheus_client import REGISTRY
from redis.asyncio import Redis

from fairest_protocol.messages.from_client import GetRecord
from fairest_protocol.messages.from_server import MatchRecord
from fairest_server.app import running
from fairest_server.archive.places import open_place
from fairest_server.archive.record_archive import RecordArchive
from fairest_server.edge import outbox
from fairest_server.settings import Settings
from fairest_server.store import keys
from tests.support.limited import Limited
from tests.support.processes import redis_process
from tests.support.raw_http import ask
from tests.support.records import file_of, make_record, store_records
from tests.support.waiting import PATIENCE_SECONDS, until
from tests.support.wire_client import open_client

NO_MATCH = "0" * 32
FRIEND = "https://friend.example"


async def test_a_record_is_answered_as_its_file(limited: Limited, redis: Redis) -> None:
    [record] = await store_records(redis, 1)
    async with limited() as url:
        answer = await ask(url, f"/records/{record.match_id}")
    assert (answer.status, answer.body) == (200, file_of(record))
    assert answer.headers["Content-Type"] == "application/x-ndjson"


async def test_a_record_is_answered_with_the_lines_of_get_record(limited: Limited, redis: Redis) -> None:
    [record] = await store_records(redis, 1)
    async with limited() as url, open_client(url) as client:
        await client.send(GetRecord(match=record.match_id))
        lines = (await client.receive_a(MatchRecord)).lines
        assert (await ask(url, f"/records/{record.match_id}")).body == "".join(f"{line}\n" for line in lines).encode()


async def test_a_record_in_the_archive_is_answered_as_its_file(limited: Limited, tmp_path: Path) -> None:
    record = make_record(1)
    RecordArchive(open_place(str(tmp_path))).keep(record.match_id, file_of(record))
    async with limited(archive=str(tmp_path)) as url:
        assert (await ask(url, f"/records/{record.match_id}")).body == file_of(record)


async def test_a_match_without_a_record_is_not_found(limited: Limited) -> None:
    async with limited() as url:
        assert (await ask(url, f"/records/{NO_MATCH}")).status == 404


@pytest.mark.parametrize("name", ["", "1", "0" * 33, "A" * 32, "g" * 32, "%30" + "0" * 31, "../" + "0" * 29, "\u0661"])
async def test_a_name_that_is_no_match_is_a_bad_request(limited: Limited, name: str) -> None:
    async with limited() as url:
        path = f"/records/{name}".encode("ascii", errors="backslashreplace").decode()
        assert (await ask(url, path)).status in ((400,) if "/" not in name else (426,))


@pytest.mark.parametrize("path", [f"/records/{NO_MATCH}", "/lobby"])
async def test_a_page_that_waits_for_a_silent_redis_is_unavailable(monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    monkeypatch.setattr("fairest_server.edge.http_pages.PAGE_SECONDS", 0.2)
    with redis_process() as redis:
        async with running(Settings(port=0, redis_url=redis.url, origins=FRIEND)) as url:
            redis.freeze()
            answer = await ask(url, path, f"Origin: {FRIEND}")
            redis.thaw()
    assert (answer.status, answer.allowed_origin) == (503, FRIEND)


async def test_records_of_a_redis_that_refuses_are_unavailable(limited: Limited, redis: Redis) -> None:
    async with limited() as url:
        await redis.hset(keys.record(NO_MATCH), "not", "a text")
        answer = await ask(url, f"/records/{NO_MATCH}")
    assert (answer.status, answer.body) == (503, b"The server cannot answer right now; try again.\n")


async def test_records_of_an_archive_that_is_away_are_unavailable(limited: Limited, tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    folder.mkdir()
    async with limited(archive=str(folder)) as url:
        folder.rmdir()
        folder.write_text("not a folder any more")
        assert (await ask(url, f"/records/{NO_MATCH}")).status == 503


async def test_an_address_that_has_read_many_records_has_to_wait(limited: Limited) -> None:
    async with limited(messages_burst=30, messages_per_second=0.01) as url:
        answers = [await ask(url, f"/records/{NO_MATCH}") for _ in range(4)]
    assert [answer.status for answer in answers] == [404, 404, 404, 429]


async def test_a_site_reads_when_it_may_ask_again(limited: Limited) -> None:
    async with limited(messages_burst=1, messages_per_second=0.01, origins=FRIEND) as url:
        await ask(url, f"/records/{NO_MATCH}")
        answer = await ask(url, f"/records/{NO_MATCH}", f"Origin: {FRIEND}")
    assert (answer.status, answer.allowed_origin) == (429, FRIEND)
    # Ten tokens for the first request, one of which it had: nine, at one in a hundred seconds.
    assert 890 <= int(answer.headers["Retry-After"]) <= 901


async def test_a_long_record_costs_its_reader_more(limited: Limited, redis: Redis) -> None:
    async with limited(messages_burst=30, messages_per_second=0.01) as url:
        await redis.set(keys.record(NO_MATCH), b"\n".join([b"{}"] * 2_000))
        answers = [await ask(url, f"/records/{NO_MATCH}") for _ in range(2)]
    assert [answer.status for answer in answers] == [200, 429]


async def test_requests_at_the_same_time_are_counted_before_redis_is_asked(limited: Limited, redis: Redis) -> None:
    async with limited(messages_burst=30, messages_per_second=0.01) as url, redis.monitor() as monitor:
        answers = await asyncio.gather(*(ask(url, f"/records/{NO_MATCH}") for _ in range(10)))
        await redis.echo("the end")
        asked, command = 0, ""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while "the end" not in command:
                command = (await monitor.next_command())["command"]
                asked += NO_MATCH in command
    assert sorted(answer.status for answer in answers) == [404] * 3 + [429] * 7
    assert asked == 3


async def test_clients_behind_a_proxy_have_limits_of_their_own(limited: Limited) -> None:
    async with limited(messages_burst=1, messages_per_second=0.01, trusted_proxies="127.0.0.1") as url:
        read = partial(ask, url, f"/records/{NO_MATCH}")
        answers = [await read(f"X-Forwarded-For: 203.0.113.{place}") for place in (1, 2, 1)]
    assert [answer.status for answer in answers] == [404, 404, 429]


async def test_other_pages_are_read_by_an_address_that_has_read_many_records(limited: Limited) -> None:
    async with limited(messages_burst=1, messages_per_second=0.01) as url:
        await ask(url, f"/records/{NO_MATCH}")
        assert (await ask(url, "/lobby")).status == 200


async def test_a_record_that_is_refused_counts_as_turned_away(limited: Limited) -> None:
    def turned_away() -> float:
        return REGISTRY.get_sample_value("fairest_turned_away_total", {"reason": "records"}) or 0

    before = turned_away()
    async with limited(messages_burst=1, messages_per_second=0.01) as url:
        for _ in range(2):
            await ask(url, f"/records/{NO_MATCH}")
    assert turned_away() == before + 1


LONG = b"x" * 16_777_216
"""More than the system takes from a server whose client does not read."""


@asynccontextmanager
async def reading_nothing(url: str) -> AsyncIterator[asyncio.StreamReader]:
    """Request a long record, and read nothing of the answer as long as reading is paused."""
    with socket.socket() as waiting:
        waiting.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        waiting.setblocking(False)
        await asyncio.get_running_loop().sock_connect(waiting, ("127.0.0.1", int(url.rpartition(":")[2])))
        reader, writer = await asyncio.open_connection(sock=waiting)
        writer.write(f"GET /records/{NO_MATCH} HTTP/1.1\r\nHost: here\r\n\r\n".encode())
        await reader.readexactly(1)
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        yield reader
        writer.transport.abort()


async def test_a_long_record_that_is_not_read_is_cut_off(
    limited: Limited, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox, "MAX_CLOSING_SECONDS", 0.1)
    before = REGISTRY.get_sample_value("fairest_sockets") or 0

    async def is_gone() -> bool:
        return REGISTRY.get_sample_value("fairest_sockets") == before

    # The system would give up such a client by itself after two heartbeats.
    async with limited(heartbeat_seconds=3_600) as url:
        await redis.set(keys.record(NO_MATCH), LONG)
        async with reading_nothing(url):
            await until(is_gone, "its socket is closed")


async def test_a_slow_reader_gets_more_time_for_a_long_record(
    limited: Limited, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As much as a slow line takes; it has only that here, and so a short answer would be cut off at once."""
    monkeypatch.setattr(outbox, "CLOSING_SECONDS", 0.0)
    async with limited() as url:
        await redis.set(keys.record(NO_MATCH), LONG)
        async with reading_nothing(url) as reader, asyncio.timeout(PATIENCE_SECONDS):
            # The server runs in this loop too, so the time for a short answer is over after some turns of it.
            for _ in range(10):
                await asyncio.sleep(0)
            reader._transport.resume_reading()  # type: ignore[attr-defined]
            assert (await reader.read()).endswith(LONG + b"\n")


async def test_the_longest_record_is_answered_whole(limited: Limited, redis: Redis) -> None:
    async with limited() as url:
        await redis.set(keys.record(NO_MATCH), b"x" * 4_194_303)
        assert (await ask(url, f"/records/{NO_MATCH}")).body == b"x" * 4_194_303 + b"\n"
