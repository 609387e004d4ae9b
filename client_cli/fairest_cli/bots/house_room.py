"""A room on a server of our own in which a house bot waits for an opponent."""

import asyncio
import random
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fairest_cli.bots.levels import Level
from fairest_cli.bots.player import play_match
from fairest_cli.session.connection import Connection
from fairest_cli.session.identity import Identity
from fairest_cli.session.local_server import local_server
from fairest_cli.session.viewer_connections import MAX_ATTEMPTS
from fairest_protocol.messages.from_client import Create
from fairest_protocol.messages.options import RoomOptions


@asynccontextmanager
async def house_room(
    level: Level,
    options: RoomOptions,
    pace_seconds: float | None,
    *,
    rematches: bool,
) -> AsyncIterator[tuple[str, str]]:
    """Start a server with a house bot that waits in a room; yield the server's URL and the room's code.

    `pace_seconds` is as for `play_match`. Raises `ServerNotStarted`. On leaving, the bot is cancelled and
    the server ended.
    """
    async with local_server() as url:
        house = Connection(url, Identity(), Create(options=options), name=bot_name(level), gives_up_after=MAX_ATTEMPTS)
        match = play_match(house, level, random.Random(), pace_seconds, rematches=rematches)
        hosting = asyncio.create_task(match)
        try:
            yield url, await house.entered()
        finally:
            hosting.cancel()
            await asyncio.gather(hosting, return_exceptions=True)


def new_bot_name(level: Level) -> str:
    """Return a random name of a bot of this level, since names are unique on a server: `bot-club-0a1b2c`."""
    return f"{bot_name(level)}-{secrets.token_hex(3)}"


def bot_name(level: Level) -> str:
    """Return the name under which a bot of this level plays, such as `bot-club`."""
    return f"bot-{level}"
