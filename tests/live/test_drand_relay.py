"""A relay of drand that shows a drand round, lies, shows nothing, or is not there."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from fairest_server.live import drand_relay
from fairest_server.live.drand_relay import MAX_ANSWER_BYTES, DrandRelay, DrandUnavailable
from tests.support.drand import NETWORK, drand_answer, needs_pyblst, serving_relay, shown_rounds, sign_drand
from tests.support.ports import free_port

pytestmark = needs_pyblst


async def test_a_drand_round_is_fetched_with_its_signature() -> None:
    with serving_relay(shown_rounds(7)) as url:
        assert await DrandRelay(url, NETWORK).fetch(7) == sign_drand(7)


async def test_a_url_may_end_with_a_slash() -> None:
    with serving_relay(shown_rounds(7)) as url:
        assert await DrandRelay(f"{url}/", NETWORK).fetch(7) == sign_drand(7)


@pytest.mark.parametrize(
    "answer",
    [
        drand_answer(7, sign_drand(8)),
        drand_answer(7, bytes(48)),
        b'{"signature":"ab"}',
        b'{"signature":7}',
        b'{"signature":"no hex"}',
        b'{"round":7}',
        b"[]",
        b"not JSON",
        b"\xff",
        b"[" * (MAX_ANSWER_BYTES - 1),
        drand_answer(7, sign_drand(7)).ljust(MAX_ANSWER_BYTES + 1),
    ],
    ids=["another round", "unsigned", "short", "number", "text", "without", "list", "no JSON", "bytes", "deep", "long"],
)
async def test_an_answer_that_proves_nothing_is_refused(answer: bytes) -> None:
    with serving_relay({NETWORK.path(7): answer}) as url, pytest.raises(DrandUnavailable, match=url):
        await DrandRelay(url, NETWORK).fetch(7)


async def test_a_drand_round_that_is_not_there_yet_is_unavailable() -> None:
    with serving_relay({}) as url, pytest.raises(DrandUnavailable, match="404"):
        await DrandRelay(url, NETWORK).fetch(7)


async def test_a_relay_that_is_away_is_unavailable() -> None:
    with pytest.raises(DrandUnavailable, match="refused"):
        await DrandRelay(f"http://127.0.0.1:{free_port()}", NETWORK).fetch(7)


@contextmanager
def dripping(pause_seconds: float) -> Iterator[str]:
    """Serve a relay that sends its answer byte by byte, with a pause behind each; yield its URL."""
    has_ended = threading.Event()

    def serve(listening: socket.socket) -> None:
        with suppress(OSError):
            while True:
                client, _ = listening.accept()
                with client, suppress(OSError):
                    for byte in b"HTTP/1.1 200 OK\r\n\r\n" + b" " * 4_000:
                        client.sendall(bytes([byte]))
                        if has_ended.wait(pause_seconds):
                            return

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve, args=(listening,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            has_ended.set()
            with suppress(OSError):
                listening.shutdown(socket.SHUT_RDWR)
            thread.join()


async def test_a_relay_that_sends_byte_by_byte_is_given_up_and_not_asked_twice_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(drand_relay, "ANSWER_SECONDS", 0.2)
    with dripping(0.05) as url:
        relay = DrandRelay(url, NETWORK)
        with pytest.raises(DrandUnavailable, match="has not answered in"):
            await relay.fetch(7)
        with pytest.raises(DrandUnavailable, match="has not ended its last answer yet"):
            await relay.fetch(7)


async def test_a_relay_that_does_not_answer_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drand_relay, "ANSWER_SECONDS", 0.1)
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        pytest.raises(DrandUnavailable, match=r"timed out|has not answered"),
    ):
        await DrandRelay(f"http://127.0.0.1:{silent.getsockname()[1]}", NETWORK).fetch(7)
