"""The pages of daily deals over HTTP, from servers that answer with something else."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from fairest_cli.session.daily_pages import fetch_attempt, fetch_daily, fetch_table
from fairest_cli.session.server_pages import PageUnreadable
from fairest_protocol.calculation.record import BadRecord
from tests.support.lying_chain import serving_pages
from tests.support.ports import free_port

DAY = "2026-11-24"
PATH = f"/daily?rules=classic&page=0&day={DAY}"


def page(**changes: Any) -> bytes:
    fields: dict[str, Any] = {
        "type": "daily_page",
        "day": DAY,
        "rules": "classic",
        "begins_ms": 1,
        "ends_ms": 2,
        "now_ms": 1,
        "commitment": "11" * 32,
        "seal": None,
        "secret": None,
        "opened": False,
        "begun": 0,
        "ended": 0,
        "page": 0,
        "pages": 1,
        "rows": [],
    }
    return json.dumps(fields | changes).encode()


def row(rank: int) -> dict[str, Any]:
    scored = {"won": False, "placed": 9, "goal": 52, "direct": 1, "time_ms": 9}
    return {"rank": rank, "name": "ann", "attempt": f"{rank:032x}", "from_address": 1, **scored}


def fetch(answers: Mapping[str, bytes]) -> Any:
    with serving_pages(dict(answers)) as url:
        return fetch_daily(url, "classic", DAY)


def test_a_page_is_read() -> None:
    assert fetch({PATH: page(begun=3)}).begun == 3


@pytest.mark.parametrize("changes", [{"day": "2026-11-23"}, {"rules": "senior"}, {"page": 1}])
def test_the_page_of_another_deal_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(PageUnreadable, match="another daily deal"):
        fetch({PATH: page(**changes)})


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b"\xff", page(commitment="11")])
def test_an_answer_that_is_no_page_is_refused(body: bytes) -> None:
    with pytest.raises(PageUnreadable):
        fetch({PATH: body})


def test_a_server_that_is_silent_is_named() -> None:
    url = f"ws://127.0.0.1:{free_port()}"
    with pytest.raises(PageUnreadable, match=f"No server answers at {url}"):
        fetch_daily(url, "classic", DAY)


def test_a_deal_that_does_not_exist_is_refused() -> None:
    with pytest.raises(PageUnreadable):
        fetch({})


def test_all_pages_of_a_table_are_read_in_order() -> None:
    first = page(pages=2, rows=[row(1)])
    later = f"/daily?rules=classic&page=1&day={DAY}"
    with serving_pages({PATH: first, later: page(page=1, pages=2, rows=[row(2)])}) as url:
        rows = fetch_table(url, fetch_daily(url, "classic", DAY))
    assert [each.rank for each in rows] == [1, 2]


def test_a_table_that_lacks_a_page_is_refused() -> None:
    with serving_pages({PATH: page(pages=2, rows=[row(1)])}) as url, pytest.raises(PageUnreadable):
        fetch_table(url, fetch_daily(url, "classic", DAY))


@pytest.mark.parametrize("body", [b"", b"{}", b"\xff\xfe", b"{}\n{}\n"])
def test_an_attempt_that_is_no_record_is_a_bad_one(body: bytes) -> None:
    attempt = "ab" * 16
    with serving_pages({f"/daily/{attempt}": body}) as url, pytest.raises(BadRecord):
        fetch_attempt(url, attempt)
