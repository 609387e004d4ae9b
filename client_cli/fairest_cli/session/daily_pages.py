"""Daily deals of a server over plain HTTP: the page of a deal, its whole table, and the record of an attempt."""

from http import HTTPStatus
from urllib.parse import urlencode

from pydantic import ValidationError

from fairest_cli.session.failures import advise_without_server, describe_stranger, own_sentence
from fairest_cli.session.http_pages import PageUnavailable, fetch_page
from fairest_protocol.calculation.daily_record import DailyRecord, parse_daily_record
from fairest_protocol.calculation.record import BadRecord
from fairest_protocol.messages.daily import DailyPage, TableRow

MOST_PAGES = 1_000
"""Pages of a table that are read at most."""


class DailyUnavailable(Exception):
    """A page could not be read; the text says why."""


def fetch_daily(server_url: str, variant: str, day: str | None, page: int = 0) -> DailyPage:
    """Return the page of a daily deal, today's without a `day`. Raises `DailyUnavailable`. Blocks on the network."""
    query = {"rules": variant, "page": page, **({} if day is None else {"day": day})}
    body = _fetch(server_url, f"/daily?{urlencode(query)}")
    try:
        found = DailyPage.model_validate_json(body)
    except ValidationError as reason:
        raise DailyUnavailable(describe_stranger(server_url, HTTPStatus.OK)) from reason
    if (found.rules, found.page) != (variant, page) or (day is not None and found.day != day):
        raise DailyUnavailable("The server answered with the page of another daily deal.")
    return found


def fetch_table(server_url: str, first: DailyPage) -> list[TableRow]:
    """Return all rows of the table whose first page is `first`. Raises `DailyUnavailable`. Blocks on the network."""
    rows = list(first.rows)
    for number in range(1, min(first.pages, MOST_PAGES)):
        rows += fetch_daily(server_url, first.rules, first.day, number).rows
    return rows


def fetch_attempt(server_url: str, attempt: str) -> DailyRecord:
    """Return the record of an attempt, after replaying it. Raises `DailyUnavailable`, `BadRecord`. Blocks."""
    body = _fetch(server_url, f"/daily/{attempt}")
    try:
        return parse_daily_record(body.decode())
    except UnicodeDecodeError as reason:
        raise BadRecord("the record of an attempt is text") from reason


def _fetch(server_url: str, path: str) -> bytes:
    try:
        status, body = fetch_page(server_url, path)
    except PageUnavailable as reason:
        advice = advise_without_server(server_url)
        raise DailyUnavailable(f"No server answers at {server_url}: {reason}. {advice}") from reason
    if status != HTTPStatus.OK:
        raise DailyUnavailable(own_sentence(body) or describe_stranger(server_url, status))
    return body
