"""Pages that a server answers over plain HTTP. Reading one opens no WebSocket and creates no player."""

import http.client
import ssl
from typing import Final
from urllib.parse import urlsplit

WAIT_SECONDS: Final = 5.0
MAX_BYTES: Final = 1024 * 1024
"""The part of an answer that is read; a page of the lobby has a few thousand bytes."""


class PageUnavailable(Exception):
    """No HTTP server answered; the text says why."""


def fetch_page(server_url: str, path: str) -> tuple[int, bytes]:
    """Return the HTTP status and the body of a page of the server. Raises `PageUnavailable`. Blocks on the network."""
    address = urlsplit(server_url)
    host, port = address.hostname or "", address.port
    connection = (
        http.client.HTTPSConnection(host, port, timeout=WAIT_SECONDS, context=ssl.create_default_context())
        if address.scheme == "wss"
        else http.client.HTTPConnection(host, port, timeout=WAIT_SECONDS)
    )
    try:
        connection.request("GET", f"{address.path.rstrip('/')}{path}")
        answer = connection.getresponse()
        return answer.status, answer.read(MAX_BYTES)
    except (OSError, http.client.HTTPException) as reason:
        raise PageUnavailable(str(reason)) from reason
    finally:
        connection.close()
