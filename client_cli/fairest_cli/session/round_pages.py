"""The chain of rounds of a server, fetched over HTTP and audited page by page, bounded against a hostile server."""

import time
from collections.abc import Callable
from http import HTTPStatus
from typing import Final, TypeVar

from pydantic import ValidationError

from fairest_cli.records.chain_audit import BrokenChain, ChainReader
from fairest_cli.records.heads import is_head_signed
from fairest_cli.session.failures import advise_without_server, own_sentence
from fairest_cli.session.http_pages import PageUnavailable, fetch_page
from fairest_protocol.messages.fields import Message
from fairest_protocol.messages.rounds import RoundsPage, RoundsSummary

MAX_ENTRIES: Final = 1_000_000
"""Entries that are read, the newest ones; reading as many takes ten minutes and 300 MiB."""
MAX_SECONDS: Final = 3_600.0

M = TypeVar("M", bound=Message)


class ChainUnavailable(Exception):
    """The chain could not be read; the text says why."""


def fetch_summary(server_url: str) -> RoundsSummary:
    """Return the head of the server's chain. Raises `ChainUnavailable`, and `BrokenChain` if it is not signed."""
    summary = _fetch(server_url, "/rounds", RoundsSummary)
    if not is_head_signed(summary.head, summary.key):
        raise BrokenChain("The head of the chain is not signed with the server's key.")
    return summary


def read_chain(
    server_url: str, summary: RoundsSummary, reader: ChainReader, on_progress: Callable[[int, int], None]
) -> None:
    """Feed the pages of the chain to `reader`. Raises `ChainUnavailable` and `BrokenChain`.

    `on_progress` is called after each page with the number of the last entry read, and that of the head.
    """
    last = summary.head.number
    if not last:
        return
    size, deadline = summary.page_lines, time.monotonic() + MAX_SECONDS
    first_page = max(summary.first_page, (last - MAX_ENTRIES) // size)
    if first_page * size >= last:
        raise BrokenChain("The server keeps no entry of its chain, and signs one.")
    for number in range(first_page, (last - 1) // size + 1):
        if time.monotonic() > deadline:
            raise ChainUnavailable(f"The chain could not be read within {MAX_SECONDS:.0f} seconds.")
        reader.add_page(fetch_round_page(server_url, summary, number), size)
        on_progress(reader.number, last)


def fetch_round_page(server_url: str, summary: RoundsSummary, number: int) -> RoundsPage:
    """Return a page of the chain, with all its entries up to the head. Raises `ChainUnavailable` and `BrokenChain`."""
    size = summary.page_lines
    page = _fetch(server_url, f"/rounds?page={number}", RoundsPage)
    if page.page != number or len(page.lines) > size:
        raise BrokenChain(f"The server answers with another page than {number}.")
    if len(page.lines) < min(size, summary.head.number - number * size):
        raise BrokenChain(f"Page {number} lacks entries.")
    return page


def _fetch(server_url: str, path: str, kind: type[M]) -> M:
    try:
        status, text = fetch_page(server_url, path)
    except PageUnavailable as reason:
        raise ChainUnavailable(
            f"No server answers at {server_url}: {reason}. {advise_without_server(server_url)}"
        ) from reason
    if status != HTTPStatus.OK:
        said = own_sentence(text) or f"it answers with HTTP status {status}"
        raise ChainUnavailable(f"The server at {server_url} does not show {path}: {said}")
    try:
        return kind.model_validate_json(text)
    except ValidationError:
        raise ChainUnavailable(f"The answer of {server_url} to {path} is not one of a Fairest server.") from None
