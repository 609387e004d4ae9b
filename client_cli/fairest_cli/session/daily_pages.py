"""Daily deals of a server over plain HTTP: the page of a deal, its whole table, and the record of an attempt."""

from urllib.parse import urlencode

from fairest_cli.session.server_pages import PageUnreadable, read_message, read_page
from fairest_protocol.calculation.daily_record import DailyRecord, parse_daily_record
from fairest_protocol.calculation.record import BadRecord
from fairest_protocol.messages.daily import DailyPage, TableRow

MOST_PAGES = 1_000
"""Pages of a table that are read at most."""
PAGE_SECONDS = 30.0
"""The wait for a page of a table when this address has read many."""


def fetch_daily(
    server_url: str, variant: str, day: str | None, page: int = 0, patience_seconds: float = 0.0
) -> DailyPage:
    """Return the page of a daily deal, today's without a `day`. Raises `PageUnreadable`. Blocks on the network.

    `patience_seconds` is as for `read_message`.
    """
    query = {"rules": variant, "page": page, **({} if day is None else {"day": day})}
    found = read_message(server_url, f"/daily?{urlencode(query)}", DailyPage, patience_seconds)
    if (found.rules, found.page) != (variant, page) or (day is not None and found.day != day):
        raise PageUnreadable("The server answered with the page of another daily deal.")
    return found


def fetch_table(server_url: str, first: DailyPage) -> list[TableRow]:
    """Return all rows of the table whose first page is `first`. Raises `PageUnreadable`. Blocks on the network."""
    rows = list(first.rows)
    for number in range(1, min(first.pages, MOST_PAGES)):
        rows += fetch_daily(server_url, first.rules, first.day, number, PAGE_SECONDS).rows
    return rows


def fetch_attempt(server_url: str, attempt: str) -> DailyRecord:
    """Return the record of an attempt, after replaying it. Raises `PageUnreadable`, `BadRecord`. Blocks."""
    body = read_page(server_url, f"/daily/{attempt}")
    try:
        return parse_daily_record(body.decode())
    except UnicodeDecodeError as reason:
        raise BadRecord("the record of an attempt is text") from reason
