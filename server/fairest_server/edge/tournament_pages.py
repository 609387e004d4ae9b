"""Tournaments over HTTP: the list of those under way, one of them, and the records of its races."""

import re
from typing import Final

from fairest_protocol.messages.codec import encode
from fairest_protocol.messages.refusals import Refusal
from fairest_server.edge.http_pages import JSON, Page, PageRequest, bad_request, not_found
from fairest_server.edge.page_parameters import player_name
from fairest_server.edge.read_budget import ReadBudget
from fairest_server.edge.record_pages import LINES
from fairest_server.live.room_server import RoomServer

CODE_PATTERN: Final = "[a-z]+(-[a-z]+){1,5}"
NUMBER_PATTERN: Final = "[1-9][0-9]{0,2}"


class TournamentPages:
    """The pages of tournaments. Each but the list costs an address what a record does."""

    def __init__(self, rooms: RoomServer, budget: ReadBudget) -> None:
        self._rooms = rooms
        self._budget = budget

    async def show_list(self, _: PageRequest) -> Page:
        """Return the tournaments that are open or under way."""
        return Page(encode(await self._rooms.tournaments.list()), JSON)

    async def show_tournament(self, request: PageRequest) -> Page:
        """Return the tournament whose code is named."""
        code = _code_in_path(request)
        self._budget.charge(request.address)
        found = await self._rooms.tournaments.show(code)
        if isinstance(found, Refusal):
            raise not_found("There is no tournament with this code.")
        return Page(encode(found), JSON)

    async def show_race(self, request: PageRequest) -> Page:
        """Return the record of the race of a player, `name`, in a round that is over."""
        code, number = _code_in_path(request), request.params.get("round", "")
        if not re.fullmatch(NUMBER_PATTERN, number):
            raise bad_request(f"round is a number from 1, not {number[:40]!a}.")
        name = player_name(request.params.get("name", ""))
        self._budget.charge(request.address)
        text = await self._rooms.tournament_races.record(code, int(number), name)
        if text is None:
            raise not_found("No record of this race can be shown.")
        return Page(text.encode(), LINES)


def _code_in_path(request: PageRequest) -> str:
    if not re.fullmatch(CODE_PATTERN, request.name) or len(request.name) > 60:
        raise bad_request(f"A code is words joined by hyphens, not {request.name[:40]!a}.")
    return request.name
