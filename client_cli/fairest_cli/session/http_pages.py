"""Pages that a server answers over plain HTTP. Reading one opens no WebSocket and creates no player."""

import http.client
import socket
import ssl
import threading
from contextlib import suppress
from typing import Final
from urllib.parse import urlsplit

from fairest_cli.session.failures import explain_failure

WAIT_SECONDS: Final = 5.0
PAGE_SECONDS: Final = 30.0
MAX_BYTES: Final = 1024 * 1024
"""The longest answer that is read. A page of the lobby has a few thousand bytes, one of the chain of rounds 100,000."""


class PageUnavailable(Exception):
    """No HTTP server answered; the text says why."""


def fetch_page(server_url: str, path: str, within_seconds: float = PAGE_SECONDS) -> tuple[int, bytes]:
    """Return the HTTP status and the body of a page of the server. Blocks on the network, for at most `within_seconds`.

    Raises `PageUnavailable`, also for an answer of more than `MAX_BYTES`.
    """
    address = urlsplit(server_url)
    host, port = address.hostname or "", address.port
    connection = (
        http.client.HTTPSConnection(host, port, timeout=WAIT_SECONDS, context=ssl.create_default_context())
        if address.scheme == "wss"
        else http.client.HTTPConnection(host, port, timeout=WAIT_SECONDS)
    )
    try:
        connection.connect()
    except OSError as reason:
        raise PageUnavailable(explain_failure(reason, server_url)) from reason
    # The time limit of a socket is for each byte; this one ends a server that sends its answer byte by byte.
    is_late = threading.Event()
    timer = threading.Timer(within_seconds, _cut, [connection.sock, is_late])
    timer.daemon = True
    timer.start()
    try:
        connection.request("GET", f"{address.path.rstrip('/')}{path}")
        answer = connection.getresponse()
        body = answer.read(MAX_BYTES + 1)
    except (OSError, ValueError, http.client.HTTPException) as reason:
        if not is_late.is_set():
            raise PageUnavailable(explain_failure(reason, server_url)) from reason
    finally:
        timer.cancel()
        connection.close()
    if is_late.is_set():
        # An answer without a length ends where the socket does.
        raise PageUnavailable(f"the answer took more than {within_seconds:g} seconds")
    if len(body) > MAX_BYTES:
        raise PageUnavailable("the answer is longer than a page can be")
    return answer.status, body


def _cut(sock: socket.socket, is_late: threading.Event) -> None:
    """End a socket under the thread that reads from it, and say so."""
    is_late.set()
    with suppress(OSError):
        sock.shutdown(socket.SHUT_RDWR)
