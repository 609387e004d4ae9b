"""The page of a match with its social card in the head, and the picture of the card."""

import gzip
import html
import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Final

from redis.exceptions import RedisError

from fairest_protocol.value import Value
from fairest_server.edge.card_picture import draw_card
from fairest_server.edge.http_pages import Page, PageRefused, PageRequest, not_found, unavailable
from fairest_server.edge.match_card import MatchCard, read_card
from fairest_server.edge.page_files import PageFiles
from fairest_server.edge.read_budget import ReadBudget
from fairest_server.live.record_finder import RecordFinder, RecordUnavailable
from fairest_server.live.slices import Slices

PICTURE: Final = ".svg"
PICTURE_TYPE: Final = "image/svg+xml"
CARDS_KEPT: Final = 200
"""Cards that a process keeps: some 3 MB."""
PICTURE_CACHE: Final = "public, max-age=86400"
"""A record never changes; the way in which its picture is drawn may, with the next version."""
PICTURE_FIELDS: Final = (
    ("Content-Security-Policy", "default-src 'none'; sandbox"),
    ("Vary", "Accept-Encoding"),
)
_MATCH_ID: Final = re.compile("[0-9a-f]{32}")


class _Kept(Value):
    """A card, and its picture compressed with gzip."""

    card: MatchCard
    picture: bytes


class MatchCards:
    """The pages `/m/ID` and `/m/ID.svg`. Reading a record for them costs an address what the record itself does."""

    def __init__(self, files: PageFiles, records: RecordFinder, slices: Slices, budget: ReadBudget) -> None:
        self._files = files
        self._records = records
        self._slices = slices
        self._budget = budget
        self._kept: dict[str, _Kept] = {}

    async def show(self, request: PageRequest) -> Page:
        """Return the markup of the page of a match, or with `.svg` behind the id the picture of its card.

        The markup is that of every page, with the card in its head if the record can be read now. Without a record it
        is the same, with the status 404.
        """
        match_id = request.name.removesuffix(PICTURE)
        if not _MATCH_ID.fullmatch(match_id):
            return self._files.index(request, status=HTTPStatus.NOT_FOUND)
        try:
            found = await self._find(match_id, request.address)
        except PageRefused as refusal:
            if request.name.endswith(PICTURE):
                raise
            missing = refusal.page.status is HTTPStatus.NOT_FOUND
            return self._files.index(request, status=HTTPStatus.NOT_FOUND if missing else HTTPStatus.OK)
        if request.name.endswith(PICTURE):
            return _show_picture(found, request)
        return self._files.index(request, title=found.card.title, head=_head(found.card, match_id, request))

    async def _find(self, match_id: str, address: str) -> _Kept:
        """Return the card of a match. Raises `PageRefused` if there is none."""
        if match_id in self._kept:
            # The last one asked for is the last one forgotten.
            kept = self._kept[match_id] = self._kept.pop(match_id)
            return kept
        self._budget.charge(address)
        try:
            content = await self._records.read(match_id)
        except (RedisError, OSError, RecordUnavailable) as reason:
            raise unavailable() from reason
        card = None if content is None else await self._slices.finish(read_card(content))
        if card is None:
            raise not_found("No record of this match is kept.")
        kept = self._kept[match_id] = _Kept(card, gzip.compress(draw_card(card), mtime=0))
        if len(self._kept) > CARDS_KEPT:
            del self._kept[next(iter(self._kept))]
        return kept


def _show_picture(kept: _Kept, request: PageRequest) -> Page:
    if request.accepts_gzip:
        fields = (*PICTURE_FIELDS, ("Content-Encoding", "gzip"))
        return Page(kept.picture, PICTURE_TYPE, cache=PICTURE_CACHE, fields=fields)
    return Page(gzip.decompress(kept.picture), PICTURE_TYPE, cache=PICTURE_CACHE, fields=PICTURE_FIELDS)


def _head(card: MatchCard, match_id: str, request: PageRequest) -> str:
    """Return the elements of the head that sites read which show a link."""
    page = f"{request.origin}/m/{match_id}"
    properties: Mapping[str, str] = {
        "og:type": "website",
        "og:site_name": "Fairest",
        "og:title": card.title,
        "og:description": card.description,
        "og:url": page,
        "og:image": page + PICTURE,
        "og:image:type": PICTURE_TYPE,
        "og:image:width": "1200",
        "og:image:height": "630",
        "og:image:alt": f"The final boards of {card.title}",
    }
    named = {"description": card.description, "twitter:card": "summary_large_image"}
    lines = [f'<meta name="{name}" content="{html.escape(text)}">' for name, text in named.items()]
    lines += [f'<meta property="{name}" content="{html.escape(text)}">' for name, text in properties.items()]
    return "\n".join(lines)
