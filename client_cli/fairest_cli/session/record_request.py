"""The request for the record of one match, by its id."""

from fairest_cli.records.record_check import WrongRecord, verify_record
from fairest_cli.session.one_request import ask_once
from fairest_protocol.messages.from_client import GetRecord
from fairest_protocol.messages.from_server import MatchRecord


async def fetch_record(server_url: str, match_id: str) -> str:
    """Return the text of the record that a server keeps of a match, as its file has it, after proving it.

    Raises `Rejected`, and `WrongRecord` for a record that does not prove itself or is of another match.
    """
    message = await ask_once(
        server_url,
        None,
        request=lambda _: GetRecord(match=match_id),
        answer=lambda message: message if isinstance(message, MatchRecord) else None,
    )
    text = "".join(f"{line}\n" for line in message.lines)
    record, checks = verify_record(text)
    for _ in checks:
        pass
    if record.match_id != match_id:
        raise WrongRecord(f"The server sent the record of the match {record.match_id}, and not of {match_id}.")
    return text
