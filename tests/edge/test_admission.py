"""Every limit, tried from outside by a real client, which is refused; nothing has changed."""

import asyncio
import ssl
from contextlib import AsyncExitStack, suppress
from pathlib import Path

import pytest
from prometheus_client import REGISTRY
from pydantic import ValidationError
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.typing import Origin

from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.messages.fields import Message
from fairest_protocol.messages.from_client import Create, GetRecord, Hello, Join, Leave, Play, Watch
from fairest_protocol.messages.from_server import Error, Left, Refused, Snapshot, Welcome
from fairest_protocol.messages.refusals import Breach, CloseCode, Refusal
from fairest_server.app import StartError
from fairest_server.settings import Settings
from tests.support.certificates import make_certificate
from tests.support.limited import Limited
from tests.support.waiting import PATIENCE_SECONDS, until
from tests.support.wire_client import open_client, open_raw_client, racing_players


async def status_of(url: str, **headers: str) -> int:
    """The HTTP status of the answer to an opening handshake; 101 is a connection."""
    try:
        async with connect(url, additional_headers=headers, proxy=None):
            return 101
    except InvalidStatus as reason:
        return reason.response.status_code


async def may_connect(url: str, origin: str) -> bool:
    """Whether a page of this origin is welcomed; else it is sent an `error`."""
    async with connect(url, origin=Origin(origin), proxy=None) as socket:
        with suppress(ConnectionClosed):
            await socket.send('{"type":"hello"}')
        return '"welcome"' in str(await socket.recv())


async def test_a_page_from_elsewhere_may_not_connect(limited: Limited) -> None:
    async with limited() as url:
        assert not await may_connect(url, "https://evil.example")


async def test_a_page_whose_address_only_looks_like_ours_may_not_connect(limited: Limited) -> None:
    async with limited() as url:
        host = url.removeprefix("ws://")
        for origin in (f"http://{host}.evil.example", f"http://evil.example/{host}", f"http://x@{host}", "null", ""):
            assert not await may_connect(url, origin)


async def test_a_malformed_origin_may_not_connect(limited: Limited) -> None:
    async with limited() as url:
        assert not await may_connect(url, "http://[")


async def test_our_own_pages_named_pages_and_programs_may_connect(limited: Limited) -> None:
    async with limited(origins="https://friend.example, https://other.example") as url:
        assert await may_connect(url, url.replace("ws", "http"))
        assert await may_connect(url, "https://friend.example")
        assert await status_of(url) == 101


async def test_a_full_server_says_so_and_has_room_again_when_a_client_goes(limited: Limited) -> None:
    async with limited(max_connections=2) as url:
        async with open_client(url), open_client(url):
            assert await status_of(url) == 503
        async with asyncio.timeout(PATIENCE_SECONDS):
            while await status_of(url) != 101:
                continue


async def test_one_address_may_not_have_all_connections(limited: Limited) -> None:
    async with limited(connections_per_address=2) as url, open_client(url), open_client(url):
        assert await status_of(url) == 429


async def test_a_forwarded_address_is_believed_from_a_trusted_proxy_only(limited: Limited) -> None:
    async with limited(connections_per_address=2) as url, open_client(url), open_client(url):
        assert await status_of(url, **{"X-Forwarded-For": "203.0.113.7"}) == 429
    async with limited(connections_per_address=1, trusted_proxies="127.0.0.0/8") as url, AsyncExitStack() as stack:
        for address in ("203.0.113.7", "203.0.113.8", "2001:db8:0:1::1", "6.6.6.6, 203.0.113.9"):
            headers = {"X-Forwarded-For": address}
            await stack.enter_async_context(connect(url, additional_headers=headers, proxy=None))
        assert await status_of(url, **{"X-Forwarded-For": "203.0.113.7"}) == 429
        assert await status_of(url, **{"X-Forwarded-For": "7.7.7.7, 203.0.113.9"}) == 429
        assert await status_of(url, **{"X-Forwarded-For": "203.0.113.9, ::ffff:127.0.0.1"}) == 429
        assert await status_of(url, **{"X-Forwarded-For": "2001:db8:0:1::2"}) == 429
        assert await status_of(url, **{"X-Forwarded-For": "6.6.6.6"}) == 101


async def test_an_address_that_makes_too_many_players_makes_no_more_but_those_it_has_may_come(limited: Limited) -> None:
    async with limited(players_per_address=2) as url:
        async with open_client(url) as first, open_client(url):
            pass
        async with open_raw_client(url) as third:
            refused = await third.expect_refusal(Hello())
            assert refused.code is Refusal.TOO_MANY_PLAYERS
            await third.send(Hello(token=first.token))
            await third.receive_a(Welcome)


async def test_when_all_forwarded_addresses_are_trusted_the_first_of_them_counts(limited: Limited) -> None:
    async with (
        limited(connections_per_address=1, trusted_proxies="127.0.0.0/8") as url,
        connect(url, additional_headers={"X-Forwarded-For": "127.0.0.7, 127.0.0.8"}, proxy=None),
    ):
        assert await status_of(url, **{"X-Forwarded-For": "127.0.0.7, 127.0.0.9"}) == 429
        assert await status_of(url, **{"X-Forwarded-For": "127.0.0.9, 127.0.0.8"}) == 101


async def test_a_trusted_proxy_that_forwards_no_address_counts_itself(limited: Limited) -> None:
    async with (
        limited(connections_per_address=1, trusted_proxies="127.0.0.1") as url,
        connect(url, additional_headers={"X-Forwarded-For": "127.0.0.1"}, proxy=None),
    ):
        assert await status_of(url) == 429


async def test_text_of_a_trusted_proxy_that_is_not_an_address_counts_as_one(limited: Limited) -> None:
    async with limited(connections_per_address=1, trusted_proxies="127.0.0.1") as url:
        headers = {"X-Forwarded-For": "unknown"}
        async with connect(url, additional_headers=headers, proxy=None):
            assert await status_of(url, **headers) == 429


async def test_an_address_of_ipv4_is_the_same_in_the_form_of_ipv6(limited: Limited) -> None:
    async with (
        limited(connections_per_address=1, trusted_proxies="127.0.0.1") as url,
        connect(url, additional_headers={"X-Forwarded-For": "203.0.113.7"}, proxy=None),
    ):
        assert await status_of(url, **{"X-Forwarded-For": "::ffff:203.0.113.7"}) == 429


async def test_an_address_is_the_same_whatever_port_a_proxy_writes_behind_it(limited: Limited) -> None:
    async with (
        limited(connections_per_address=1, trusted_proxies="127.0.0.1") as url,
        connect(url, additional_headers={"X-Forwarded-For": "203.0.113.7:4711"}, proxy=None),
    ):
        assert await status_of(url, **{"X-Forwarded-For": "203.0.113.7:4712"}) == 429


async def test_a_player_may_not_open_rooms_without_end(limited: Limited) -> None:
    async with limited(rooms_per_player=2) as url, open_client(url) as greedy, open_client(url) as other:
        for _ in range(2):
            await greedy.enter(Create())
            await greedy.send(Leave())
            await greedy.receive_a(Left)
        assert (await greedy.expect_refusal(Create())).code is Refusal.TOO_MANY_ROOMS
        await other.enter(Create())


async def test_a_client_that_sends_faster_than_is_read_is_slowed_down_and_loses_nothing(limited: Limited) -> None:
    async with limited(messages_per_second=100, messages_burst=10) as url, open_client(url) as hasty:
        loop = asyncio.get_running_loop()
        since = loop.time()
        for number in range(1, 61):
            await hasty.send(Play(number=number, move=MOVES["sa"]))
        for number in range(1, 61):
            assert (await hasty.receive_a(Refused)).number == number
        assert loop.time() - since >= 0.45


async def test_a_client_that_does_not_stop_flooding_is_cut_off_and_the_other_player_is_not_harmed(
    limited: Limited,
) -> None:
    async with (
        limited(messages_per_second=50, messages_burst=100, flood_seconds=0.3) as url,
        racing_players(url) as (first, second),
    ):

        async def flood() -> None:
            while True:
                await first.send(Play(number=9_999, move=MOVES["sa"]))
                # The server runs in this loop too.
                await asyncio.sleep(0)

        flooding = asyncio.create_task(flood())
        async with asyncio.timeout(20):
            while not isinstance(message := await first.receive(), Error):
                continue
        assert message.code is Breach.TOO_FAST
        await asyncio.gather(flooding, return_exceptions=True)
        await first.socket.wait_closed()
        assert first.socket.close_code == CloseCode.TOO_FAST
        await second.play("sa")
        async with open_client(url, token=first.token) as again:
            assert (await again.resume(first.room)).scene.seats[0].moves == 0


async def test_a_server_with_a_certificate_speaks_tls_only(limited: Limited, tmp_path: Path) -> None:
    cert, key = make_certificate(tmp_path)
    async with limited(tls_cert=cert, tls_key=key) as url:
        assert url.startswith("wss://")
        named = url.replace("127.0.0.1", "localhost")
        async with connect(named, ssl=ssl.create_default_context(cafile=cert), proxy=None) as socket:
            await socket.send('{"type":"hello"}')
            assert '"welcome"' in str(await socket.recv())
        with pytest.raises(ssl.SSLCertVerificationError):
            await connect(named, proxy=None)


async def test_a_client_that_connects_and_does_not_begin_tls_is_not_waited_for(
    limited: Limited, tmp_path: Path
) -> None:
    cert, key = make_certificate(tmp_path)
    async with limited(tls_cert=cert, tls_key=key, hello_seconds=0.3) as url, asyncio.timeout(PATIENCE_SECONDS):
        reader, writer = await asyncio.open_connection("127.0.0.1", int(url.rsplit(":", 1)[1]))
        assert await reader.read() == b""
        writer.close()


async def test_a_certificate_that_does_not_exist_is_named(limited: Limited, tmp_path: Path) -> None:
    with pytest.raises(StartError, match=r"cannot serve TLS with .*none\.pem"):
        async with limited(tls_cert=tmp_path / "none.pem", tls_key=tmp_path / "none.key"):
            pass


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"tls_cert": "cert.pem"}, "go together"),
        ({"origins": "example.org"}, "an origin looks like https://example.org, not 'example.org'"),
        ({"trusted_proxies": "10.0.0.0/99"}, "10.0.0.0/99"),
    ],
)
def test_settings_that_make_no_sense_are_refused_with_an_example(settings: dict[str, str], complaint: str) -> None:
    with pytest.raises(ValidationError, match=complaint):
        Settings.model_validate(settings)


async def test_a_room_that_a_player_leaves_and_enters_again_counts_once(limited: Limited) -> None:
    """To resume a room is not to open one."""
    async with limited(rooms_per_player=1) as url, open_client(url) as player:
        room = (await player.enter(Create())).room
        async with open_client(url, token=player.token) as again:
            assert isinstance(await again.resume(room), Snapshot)


def cut_off(reason: str) -> float:
    return REGISTRY.get_sample_value("fairest_cut_off_total", {"reason": reason}) or 0


async def until_cut_off(reason: str, count: float) -> None:
    """The server counts when the connection is gone, which its client may see earlier."""

    async def is_counted() -> bool:
        return cut_off(reason) == count

    await until(is_counted, "the connections that were cut off are counted")


async def test_frames_that_are_too_big_are_counted(limited: Limited) -> None:
    before = cut_off("too_big")
    async with limited(max_frame_bytes=1_000) as url, open_client(url) as player:
        await player.send("x" * 1_001)
        await player.socket.wait_closed()
        assert player.socket.close_code == CloseCode.TOO_BIG
        await until_cut_off("too_big", before + 1)


async def test_clients_that_do_not_answer_a_ping_are_counted(limited: Limited) -> None:
    before = cut_off("silent")
    async with limited(heartbeat_seconds=0.2) as url, open_client(url) as player:
        player.socket.transport.pause_reading()
        await until_cut_off("silent", before + 1)
        player.socket.transport.resume_reading()


@pytest.mark.parametrize("asked", [Watch(room="no-such-room"), Join(room="no-such-room"), GetRecord(), Leave()])
async def test_refusals_are_counted_wherever_they_are_decided(limited: Limited, asked: Message) -> None:
    def counted() -> dict[str, float]:
        samples = [sample for metric in REGISTRY.collect() for sample in metric.samples]
        return {each.labels["code"]: each.value for each in samples if each.name == "fairest_refusals_total"}

    async with limited() as url, open_client(url) as player:
        if isinstance(asked, GetRecord):
            await player.enter(Create())
        before = counted()
        code = (await player.expect_refusal(asked)).code
        assert counted()[code] == before.get(code, 0) + 1


async def test_a_message_for_which_the_server_reads_a_whole_log_counts_as_ten(limited: Limited) -> None:
    def throttled() -> float:
        return REGISTRY.get_sample_value("fairest_throttled_total") or 0

    before = throttled()

    async def is_slowed_down() -> bool:
        return throttled() == before + 1

    async with limited(messages_burst=25, messages_per_second=1) as url, open_client(url) as player:
        await player.enter(Create())
        for _ in range(3):
            assert throttled() == before
            await player.expect_refusal(GetRecord())
        await until(is_slowed_down, "the client is throttled")
