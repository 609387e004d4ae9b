"""Pages of a Fairest server over plain HTTP, as bytes and as messages; what went wrong is a sentence."""

import time
from http import HTTPStatus
from typing import Final, TypeVar

from pydantic import ValidationError

from fairest_cli.session.failures import advise_without_server, describe_stranger, own_sentence
from fairest_cli.session.http_pages import PageUnavailable, fetch_page
from fairest_protocol.messages.fields import Message

M = TypeVar("M", bound=Message)
BUSY_SECONDS: Final = 2.0
"""The wait before a page is asked for again that was refused because this address had read many."""


class PageUnreadable(Exception):
    """A page of a server could not be read; the text is a sentence that says why. `status` is that of HTTP, if any."""

    def __init__(self, sentence: str, status: int | None = None) -> None:
        super().__init__(sentence)
        self.status = status


def read_page(server_url: str, path: str) -> bytes:
    """Return the body of a page. Raises `PageUnreadable`. Blocks on the network."""
    try:
        status, body = fetch_page(server_url, path)
    except PageUnavailable as reason:
        advice = advise_without_server(server_url)
        raise PageUnreadable(f"No server answers at {server_url}: {reason}. {advice}") from reason
    if status != HTTPStatus.OK:
        raise PageUnreadable(own_sentence(body) or describe_stranger(server_url, status), status)
    return body


def read_message(server_url: str, path: str, kind: type[M], patience_seconds: float = 0.0) -> M:
    """Return the message that is a page. Raises `PageUnreadable`. Blocks on the network.

    While the server says that this address has read many pages, the page is asked for again, for `patience_seconds`.
    """
    end = time.monotonic() + patience_seconds
    while True:
        try:
            body = read_page(server_url, path)
            break
        except PageUnreadable as reason:
            if reason.status != HTTPStatus.TOO_MANY_REQUESTS or time.monotonic() + BUSY_SECONDS > end:
                raise
        time.sleep(BUSY_SECONDS)
    try:
        return kind.model_validate_json(body)
    except ValidationError as reason:
        raise PageUnreadable(describe_stranger(server_url, HTTPStatus.OK), HTTPStatus.OK) from reason
