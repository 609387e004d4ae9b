"""The chain of rounds over HTTP: what reading it costs an address."""

import pytest

from tests.support.limited import Limited
from tests.support.raw_http import ask

HEAD, PAGE = "/rounds", "/rounds?page=0"


async def statuses(url: str, *paths: str) -> list[int]:
    return [(await ask(url, path)).status for path in paths]


async def test_an_address_that_has_read_many_pages_of_the_chain_has_to_wait(limited: Limited) -> None:
    async with limited(messages_burst=10, messages_per_second=0.01) as url:
        assert await statuses(url, *[PAGE] * 4) == [200, 200, 200, 429]


async def test_the_head_of_the_chain_costs_less_than_a_page(limited: Limited) -> None:
    async with limited(messages_burst=10, messages_per_second=0.01) as url:
        assert await statuses(url, *[HEAD] * 11) == [200] * 10 + [429]


async def test_pages_of_the_chain_and_records_have_one_budget(limited: Limited) -> None:
    async with limited(messages_burst=1, messages_per_second=0.01) as url:
        assert await statuses(url, PAGE, f"/records/{'0' * 32}") == [200, 429]


async def test_a_page_that_is_refused_says_when_to_ask_again(limited: Limited) -> None:
    async with limited(messages_burst=1, messages_per_second=0.01) as url:
        await ask(url, PAGE)
        answer = await ask(url, PAGE)
    # Four tokens for the first request, one of which it had: three, at one in a hundred seconds.
    assert 290 <= int(answer.headers["Retry-After"]) <= 301


@pytest.mark.parametrize("number", ["x", "-1", "1" * 13, "\u0661"])
async def test_a_page_that_is_no_number_costs_nothing(limited: Limited, number: str) -> None:
    async with limited(messages_burst=1, messages_per_second=0.01) as url:
        path = f"/rounds?page={number}".encode("ascii", errors="backslashreplace").decode()
        assert await statuses(url, path, PAGE) == [400, 200]
