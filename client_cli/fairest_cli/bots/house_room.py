"""A room on a server of our own in which a house bot waits for an opponent."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from fairest_cli.bots.player import play_match
from fairest_cli.bots.policies import Policy
from fairest_cli.session.connection import Connection
from fairest_cli.session.identity import Identity
from fairest_cli.session.local_server import local_server
from fairest_cli.session.viewer_connections import MAX_ATTEMPTS
from fairest_protocol.messages.from_client import Create
from fairest_protocol.messages.options import RoomOptions

HOUSE_PACE_SECONDS: Final = 2.0
"""Mean time that a house bot thinks about a move against a person: about as long as a person does."""


@asynccontextmanager
async def house_room(
    policy: Policy, options: RoomOptions, pace_seconds: float, *, rematches: bool
) -> AsyncIterator[tuple[str, str]]:
    """Start a server with a house bot that waits in a room; yield the server's URL and the room's code.

    Raises `ServerNotStarted`. On leaving, the bot is cancelled and the server ended.
    """
    async with local_server() as url:
        house = Connection(url, Identity(), Create(options=options), name="house", gives_up_after=MAX_ATTEMPTS)
        hosting = asyncio.create_task(play_match(house, policy, random.Random(), pace_seconds, rematches=rematches))
        try:
            yield url, await house.entered()
        finally:
            hosting.cancel()
            await asyncio.gather(hosting, return_exceptions=True)
