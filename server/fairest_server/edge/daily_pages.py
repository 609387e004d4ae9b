"""Daily deals over HTTP: what everybody may know of one, its table once it is opened, and the records of attempts."""

import re
from http import HTTPStatus
from typing import Final

from redis.exceptions import RedisError

from fairest_protocol.calculation.daily import day_of, day_start_ms
from fairest_protocol.calculation.rules import BadRules, find_variant
from fairest_protocol.messages.codec import encode
from fairest_server.edge.http_pages import JSON, Page, PageRequest, text_page
from fairest_server.edge.read_budget import ReadBudget
from fairest_server.edge.record_pages import LINES
from fairest_server.live.room_server import RoomServer

DAY_PATTERN: Final = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
PAGE_PATTERN: Final = "[0-9]{1,6}"
_ATTEMPT: Final = re.compile("[0-9a-f]{32}")


class DailyPages:
    """The pages of daily deals. Each costs an address what a record does."""

    def __init__(self, rooms: RoomServer, budget: ReadBudget) -> None:
        self._rooms = rooms
        self._budget = budget

    async def show_deal(self, request: PageRequest) -> Page:
        """Return the page of the deal of the `day`, today's without one, and of the variant that `rules` names."""
        day = request.params.get("day", day_of(self._rooms.clock.now_ms()))
        number = request.params.get("page", "0")
        if not re.fullmatch(PAGE_PATTERN, number, re.ASCII):
            return text_page(f"page is a number from 0, not {number[:40]!a}.", HTTPStatus.BAD_REQUEST)
        try:
            day_start_ms(day)
        except ValueError:
            return text_page(f"day is a day such as 2026-11-24, not {day[:40]!a}.", HTTPStatus.BAD_REQUEST)
        try:
            variant = find_variant(request.params.get("rules", "classic")[:40]).rules.name
        except BadRules as reason:
            return text_page(f"{ascii(str(reason))[1:-1]}.", HTTPStatus.BAD_REQUEST)
        refusal = self._budget.try_read(request.address)
        if refusal is not None:
            return refusal
        try:
            found = await self._rooms.daily_attempts.page(variant, day, int(number))
        except (RedisError, OSError):
            return _unreadable()
        if found is None:
            return text_page(f"There is no daily deal of {variant} on {day}.", HTTPStatus.NOT_FOUND)
        return Page(encode(found), JSON)

    async def show_attempt(self, request: PageRequest) -> Page:
        """Return the record of the attempt that is named, or why there is none."""
        if not _ATTEMPT.fullmatch(request.name):
            sentence = f"An attempt is 32 digits of 0-9 and a-f, not {request.name[:40]!a}."
            return text_page(sentence, HTTPStatus.BAD_REQUEST)
        refusal = self._budget.try_read(request.address)
        if refusal is not None:
            return refusal
        try:
            text = await self._rooms.daily_attempts.record(request.name)
        except (RedisError, OSError):
            return _unreadable()
        if text is None:
            return text_page("No record of this attempt can be shown.", HTTPStatus.NOT_FOUND)
        return Page(text.encode(), LINES)


def _unreadable() -> Page:
    return text_page("Daily deals cannot be read right now; try again.", HTTPStatus.SERVICE_UNAVAILABLE)
