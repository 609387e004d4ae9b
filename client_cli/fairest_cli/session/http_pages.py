"""Pages that a server answers over plain HTTP: to look takes no connection of players and makes nobody one."""

import http.client
import ssl
from typing import Final
from urllib.parse import urlsplit

WAIT_SECONDS: Final = 5.0
MOST_BYTES: Final = 1024 * 1024
"""Of an answer; a page of the lobby has some thousands."""


class PageUnavailable(Exception):
    """Nothing that speaks HTTP answered; the text says why."""


def fetch_page(server_url: str, path: str) -> tuple[int, bytes]:
    """The status and the text of a page of this server's. Raises `PageUnavailable`; waits for the network."""
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
        return answer.status, answer.read(MOST_BYTES)
    except (OSError, http.client.HTTPException) as reason:
        raise PageUnavailable(str(reason)) from reason
    finally:
        connection.close()
