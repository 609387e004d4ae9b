"""The page of a match over HTTP, with its social card in the head, and the picture of the card."""

import gzip
import json
from html.parser import HTMLParser

import pytest
from redis.asyncio import Redis

from fairest_server.store import keys
from tests.support.limited import Limited
from tests.support.raw_http import Answer, ask
from tests.support.records import file_of, make_record, store_records

NO_MATCH = "0" * 32
HOSTILE = '"><script>alert(1)</script><!--'


class Head(HTMLParser):
    """The tags of a page, and the contents of its `meta` elements by their names."""

    def __init__(self, answer: Answer) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.metas: dict[str, str] = {}
        self.feed(answer.body.decode())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        self.tags.append(tag)
        found = dict(attrs)
        if tag == "meta":
            self.metas[found.get("property") or found.get("name") or ""] = found.get("content") or ""


async def test_the_page_of_a_match_has_its_card_in_the_head(limited: Limited, redis: Redis) -> None:
    [record] = await store_records(redis, 1)
    async with limited() as url:
        answer = await ask(url, f"/m/{record.match_id}", host="play.example:8765")
    metas = Head(answer).metas
    assert (answer.status, metas["og:title"]) == (200, " against ".join(record.names))
    assert metas["og:image"] == f"http://play.example:8765/m/{record.match_id}.svg"
    assert "wins" in metas["description"] or "draw" in metas["description"]


async def test_a_trusted_proxy_says_by_which_scheme_it_was_asked(limited: Limited, redis: Redis) -> None:
    [record] = await store_records(redis, 1)
    async with limited(trusted_proxies="127.0.0.1") as url:
        answer = await ask(url, f"/m/{record.match_id}", "X-Forwarded-Proto: https", host="play.example")
    assert Head(answer).metas["og:url"] == f"https://play.example/m/{record.match_id}"


async def test_another_client_does_not_choose_the_scheme(limited: Limited, redis: Redis) -> None:
    [record] = await store_records(redis, 1)
    async with limited() as url:
        answer = await ask(url, f"/m/{record.match_id}", "X-Forwarded-Proto: https", host="play.example")
    assert Head(answer).metas["og:url"].startswith("http://")


async def test_a_hostile_name_adds_no_element_to_the_page(limited: Limited, redis: Redis) -> None:
    first, _, rest = file_of(make_record(1)).partition(b"\n")
    heading = json.dumps(json.loads(first) | {"names": [HOSTILE, HOSTILE]}).encode()
    await redis.set(keys.record(NO_MATCH), heading + b"\n" + rest)
    async with limited() as url:
        plain, hostile = await ask(url, "/"), await ask(url, f"/m/{NO_MATCH}", host='x"><script>')
    tags = [tag for tag in Head(hostile).tags if tag != "meta"]
    assert tags == [tag for tag in Head(plain).tags if tag != "meta"]
    assert Head(hostile).metas["og:title"].startswith('"><script>')


async def test_the_page_of_a_match_is_as_strict_as_any_page(limited: Limited, redis: Redis) -> None:
    [record] = await store_records(redis, 1)
    async with limited() as url:
        answers = [await ask(url, path) for path in ("/", f"/m/{record.match_id}")]
    assert len({answer.headers["Content-Security-Policy"] for answer in answers}) == 1


@pytest.mark.parametrize("name", [NO_MATCH, "x", "", f"{NO_MATCH}0"])
async def test_a_match_without_a_record_has_the_page_without_a_card(limited: Limited, name: str) -> None:
    async with limited() as url:
        plain, answer = await ask(url, "/"), await ask(url, f"/m/{name}")
    assert (answer.status, answer.body) == (404, plain.body)


async def test_a_match_without_a_record_has_no_picture(limited: Limited) -> None:
    async with limited() as url:
        answer = await ask(url, f"/m/{NO_MATCH}.svg")
    assert (answer.status, answer.headers["Cache-Control"]) == (404, "no-store")


async def test_the_picture_runs_nothing_and_may_be_kept_for_a_day(limited: Limited, redis: Redis) -> None:
    [record] = await store_records(redis, 1)
    async with limited() as url:
        answer = await ask(url, f"/m/{record.match_id}.svg")
    assert (answer.status, answer.headers["Content-Type"]) == (200, "image/svg+xml")
    assert answer.headers["Content-Security-Policy"] == "default-src 'none'; sandbox"
    assert answer.headers["Cache-Control"] == "public, max-age=86400"


async def test_the_picture_is_compressed_for_a_client_that_can_read_it(limited: Limited, redis: Redis) -> None:
    [record] = await store_records(redis, 1)
    async with limited() as url:
        plain = await ask(url, f"/m/{record.match_id}.svg")
        packed = await ask(url, f"/m/{record.match_id}.svg", "Accept-Encoding: gzip")
    assert gzip.decompress(packed.body) == plain.body


async def test_a_card_is_read_once(limited: Limited, redis: Redis) -> None:
    [record] = await store_records(redis, 1)
    async with limited(messages_burst=1, messages_per_second=0.01) as url:
        answers = [await ask(url, f"/m/{record.match_id}{end}") for end in ("", ".svg", ".svg")]
    assert [answer.status for answer in answers] == [200, 200, 200]


async def test_an_address_that_has_read_many_records_sees_the_page_and_no_other_card(
    limited: Limited, redis: Redis
) -> None:
    one, other = await store_records(redis, 2)
    async with limited(messages_burst=1, messages_per_second=0.01) as url:
        await ask(url, f"/records/{one.match_id}")
        page, picture = await ask(url, f"/m/{other.match_id}"), await ask(url, f"/m/{other.match_id}.svg")
    assert (page.status, "og:title" in Head(page).metas, picture.status) == (200, False, 429)


async def test_the_page_is_there_while_records_cannot_be_read(limited: Limited, redis: Redis) -> None:
    await redis.hset(keys.record(NO_MATCH), "not", "a text")
    async with limited() as url:
        page, picture = await ask(url, f"/m/{NO_MATCH}"), await ask(url, f"/m/{NO_MATCH}.svg")
    assert (page.status, picture.status) == (200, 503)
