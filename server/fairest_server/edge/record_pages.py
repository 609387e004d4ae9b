"""Records over HTTP: the lines of one match, as its file has them."""

import re
from http import HTTPStatus
from typing import Final

from redis.exceptions import RedisError

from fairest_server.edge.http_pages import Page, PageRequest, text_page
from fairest_server.edge.message_costs import READ_FOR_TOKEN
from fairest_server.edge.read_budget import ReadBudget
from fairest_server.live.record_finder import RecordFinder, RecordUnavailable

LINES: Final = "application/x-ndjson"
_MATCH_ID: Final = re.compile("[0-9a-f]{32}")


class RecordPages:
    """The page of each record. Reading them costs an address what `get_record` costs one connection."""

    def __init__(self, records: RecordFinder, budget: ReadBudget) -> None:
        self._records = records
        self._budget = budget

    async def show(self, request: PageRequest) -> Page:
        """Return the record of the match that is named, or why there is none."""
        if not _MATCH_ID.fullmatch(request.name):
            sentence = f"A match is 32 digits of 0-9 and a-f, not {request.name[:40]!a}."
            return text_page(sentence, HTTPStatus.BAD_REQUEST)
        refusal = self._budget.try_read(request.address)
        if refusal is not None:
            return refusal
        try:
            text = await self._records.read(request.name)
        except (RedisError, OSError, RecordUnavailable):
            return text_page("Records cannot be read right now; try again.", HTTPStatus.SERVICE_UNAVAILABLE)
        if text is None:
            return text_page("No record of this match is kept.", HTTPStatus.NOT_FOUND)
        self._budget.take(request.address, text.count(b"\n") // READ_FOR_TOKEN)
        return Page(text, LINES)
