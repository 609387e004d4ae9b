"""TV in lines of text, at a real server: one match to its result, then the next one."""

import asyncio

import pytest

from fairest_cli.session.server_pages import PageUnreadable
from fairest_cli.text.narration import describe_update
from fairest_cli.text.tv import LOOKING, watch_tv
from fairest_protocol.messages.options import RoomOptions
from tests.support.bots import start_match
from tests.support.ports import free_port
from tests.support.waiting import until

LISTED = RoomOptions(countdown_seconds=0, listed=True)


@pytest.mark.long
async def test_tv_shows_one_match_after_the_other(server_url: str) -> None:
    lines, notes = list[str](), list[str]()
    watching = asyncio.create_task(watch_tv(server_url, describe_update, lines.append, notes.append, 0.0, 0.05))
    for seed in (1, 2):
        match = await start_match((server_url,), LISTED, seed=seed, pace_seconds=0.02, spectators=0)

        async def is_shown(room: str = match.room) -> bool:
            return any(note.endswith(room) for note in notes)

        await until(is_shown, "TV shows the match")
        await match.end()

        async def is_over(seed: int = seed) -> bool:
            return sum("wins" in line or "draw" in line for line in lines) >= seed

        await until(is_over, "TV shows the result of the match")
    watching.cancel()
    assert LOOKING in notes


async def test_tv_without_a_server_says_so() -> None:
    with pytest.raises(PageUnreadable, match="No server answers"):
        await watch_tv(f"ws://127.0.0.1:{free_port()}", describe_update, print, print)
