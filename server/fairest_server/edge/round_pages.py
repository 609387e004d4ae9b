"""The chain of rounds over HTTP: its head, and its entries page by page."""

from http import HTTPStatus

from redis.exceptions import RedisError

from fairest_protocol.messages.codec import encode
from fairest_protocol.messages.rounds import PAGE_LINES, RoundsSummary
from fairest_server.edge.http_pages import JSON, Page, PageRequest, text_page
from fairest_server.live.room_server import RoomServer


async def page_rounds(rooms: RoomServer, request: PageRequest) -> Page:
    """Return the head of the chain, or the page of its entries that `request` names."""
    chain = rooms.rounds
    try:
        if chain.head is None:
            return _unreadable()
        if "page" not in request.params:
            summary = RoundsSummary(
                key=rooms.key.public, head=chain.head, page_lines=PAGE_LINES, first_page=chain.first_page
            )
            return Page(encode(summary), JSON)
        number = request.params["page"]
        if not (number.isascii() and number.isdecimal() and len(number) <= 12):
            return text_page(f"page is a number from 0, not {number[:40]!r}", HTTPStatus.BAD_REQUEST)
        body = await chain.page(int(number))
    except (RedisError, OSError):
        return _unreadable()
    if body is None:
        return text_page("There is no such page of the chain of rounds.", HTTPStatus.NOT_FOUND)
    return Page(body, JSON)


def _unreadable() -> Page:
    return text_page("The chain of rounds cannot be read right now; try again.", HTTPStatus.SERVICE_UNAVAILABLE)
