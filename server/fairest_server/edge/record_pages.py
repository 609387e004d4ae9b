"""Records over HTTP: the lines of one match, as its file has them."""

from typing import Final

from fairest_server.edge.http_pages import Page, PageRequest, not_found
from fairest_server.edge.message_costs import READ_FOR_TOKEN
from fairest_server.edge.page_parameters import id_in_path
from fairest_server.edge.read_budget import ReadBudget
from fairest_server.live.record_finder import RecordFinder

LINES: Final = "application/x-ndjson"


class RecordPages:
    """The page of each record. Reading them costs an address what `get_record` costs one connection."""

    def __init__(self, records: RecordFinder, budget: ReadBudget) -> None:
        self._records = records
        self._budget = budget

    async def show(self, request: PageRequest) -> Page:
        """Return the record of the match that is named."""
        match_id = id_in_path(request, "A match")
        self._budget.charge(request.address)
        text = await self._records.read(match_id)
        if text is None:
            raise not_found("No record of this match is kept.")
        self._budget.take(request.address, text.count(b"\n") // READ_FOR_TOKEN)
        return Page(text, LINES)
