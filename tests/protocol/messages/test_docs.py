"""The examples in docs/protocol.md are messages of this protocol: every line of them goes through the codec."""

import json
from pathlib import Path
from typing import Any

from fairest_protocol.messages.codec import decode_from_client, decode_from_server

PAGE = (Path(__file__).parents[3] / "docs" / "protocol.md").read_text()
LINES = [line for line in PAGE.splitlines() if line.startswith(("> {", "< {"))]
EXCHANGE = [line for line in PAGE.split("## A whole exchange")[1].splitlines() if line in LINES]


def without_dots(value: Any) -> Any:
    """Return the value without the three dots that mark omissions in the examples."""
    if isinstance(value, list):
        return [without_dots(each) for each in value if each != "..."]
    return {key: without_dots(each) for key, each in value.items()} if isinstance(value, dict) else value


def fault_of(line: str) -> str:
    """Return what is wrong with a line of an example; no text if it is a message of the protocol."""
    try:
        fields = without_dots(json.loads(line[2:]))
        decoded = (decode_from_client if line[0] == ">" else decode_from_server)(json.dumps(fields))
    except ValueError as error:
        return str(error)
    return "" if decoded.type == fields["type"] else f"it is decoded as {decoded.type}"


def test_each_line_of_an_example_is_a_message_of_the_protocol() -> None:
    assert {line[:40]: fault for line in LINES if (fault := fault_of(line))} == {}


def test_the_exchange_shows_a_whole_race() -> None:
    sent = [json.loads(line[2:])["type"] for line in EXCHANGE if line[0] == ">"]
    assert [kind for kind in sent if kind != "play"] == ["hello", "create", "ready", "reveal", "get_record", "leave"]
