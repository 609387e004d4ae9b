"""A client that sends more than its budget, in frames of any kind, is paused, and then cut off and counted."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from prometheus_client import REGISTRY
from websockets.frames import Opcode

from fairest_protocol.messages.codec import encode
from fairest_protocol.messages.from_client import Hello, Leave
from fairest_protocol.messages.refusals import CloseCode
from tests.support.limited import Limited
from tests.support.raw_websocket import UPGRADE, RawClient, frame, raw_connection, raw_websocket
from tests.support.waiting import PATIENCE_SECONDS, until
from tests.support.wire_client import open_client

HELLO = frame(Opcode.TEXT, encode(Hello()))
FLOODS = {
    "ping": frame(Opcode.PING, b"x" * 100) * 100,
    "pong": frame(Opcode.PONG) * 500,
    "continuation": frame(Opcode.CONT, fin=False) * 500,
}
KINDS = (*FLOODS, "text")
BEGINS = {"continuation": frame(Opcode.TEXT, fin=False)}


@pytest.fixture
async def url(limited: Limited) -> AsyncIterator[str]:
    """A server that does not bear a flood for long."""
    async with limited(messages_per_second=50, messages_burst=100, flood_seconds=0.3, hello_seconds=30) as url:
        yield url


def counted(metric: str, kind: str) -> float:
    return REGISTRY.get_sample_value(f"fairest_{metric}_total", {"kind": kind}) or 0


async def flood(client: RawClient, kind: str) -> None:
    client.writer.write(BEGINS.get(kind, b""))
    async with asyncio.timeout(30):
        await client.flood(FLOODS[kind])


@pytest.mark.parametrize("kind", ["ping", "pong", "continuation"])
async def test_a_flood_before_hello_is_cut_off_with_too_fast(url: str, kind: str) -> None:
    async with raw_websocket(url) as client:
        await flood(client, kind)
        assert client.close_code == CloseCode.TOO_FAST


@pytest.mark.parametrize("kind", ["ping", "pong", "continuation"])
async def test_a_flood_after_hello_is_cut_off_with_too_fast(url: str, kind: str) -> None:
    async with raw_websocket(url) as client:
        client.writer.write(HELLO)
        await client.receive()
        await flood(client, kind)
        assert client.close_code == CloseCode.TOO_FAST


@pytest.mark.parametrize("kind", ["ping", "pong", "continuation"])
async def test_a_flood_is_counted_under_the_kind_of_its_frames(url: str, kind: str) -> None:
    before = counted("floods", kind)
    async with raw_websocket(url) as client:
        await flood(client, kind)
    assert counted("floods", kind) == before + 1


@pytest.mark.parametrize("kind", FLOODS)
async def test_a_client_that_exceeds_its_budget_is_paused(url: str, kind: str) -> None:
    before = counted("paused", kind)
    async with raw_websocket(url) as client:
        await flood(client, kind)
    assert counted("paused", kind) > before


async def test_a_flood_of_messages_is_counted_as_text(url: str) -> None:
    before = counted("floods", "text")
    async with raw_websocket(url) as client:
        client.writer.write(HELLO)
        async with asyncio.timeout(30):
            await client.flood(frame(Opcode.TEXT, encode(Leave())) * 100)
        assert client.close_code == CloseCode.TOO_FAST
    assert counted("floods", "text") == before + 1


async def test_another_client_is_answered_beside_a_flood(url: str) -> None:
    async with raw_websocket(url) as client:
        flooding = asyncio.create_task(flood(client, "pong"))
        async with open_client(url) as other:
            for _ in range(50):
                async with asyncio.timeout(PATIENCE_SECONDS):
                    await (await other.socket.ping())
        await flooding


async def test_of_many_pings_that_arrive_together_only_the_newest_is_answered(url: str) -> None:
    async with raw_websocket(url) as client:
        client.writer.write(b"".join(frame(Opcode.PING, bytes([number])) for number in range(30)))
        assert await client.receive() == (Opcode.PONG, bytes([29]))


async def test_a_client_that_reads_no_pongs_makes_the_server_keep_few(url: str) -> None:
    """A flood of pings whose answers lie unread ends for the flood, not for what is unsent."""
    before = REGISTRY.get_sample_value("fairest_cut_off_total", {"reason": "unread"})
    async with raw_websocket(url) as client:
        client.writer.transport.pause_reading()  # type: ignore[attr-defined]
        flooding = asyncio.create_task(client.flood(FLOODS["ping"]))
        floods = counted("floods", "ping")

        async def is_counted() -> bool:
            return counted("floods", "ping") > floods

        await until(is_counted, "the flood is counted")
        flooding.cancel()
        await asyncio.gather(flooding, return_exceptions=True)
    assert REGISTRY.get_sample_value("fairest_cut_off_total", {"reason": "unread"}) == before


async def test_a_client_within_its_budget_is_never_paused(url: str) -> None:
    before = {kind: counted("paused", kind) for kind in KINDS}
    async with raw_websocket(url) as client:
        client.writer.write(frame(Opcode.PING) * 50 + frame(Opcode.PONG) * 50 + frame(Opcode.PING, b"last"))
        while await client.receive() != (Opcode.PONG, b"last"):
            continue
    assert {kind: counted("paused", kind) for kind in KINDS} == before


async def test_bytes_behind_a_close_frame_are_not_parsed(url: str) -> None:
    async with raw_websocket(url) as client:
        client.writer.write(frame(Opcode.CLOSE))
        async with asyncio.timeout(30):
            await client.flood(frame(Opcode.CLOSE) * 100)
        assert [opcode for opcode, _ in client.frames] == [Opcode.CLOSE]


async def test_frames_that_arrive_with_the_end_of_the_stream_are_handled(url: str) -> None:
    async with raw_websocket(url) as client:
        client.writer.write(frame(Opcode.PING, b"last") + frame(Opcode.CLOSE, b"\x03\xe8"))
        client.writer.write_eof()
        await client.receive_all()
        assert client.frames == [(Opcode.PONG, b"last"), (Opcode.CLOSE, b"\x03\xe8")]


async def test_frames_behind_the_request_in_the_same_packet_are_handled(url: str) -> None:
    async with raw_connection(url) as client:
        client.writer.write(UPGRADE + frame(Opcode.PING, b"early"))
        assert (await client.reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 101 ")
        assert await client.receive() == (Opcode.PONG, b"early")


async def test_a_request_that_arrives_byte_by_byte_is_answered(url: str) -> None:
    async with raw_connection(url) as client:
        for byte in UPGRADE:
            client.writer.write(bytes([byte]))
            await asyncio.sleep(0)
        assert (await client.reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 101 ")


async def test_a_request_with_a_head_without_end_is_refused(url: str) -> None:
    async with raw_connection(url) as client:
        client.writer.write(b"GET / HTTP/1.1\r\nX: " + b"x" * 17_000)
        assert b" 431 " in await client.reader.readline()
