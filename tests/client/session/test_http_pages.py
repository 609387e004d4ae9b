"""Pages over HTTP from servers that redirect, compress or never come to the answer."""

import gzip
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from fairest_cli.session.http_pages import MAX_BYTES, PageUnavailable, fetch_page

OK = b"HTTP/1.1 200 OK\r\n"


@contextmanager
def answering(head: bytes, again: bytes = b"") -> Iterator[tuple[str, list[bytes]]]:
    """Answer each request by `head`, and then `again` without end; yield the URL, and the requests as they come."""
    requests: list[bytes] = []
    clients: list[socket.socket] = []
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                clients.append(client)
                with client, suppress(OSError):
                    requests.append(client.recv(4096))
                    client.sendall(head)
                    while again:
                        client.sendall(again)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield f"ws://127.0.0.1:{listener.getsockname()[1]}", requests
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        for client in clients:
            # One that left while its window was full resets the connection a minute later only.
            with suppress(OSError):
                client.shutdown(socket.SHUT_RDWR)
        thread.join()


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirection_is_not_followed(status: int) -> None:
    with answering(OK + b"Content-Length: 2\r\n\r\n{}") as (other, others):
        head = f"HTTP/1.1 {status} Moved\r\nLocation: http{other[2:]}/rounds\r\nContent-Length: 0\r\n\r\n".encode()
        with answering(head) as (url, _):
            assert fetch_page(url, "/rounds") == (status, b"")
        assert others == []


def test_a_compressed_answer_is_not_unpacked() -> None:
    bomb = gzip.compress(bytes(50 * MAX_BYTES))
    head = OK + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(bomb)
    with answering(head + bomb) as (url, requests):
        assert fetch_page(url, "/rounds") == (200, bomb)
    assert b"Accept-Encoding: identity" in requests[0]


@pytest.mark.parametrize(
    ("head", "again"),
    [
        (OK + b"\r\n", bytes(65_536)),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n", b"8000\r\n" + bytes(0x8000) + b"\r\n"),
        (OK + b"Content-Length: 9999999999999\r\n\r\n", bytes(65_536)),
    ],
)
def test_an_answer_without_end_is_not_read_to_its_end(head: bytes, again: bytes) -> None:
    with answering(head, again) as (url, _), pytest.raises(PageUnavailable, match="longer than a page can be"):
        fetch_page(url, "/rounds")


@pytest.mark.parametrize(
    ("head", "again"),
    [
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        (OK, b"X-Header: more\r\n"),
        (OK, b"x" * 65_536),
        (b"", b"x" * 65_536),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n", b"1" * 65_536),
    ],
)
def test_a_head_without_end_is_refused_or_left(head: bytes, again: bytes) -> None:
    with answering(head, again) as (url, _), pytest.raises(PageUnavailable):
        fetch_page(url, "/rounds", within_seconds=0.5)
