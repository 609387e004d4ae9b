"""The chain of rounds over HTTP: its head, and its entries page by page."""

from fairest_protocol.messages.codec import encode
from fairest_protocol.messages.rounds import PAGE_LINES, RoundsSummary
from fairest_server.edge.http_pages import JSON, Page, PageRequest, not_found, unavailable
from fairest_server.edge.message_costs import CHAIN_PAGE_TOKENS
from fairest_server.edge.page_parameters import CHAIN_PAGE_PATTERN, page_number
from fairest_server.edge.read_budget import ReadBudget
from fairest_server.live.room_server import RoomServer


class RoundPages:
    """The head of the chain, and the pages of its entries. Each counts against the budget of an address."""

    def __init__(self, rooms: RoomServer, budget: ReadBudget) -> None:
        self._rooms = rooms
        self._budget = budget

    async def show(self, request: PageRequest) -> Page:
        """Return the head of the chain, or the page of its entries that `request` names."""
        chain, number = self._rooms.rounds, page_number(request, CHAIN_PAGE_PATTERN)
        is_page = "page" in request.params
        self._budget.charge(request.address, CHAIN_PAGE_TOKENS if is_page else 1)
        if chain.head is None:
            raise unavailable()
        if not is_page:
            summary = RoundsSummary(
                key=self._rooms.key.public, head=chain.head, page_lines=PAGE_LINES, first_page=chain.first_page
            )
            return Page(encode(summary), JSON)
        body = await chain.page(number)
        if body is None:
            raise not_found("There is no such page of the chain of rounds.")
        return Page(body, JSON)
