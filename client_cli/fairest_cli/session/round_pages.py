"""The chain of rounds of a server, fetched over HTTP and audited page by page, bounded against a hostile server."""

import time
from collections.abc import Callable
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

M = TypeVar("M", bound=Message)


class ChainUnavailable(Exception):
    """The chain could not be read; the text says why."""


def fetch_summary(server_url: str) -> RoundsSummary:
    """Return the head of the server's chain. Raises `ChainUnavailable`, and `BrokenChain` if it is not signed."""
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

    `patience_seconds` is as for `read_message`.
    """
    size = summary.page_lines
    page = _read(server_url, f"/rounds?page={number}", RoundsPage, patience_seconds)
    if page.page != number or len(page.lines) > size:
        raise BrokenChain(f"The server answers with another page than {number}.")
    if len(page.lines) < min(size, summary.head.number - number * size):
        raise BrokenChain(f"Page {number} lacks entries.")
    return page


def _read(server_url: str, path: str, kind: type[M], patience_seconds: float) -> M:
    try:
        return read_message(server_url, path, kind, patience_seconds)
    except PageUnreadable as reason:
        said = str(reason) if reason.status is None else f"The server does not show {path}. {reason}"
        raise ChainUnavailable(said) from reason
