"""The record that a command line names: a file, the id of a match whose record a server keeps, or a link to it."""

from typing import Annotated, Final

import typer

from fairest_cli.commands.options import fail
from fairest_cli.exit_codes import BROKEN_SEAL
from fairest_cli.records.record_check import WrongRecord
from fairest_cli.session.record_source import RecordUnavailable, read_record_text
from fairest_cli.text.verification import describe_wrong

RECORD_HELP: Final = "The file of a record, the id of a match, to ask --server for it, or the link of a match's page."
RecordSource = Annotated[str, typer.Argument(metavar="RECORD", help=RECORD_HELP)]


def find_record_text(source: str, server: str) -> str:
    """Return the text of the record that a command line names.

    Ends the program, with a sentence, when there is no such record, and when the server's does not prove itself.
    """
    try:
        return read_record_text(source, server)
    except RecordUnavailable as reason:
        fail(str(reason))
    except WrongRecord as reason:
        print(describe_wrong(reason))
        raise SystemExit(BROKEN_SEAL) from None
