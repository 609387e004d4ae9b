"""The chain of rounds of a server, fetched over HTTP and audited page by page, bounded against a hostile server."""

import time
from collections.abc import Callable
from http import HTTPStatus
from typing import Final, TypeVar

from fairest_cli.records.chain_audit import BrokenChain, ChainReader
from fairest_cli.records.heads import is_head_signed
from fairest_cli.session.server_pages import PageUnreadable, read_message
from fairest_protocol.messages.fields import Message
from fairest_protocol.messages.rounds import RoundsPage, RoundsSummary

MAX_ENTRIES: Final = 1_000_000
"""Entries that are read, the newest ones; reading as many takes ten minutes and 300 MiB."""
MAX_SECONDS: Final = 3_600.0
PAGE_SECONDS: Final = 10.0
"""The wait for a single page when this address has read many."""
STALE_HEAD_SECONDS: Final = 2.0
"""The wait before a head or a page is read a second time. Each process of a server reads the chain once a second, so
one may show it as it was before the entry that another one has shown.
"""

M = TypeVar("M", bound=Message)


class ChainUnavailable(Exception):
    """The chain could not be read; the text says why. `status` is that of HTTP, if any."""

    def __init__(self, sentence: str, status: int | None = None) -> None:
        super().__init__(sentence)
        self.status = status


def fetch_summary(server_url: str, number: int = 0) -> RoundsSummary:
    """Return the head of the server's chain. Raises `ChainUnavailable`, and `BrokenChain` if it is not signed.

    A head before the entry `number` is read a second time, and returned as it is then.
    """
    summary = _read_summary(server_url)
    if summary.head.number < number:
        time.sleep(STALE_HEAD_SECONDS)
        summary = _read_summary(server_url)
    return summary


def _read_summary(server_url: str) -> RoundsSummary:
    summary = _read(server_url, "/rounds", RoundsSummary, PAGE_SECONDS)
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
        reader.add_page(fetch_round_page(server_url, summary, number, deadline - time.monotonic()), size)
        on_progress(reader.number, last)


def fetch_round_page(
    server_url: str, summary: RoundsSummary, number: int, patience_seconds: float = PAGE_SECONDS
) -> RoundsPage:
    """Return a page of the chain, with all its entries up to the head. Raises `ChainUnavailable` and `BrokenChain`.

    `patience_seconds` is as for `read_message`. A page that lacks entries, or is not there, is read a second time.
    """
    size, path = summary.page_lines, f"/rounds?page={number}"
    lines = min(size, summary.head.number - number * size)
    page = _read_grown_page(server_url, path, patience_seconds)
    if page is None or len(page.lines) < lines:
        time.sleep(STALE_HEAD_SECONDS)
        page = _read(server_url, path, RoundsPage, patience_seconds)
    if page.page != number or len(page.lines) > size:
        raise BrokenChain(f"The server answers with another page than {number}.")
    if len(page.lines) < lines:
        raise BrokenChain(f"Page {number} lacks entries.")
    return page


def _read_grown_page(server_url: str, path: str, patience_seconds: float) -> RoundsPage | None:
    """Return a page of the chain; None if the chain of the process that answers does not reach it."""
    try:
        return _read(server_url, path, RoundsPage, patience_seconds)
    except ChainUnavailable as reason:
        if reason.status == HTTPStatus.NOT_FOUND:
            return None
        raise


def _read(server_url: str, path: str, kind: type[M], patience_seconds: float) -> M:
    try:
        return read_message(server_url, path, kind, patience_seconds)
    except PageUnreadable as reason:
        said = str(reason) if reason.status is None else f"The server does not show {path}. {reason}"
        raise ChainUnavailable(said, reason.status) from reason
