"""The tokens that the pages which read from Redis or an archive may cost an address, all of them together."""

import time
from collections.abc import Callable
from http import HTTPStatus
from math import ceil

from fairest_server.edge.address_limits import AddressBuckets
from fairest_server.edge.admission import Admission
from fairest_server.edge.http_pages import PageRefused, text_page
from fairest_server.edge.message_costs import LOG_READ_TOKENS
from fairest_server.edge.request_refused import RequestRefused
from fairest_server.ops.metrics import TurnedAway
from fairest_server.settings import Settings


class ReadBudget:
    """A bucket of tokens for each address: it may read over HTTP what one connection may by `get_record`."""

    def __init__(
        self, admission: Admission, settings: Settings, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._admission = admission
        burst_seconds = settings.messages_burst / settings.messages_per_second
        self._tokens = AddressBuckets(settings.messages_burst, monotonic, burst_seconds)

    def charge(self, address: str, tokens: int = LOG_READ_TOKENS) -> None:
        """Take what one read costs, that of a record by default; raise `PageRefused` if the address has no token.

        Call it before reading: any number of requests could come meanwhile. A refused read takes nothing.
        """
        if self.may_read(address, tokens):
            return
        wait_seconds = ceil(self._tokens.take(address, 0)) + 1
        sentence = f"Your address has read many pages lately; try again in {wait_seconds} seconds."
        refused = RequestRefused(HTTPStatus.TOO_MANY_REQUESTS, TurnedAway.RECORDS, sentence)
        self._admission.count_refusal(address, refused)
        raise PageRefused(text_page(sentence, refused.status, wait_seconds))

    def may_read(self, address: str, tokens: int = LOG_READ_TOKENS) -> bool:
        """Take what one read costs; return False, and take nothing, if the address has no token. As `charge`."""
        has_token = self._tokens.has_token(address)
        if has_token:
            self._tokens.take(address, tokens)
        return has_token

    def take(self, address: str, tokens: int) -> None:
        """Take these tokens as well, on credit if there are fewer."""
        self._tokens.take(address, tokens)
