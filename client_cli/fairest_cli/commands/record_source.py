"""The record that a command line names: a file, or the id of a match whose record a server keeps."""

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

RECORD_HELP: Final = "The file of a record, or the id of a match, to ask --server for it."
RecordSource = Annotated[str, typer.Argument(metavar="RECORD", help=RECORD_HELP)]


def is_match_id(text: str) -> bool:
    """Return whether this is the id of a match: 32 hexadecimal digits."""
    return re.fullmatch(r"[0-9a-fA-F]{32}", text) is not None


def read_record_text(source: str, server: str) -> str:
    """Return the text of a record: of the file `source`, or of the match of this id from the server.

    Ends the program, with a sentence, when there is no such record, and when the server's does not prove itself.
    """
    file = Path(source)
    if is_match_id(source) and not file.exists():
        try:
            return asyncio.run(fetch_record(server, source.lower()))
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
