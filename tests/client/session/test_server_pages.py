"""Pages of a server as messages: the wait of a reader that has read many."""

import asyncio

import pytest

from fairest_cli.session import server_pages
from fairest_cli.session.server_pages import PageUnreadable, read_message
from fairest_protocol.messages.rounds import RoundsSummary
from tests.support.limited import limited_server
from tests.support.waiting import PATIENCE_SECONDS

BURST = 3


@pytest.fixture(autouse=True)
def _no_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_pages, "BUSY_SECONDS", 0.01)


def read_heads(url: str, count: int, patience_seconds: float) -> int:
    return len([read_message(url, "/rounds", RoundsSummary, patience_seconds) for _ in range(count)])


async def test_a_reader_that_has_read_many_pages_waits_and_gets_the_next(redis_url: str) -> None:
    async with limited_server(redis_url, messages_burst=BURST, messages_per_second=20) as url:
        assert await asyncio.to_thread(read_heads, url, 2 * BURST, PATIENCE_SECONDS) == 2 * BURST


async def test_without_patience_it_is_told_when_to_ask_again(redis_url: str) -> None:
    async with limited_server(redis_url, messages_burst=BURST, messages_per_second=0.01) as url:
        with pytest.raises(PageUnreadable, match=r"try again in \d+ seconds"):
            await asyncio.to_thread(read_heads, url, BURST + 1, 0.0)
