"""TV: one match after the other. Which match is watched, and when its place is free for the next one."""

import asyncio
from collections.abc import Iterable
from typing import Final

from fairest_cli.model.known_room import KnownRoom
from fairest_cli.session.connection import Update
from fairest_cli.session.room_session import OnUpdate, RoomSession
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_server import ListedRoom
from fairest_protocol.messages.options import Spectators

RESULT_SECONDS: Final = 12.0
"""How long the result of a match is shown before the next one."""
SEARCH_SECONDS: Final = 3.0
"""The time between two looks for a match while there is none."""


def choose_match(rooms: Iterable[ListedRoom]) -> ListedRoom | None:
    """Return the room to watch, None if there is none: a race under way that may be watched.

    The longest match comes first, in it the one with the most rounds decided, then the race that began last. The page
    for browsers chooses by the same rule (`tv.js`).
    """
    watchable = [room for room in rooms if room.phase is Phase.RACING and room.spectators is not Spectators.CLOSED]
    return max(watchable, key=lambda room: (room.best_of, sum(room.wins), room.since_ms, room.room), default=None)


def is_match_over(model: KnownRoom) -> bool:
    """Return whether there is nothing more to watch in the room, unless its players start another match."""
    scene = model.scene
    if scene is None:
        return False
    return scene.phase in (Phase.WAITING, Phase.CLOSED) or (scene.phase is Phase.FINISHED and scene.match_is_over)


async def follow_match(session: RoomSession, on_update: OnUpdate, result_seconds: float) -> bool:
    """Follow a room until its match has been over for `result_seconds`; return False if we have left it before.

    A rematch that begins meanwhile is followed. Raises `Rejected` and `Cheated`. Safe to cancel.
    """
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(None) as time_limit:

            async def show(before: KnownRoom, update: Update) -> None:
                await on_update(before, update)
                if is_match_over(update.model) != (time_limit.when() is not None):
                    time_limit.reschedule(None if time_limit.when() is not None else loop.time() + result_seconds)

            await session.run(show)
    except TimeoutError:
        return True
    return session.model.phase is Phase.CLOSED
