"""The record that a command line names: a file, the id of a match whose record a server keeps, or a link to it."""

import asyncio
import re
from pathlib import Path
from typing import Annotated, Final

import typer

from fairest_cli.commands.options import fail
from fairest_cli.exit_codes import BROKEN_SEAL
from fairest_cli.records.files import read_bounded
from fairest_cli.records.record_check import WrongRecord
from fairest_cli.session.record_request import fetch_record
from fairest_cli.session.websocket import Rejected
from fairest_cli.untrusted_text import clean
from fairest_protocol.calculation.record import BadRecord

RECORD_HELP: Final = "The file of a record, the id of a match, to ask --server for it, or the link of a match's page."
RecordSource = Annotated[str, typer.Argument(metavar="RECORD", help=RECORD_HELP)]


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


def read_record_text(source: str, server: str) -> str:
    """Return the text of a record: of the file `source`, or from a server of the match that it names (`match_of`).

    Ends the program, with a sentence, when there is no such record, and when the server's does not prove itself.
    """
    file, match = Path(source), match_of(source, server)
    if match is not None and not file.exists():
        try:
            return asyncio.run(fetch_record(*match))
        except Rejected as reason:
            fail(str(reason))
        except WrongRecord as reason:
            print(f"WRONG: {clean(str(reason))}")
            raise SystemExit(BROKEN_SEAL) from None
    try:
        return read_bounded(file)
    except OSError as reason:
        fail(f"cannot read {file}: {reason.strerror}")
    except BadRecord as reason:
        print(f"WRONG: {clean(str(file))} is not a record: {reason}.")
        raise SystemExit(BROKEN_SEAL) from None
