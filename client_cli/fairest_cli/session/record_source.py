"""The text of a record: from a file, or from a server by the id of the match or a link to it."""

import asyncio
import re
from pathlib import Path
from urllib.parse import urlsplit

from fairest_cli.records.files import read_bounded
from fairest_cli.records.record_check import WrongRecord
from fairest_cli.session.record_request import fetch_record
from fairest_cli.session.websocket import Rejected
from fairest_protocol.calculation.record import BadRecord


class RecordUnavailable(Exception):
    """There is no such file, or the server does not send the record; the text says why."""


def is_match_id(text: str) -> bool:
    """Return whether this is the id of a match: 32 hexadecimal digits."""
    return re.fullmatch(r"[0-9a-fA-F]{32}", text) is not None


def match_of(source: str, server: str) -> tuple[str, str] | None:
    """Return the server and the id of the match that `source` names, or None if it can only be a file.

    `source` is an id, for which `server` is asked, or a link such as `https://play.example/m/<id>`, which names both.
    """
    if is_match_id(source):
        return server, source.lower()
    link = re.fullmatch(r"http(s?)://([^/?#@\s]+)/(?:m|records)/([0-9a-fA-F]{32})/?", source)
    return None if link is None else (f"ws{link[1]}://{link[2]}", link[3].lower())


def match_page(server: str, match_id: str) -> str:
    """Return the link to the page of a match on a server, from which `match_of` reads both again."""
    parts = urlsplit(server)
    return f"{parts.scheme.replace('ws', 'http')}://{parts.netloc}/m/{match_id}"


def read_record_text(source: str, server: str) -> str:
    """Return the text of a record: of the file `source`, or from a server of the match that it names (`match_of`).

    Raises `RecordUnavailable`, and `WrongRecord` for a text that cannot be a record or does not prove itself. Blocks on
    the network; call it outside of an event loop.
    """
    file, match = Path(source).expanduser(), match_of(source, server)
    if match is not None and not file.exists():
        try:
            return asyncio.run(fetch_record(*match))
        except Rejected as reason:
            raise RecordUnavailable(str(reason)) from reason
    try:
        return read_bounded(file)
    except (OSError, ValueError) as reason:
        if isinstance(reason, BadRecord):
            raise WrongRecord(f"{file} is not a record: {reason}.") from reason
        # ValueError: a path with a null character.
        why = reason.strerror if isinstance(reason, OSError) else str(reason)
        raise RecordUnavailable(f"cannot read {file}: {why}") from reason
