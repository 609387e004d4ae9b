"""Ratings over HTTP: the leaderboard of a variant, page by page, and the page of a player."""

import re
from http import HTTPStatus
from typing import Final

from redis.exceptions import RedisError

from fairest_protocol.calculation.rules import BadRules, find_variant
from fairest_protocol.messages.codec import encode
from fairest_server.edge.http_pages import JSON, Page, PageRequest, text_page
from fairest_server.edge.read_budget import ReadBudget
from fairest_server.live.room_server import RoomServer
from fairest_server.ratings.match_result import DAY_MS

NAME_PATTERN: Final = "[A-Za-z0-9_-]{2,20}"
PAGE_PATTERN: Final = "[0-9]{1,6}"


class RatingPages:
    """The pages of ratings. Each costs an address what a record does."""

    def __init__(self, rooms: RoomServer, budget: ReadBudget) -> None:
        self._rooms = rooms
        self._budget = budget

    async def show_leaderboard(self, request: PageRequest) -> Page:
        """Return a page of the leaderboard of the variant that `rules` names."""
        number = request.params.get("page", "0")
        if not re.fullmatch(PAGE_PATTERN, number, re.ASCII):
            return text_page(f"page is a number from 0, not {number[:40]!a}.", HTTPStatus.BAD_REQUEST)
        try:
            rules = find_variant(request.params.get("rules", "classic")[:40]).rules.name
        except BadRules as reason:
            return text_page(f"{ascii(str(reason))[1:-1]}.", HTTPStatus.BAD_REQUEST)
        refusal = self._budget.try_read(request.address)
        if refusal is not None:
            return refusal
        try:
            return Page(encode(await self._rooms.ratings.leaderboard(rules, int(number), self._today())), JSON)
        except (RedisError, OSError):
            return _unreadable()

    async def show_player(self, request: PageRequest) -> Page:
        """Return the page of the player with this name, and with `against` the score against another one."""
        names = [request.name, *([request.params["against"]] if "against" in request.params else [])]
        for name in names:
            if not re.fullmatch(NAME_PATTERN, name):
                sentence = f"A name has 2 to 20 letters, digits, _ or -; {name[:40]!a} is none."
                return text_page(sentence, HTTPStatus.BAD_REQUEST)
        refusal = self._budget.try_read(request.address)
        if refusal is not None:
            return refusal
        views = self._rooms.ratings
        try:
            found = []
            for name in names:
                player = await views.find(name)
                if player is None:
                    return text_page(f"Nobody is known by the name {name}.", HTTPStatus.NOT_FOUND)
                found.append(player)
            return Page(encode(await views.player_page(found[0], self._today(), *found[1:])), JSON)
        except (RedisError, OSError):
            return _unreadable()

    def _today(self) -> int:
        """Return the present day, counted from 1970 in UTC, by Redis' clock."""
        return self._rooms.clock.now_ms() // DAY_MS


def _unreadable() -> Page:
    return text_page("Ratings cannot be read right now; try again.", HTTPStatus.SERVICE_UNAVAILABLE)
