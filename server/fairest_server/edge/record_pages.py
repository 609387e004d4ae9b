"""Records over HTTP: the lines of one match, as its file has them."""

import re
import time
from collections.abc import Callable
from http import HTTPStatus
from math import ceil
from typing import Final

from redis.exceptions import RedisError

from fairest_server.edge.address_limits import AddressBuckets
from fairest_server.edge.admission import Admission
from fairest_server.edge.http_pages import Page, PageRequest, text_page
from fairest_server.edge.message_costs import LOG_READ_TOKENS, READ_FOR_TOKEN
from fairest_server.edge.request_refused import RequestRefused
from fairest_server.live.record_finder import RecordFinder, RecordUnavailable
from fairest_server.ops.metrics import TurnedAway
from fairest_server.settings import Settings

LINES: Final = "application/x-ndjson"
_MATCH_ID: Final = re.compile("[0-9a-f]{32}")


class RecordPages:
    """The page of each record. Reading them costs an address what `get_record` costs one connection."""

    def __init__(
        self,
        records: RecordFinder,
        admission: Admission,
        settings: Settings,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._records = records
        self._admission = admission
        burst_seconds = settings.messages_burst / settings.messages_per_second
        self._tokens = AddressBuckets(settings.messages_burst, monotonic, burst_seconds)

    async def show(self, request: PageRequest) -> Page:
        """Return the record of the match that is named, or why there is none."""
        if not _MATCH_ID.fullmatch(request.name):
            sentence = f"A match is 32 digits of 0-9 and a-f, not {request.name[:40]!a}."
            return text_page(sentence, HTTPStatus.BAD_REQUEST)
        if not self._tokens.has_token(request.address):
            return self._refuse(request.address)
        # Taken before the record is read, or any number of requests could come meanwhile.
        self._tokens.take(request.address, LOG_READ_TOKENS)
        try:
            text = await self._records.read(request.name)
        except (RedisError, OSError, RecordUnavailable):
            return text_page("Records cannot be read right now; try again.", HTTPStatus.SERVICE_UNAVAILABLE)
        if text is None:
            return text_page("No record of this match is kept.", HTTPStatus.NOT_FOUND)
        self._tokens.take(request.address, text.count(b"\n") // READ_FOR_TOKEN)
        return Page(text, LINES)

    def _refuse(self, address: str) -> Page:
        wait_seconds = ceil(self._tokens.take(address, 0)) + 1
        sentence = f"Your address has read many records lately; try again in {wait_seconds} seconds."
        refused = RequestRefused(HTTPStatus.TOO_MANY_REQUESTS, TurnedAway.RECORDS, sentence)
        self._admission.count_refusal(address, refused)
        return text_page(sentence, refused.status, wait_seconds)
