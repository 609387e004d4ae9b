"""The list of finished matches over HTTP, page by page."""

import re
from typing import Final

from fairest_protocol.messages.codec import encode
from fairest_server.edge.http_pages import JSON, Page, PageRequest, bad_request
from fairest_server.edge.page_parameters import NAME_PATTERN
from fairest_server.edge.read_budget import ReadBudget
from fairest_server.live.room_server import RoomServer

PARAMETERS: Final = {
    "player": (NAME_PATTERN, "a name, 2 to 20 letters, digits, _ or -"),
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
                raise bad_request(f"{name} is {meaning}, not {value[:40]!a}.")
        self._budget.charge(request.address)
        found = await self._rooms.matches.page(
            self._rooms.clock.now_ms(), name=asked.get("player"), rules=asked.get("rules"), before=asked.get("before")
        )
        return Page(encode(found), JSON)
