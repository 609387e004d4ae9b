"""Daily deals over HTTP: what everybody may know of one, its table once it is opened, and the records of attempts."""

from fairest_protocol.messages.codec import encode
from fairest_server.edge.http_pages import JSON, Page, PageRequest, not_found
from fairest_server.edge.page_parameters import day_name, id_in_path, page_number, variant_name
from fairest_server.edge.read_budget import ReadBudget
from fairest_server.edge.record_pages import LINES
from fairest_server.live.room_server import RoomServer


class DailyPages:
    """The pages of daily deals. Each costs an address what a record does."""

    def __init__(self, rooms: RoomServer, budget: ReadBudget) -> None:
        self._rooms = rooms
        self._budget = budget

    async def show_deal(self, request: PageRequest) -> Page:
        """Return the page of the deal of the `day`, today's without one, and of the variant that `rules` names."""
        day, number = day_name(request, self._rooms.clock.now_ms()), page_number(request)
        variant = variant_name(request)
        self._budget.charge(request.address)
        found = await self._rooms.daily_attempts.page(variant, day, number)
        if found is None:
            raise not_found(f"There is no daily deal of {variant} on {day}.")
        return Page(encode(found), JSON)

    async def show_attempt(self, request: PageRequest) -> Page:
        """Return the record of the attempt that is named."""
        attempt = id_in_path(request, "An attempt")
        self._budget.charge(request.address)
        text = await self._rooms.daily_attempts.record(attempt)
        if text is None:
            raise not_found("No record of this attempt can be shown.")
        return Page(text.encode(), LINES)
