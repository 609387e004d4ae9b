"""The list of finished matches over HTTP, page by page."""

import re
from http import HTTPStatus
from typing import Final

from redis.exceptions import RedisError

from fairest_protocol.messages.codec import encode
from fairest_server.edge.http_pages import JSON, Page, PageRequest, text_page
from fairest_server.edge.read_budget import ReadBudget
from fairest_server.live.room_server import RoomServer

PARAMETERS: Final = {
    "player": ("[A-Za-z0-9_-]{2,20}", "a name, 2 to 20 letters, digits, _ or -"),
    "rules": ("[A-Za-z0-9-]{1,40}", "the name of a variant"),
    "before": ("[0-9a-f]{48}", "the `next` of the page before"),
}
"""The parameters of the list by their names: the pattern of each, and what it is."""


class MatchPages:
    """The list of finished matches. A page of it costs an address what a record does."""

    def __init__(self, rooms: RoomServer, budget: ReadBudget) -> None:
        self._rooms = rooms
        self._budget = budget

    async def show(self, request: PageRequest) -> Page:
        """Return the page that the parameters ask for. Other parameters are passed over."""
        asked = {name: request.params[name] for name in PARAMETERS if name in request.params}
        for name, value in asked.items():
            pattern, meaning = PARAMETERS[name]
            if not re.fullmatch(pattern, value):
                return text_page(f"{name} is {meaning}, not {value[:40]!a}.", HTTPStatus.BAD_REQUEST)
        refusal = self._budget.try_read(request.address)
        if refusal is not None:
            return refusal
        now_ms = self._rooms.clock.now_ms()
        try:
            found = await self._rooms.matches.page(
                now_ms, name=asked.get("player"), rules=asked.get("rules"), before=asked.get("before")
            )
        except (RedisError, OSError):
            return text_page("Matches cannot be read right now; try again.", HTTPStatus.SERVICE_UNAVAILABLE)
        return Page(encode(found), JSON)
