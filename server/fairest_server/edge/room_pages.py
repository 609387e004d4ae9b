"""The page of a room, with the view of a spectator in its markup: a browser draws it while it still connects.

The connection replaces it. Without it the page is the same, and draws a round trip or two later.
"""

import asyncio
import re
from typing import Final

from redis.exceptions import RedisError

from fairest_server.edge.address_limits import AddressLimits
from fairest_server.edge.http_pages import Page, PageRequest
from fairest_server.edge.message_costs import READ_FOR_TOKEN
from fairest_server.edge.page_files import PageFiles
from fairest_server.edge.read_budget import ReadBudget
from fairest_server.live.entrance import NoRoom
from fairest_server.live.room_server import RoomServer

VIEW_SECONDS: Final = 5.0
"""Time limit for the view, shorter than that of a page: the markup comes in any case. While Redis is slow, the
connection would show nothing earlier. If Redis has been silent for as long, it is not asked.
"""
_CODE: Final = re.compile(r"(?=.{1,60}\Z)[a-z]+(?:-[a-z]+){1,5}")
"""As `RoomCode` of the wire."""


class RoomPages:
    """The pages `/r/CODE`. Reading the room costs an address what a record does, and a code of no room is a miss."""

    def __init__(self, files: PageFiles, rooms: RoomServer, budget: ReadBudget, limits: AddressLimits) -> None:
        self._files = files
        self._rooms = rooms
        self._budget = budget
        self._limits = limits

    async def show(self, request: PageRequest) -> Page:
        """Return the markup, with the view of the room that is named if a spectator would be shown one now."""
        view = await self._view(request.name, request.address) if self._may_view(request) else b""
        return self._files.index(request, view=view.decode())

    def _may_view(self, request: PageRequest) -> bool:
        """Return whether this address may be shown the room; a view that is read is paid for.

        It may not where it could not connect, or has guessed too many codes: the page tells no more than `watch` does.
        """
        rooms, address = self._rooms, request.address
        return (
            _CODE.fullmatch(request.name) is not None
            and rooms.bans.of_address(address) is None
            and not rooms.drain.is_draining
            and rooms.clock.silent_seconds < VIEW_SECONDS
            and self._limits.may_try_code(address)
            and self._budget.may_read(address)
        )

    async def _view(self, code: str, address: str) -> bytes:
        """Return the `snapshot` of a spectator, empty if there is none."""
        try:
            async with asyncio.timeout(VIEW_SECONDS):
                text, read = await self._rooms.entrance.show_once(code)
        except NoRoom:
            self._limits.count_miss(address)
            return b""
        except (RedisError, OSError, TimeoutError, ValueError):
            # ValueError: the log is broken, which the connection will report.
            return b""
        self._budget.take(address, read // READ_FOR_TOKEN)
        return text
