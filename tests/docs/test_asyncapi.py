"""The AsyncAPI document: its examples are messages, its patterns those of the game, its replies those of a server."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

from docs.asyncapi import CHANNEL
from fairest_protocol.calculation.cards import full_deck
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.messages.codec import ProtocolViolation, decode_from_client, decode_from_server
from fairest_protocol.messages.from_client import FromClient, GetRecord, Leave, Play
from fairest_protocol.messages.from_server import FromServer, MatchRecord
from fairest_protocol.messages.refusals import Breach, CloseCode
from tests.support.long_tests import parametrize_with_long
from tests.support.wire_client import WireClient, open_raw_client, racing_players

DOCUMENT = json.loads((Path(__file__).parents[2] / "docs/asyncapi.json").read_text())
MESSAGES = DOCUMENT["components"]["messages"]
SCHEMAS = DOCUMENT["components"]["schemas"]
OPERATIONS = DOCUMENT["operations"]
CLOSE_CODES = DOCUMENT["channels"]["race"]["x-close-codes"]
CLIENTS = [name for name, each in MESSAGES.items() if each["tags"] == [{"name": "client"}]]
SERVERS = [name for name, each in MESSAGES.items() if each["tags"] == [{"name": "server"}]]
PRINTABLE = [chr(code) for code in range(33, 127)]


def example_of(name: str) -> Any:
    examples = MESSAGES[name]["examples"]
    assert len(examples) == 1, name
    return examples[0]["payload"]


def faults(name: str, value: Any) -> list[str]:
    """Return all that the schema of this name finds wrong with a value."""
    schema = {"$ref": f"#/components/schemas/{name}", "components": DOCUMENT["components"]}
    return [each.message for each in Draft7Validator(schema).iter_errors(value)]


def names_of(references: list[dict[str, str]]) -> set[str]:
    """Return the names of the messages that these references lead to."""
    return {each["$ref"].removeprefix(f"{CHANNEL}/messages/") for each in references}


def replies_to(name: str) -> set[str]:
    """Return the names of the messages that answer the request of this name."""
    return names_of(OPERATIONS[MESSAGES[name]["name"]]["reply"]["messages"])


def decoded_as(name: str, decode: Callable[[str], FromClient | FromServer]) -> str:
    """Return the name of the message that an example is decoded as, or the sentence of the violation."""
    try:
        return type(decode(json.dumps(example_of(name)))).__name__
    except ProtocolViolation as broken:
        return broken.sentence


def test_the_example_of_each_request_is_decoded_as_that_request() -> None:
    assert {name: decoded_as(name, decode_from_client) for name in CLIENTS} == {name: name for name in CLIENTS}


def test_the_example_of_each_answer_is_decoded_as_that_answer() -> None:
    assert {name: decoded_as(name, decode_from_server) for name in SERVERS} == {name: name for name in SERVERS}


def test_each_example_fits_its_schema() -> None:
    assert {name: found for name in MESSAGES if (found := faults(name, example_of(name)))} == {}


@parametrize_with_long("name", CLIENTS, quick=10)
async def test_a_server_answers_an_example_with_one_of_its_replies(name: str, server_url: str) -> None:
    async with open_raw_client(server_url) as client:
        if name != "Hello":
            await client.send(json.dumps(example_of("Hello")))
            await client.receive()
        await client.send(json.dumps(example_of(name)))
        answer = await client.receive()
    assert type(answer).__name__ in replies_to(name)


async def accepted(client: WireClient, request: FromClient) -> bool:
    """Send a request; return whether one of its replies, and not a refusal, comes."""
    await client.send(request)
    while True:
        answer = type(await client.receive()).__name__
        if answer in replies_to(type(request).__name__):
            return answer != "Refused"


async def test_each_request_of_a_race_gets_one_of_its_replies(server_url: str) -> None:
    move, resignation = Play(number=1, move=MOVES["sa"]), Play(number=2, move=MOVES["resign"])
    requests: list[FromClient] = [move, move, resignation, GetRecord(), Leave()]
    async with racing_players(server_url) as (first, _):
        answers = [await accepted(first, request) for request in requests]
    assert answers == [True] * len(requests)


async def test_every_frame_of_a_match_fits_its_schema(server_url: str) -> None:
    async with racing_players(server_url) as (first, second):
        await first.play("sa")
        await second.play("resign")
        await second.send(GetRecord())
        await second.receive_a(MatchRecord)
        messages = list(zip(second.received, second.frames, strict=True))
    wrong = [(frame, faults(type(message).__name__, json.loads(frame))) for message, frame in messages]
    assert [(frame, found) for frame, found in wrong if found] == []


def test_every_request_has_an_operation_with_replies() -> None:
    assert {MESSAGES[name]["name"] for name in CLIENTS} == {
        name for name, each in OPERATIONS.items() if "reply" in each
    }


def test_every_message_of_a_server_belongs_to_an_operation() -> None:
    sent = [each.get("reply", each)["messages"] for each in OPERATIONS.values()]
    assert set().union(*map(names_of, sent)) == set(SERVERS)


def test_the_pattern_of_a_card_is_that_of_two_decks() -> None:
    pattern = re.compile(SCHEMAS["Card"]["pattern"])
    texts = {first + second for first in PRINTABLE for second in PRINTABLE}
    assert {text for text in texts if pattern.search(text)} == set(full_deck(2))


def test_the_pattern_of_a_move_is_that_of_all_moves() -> None:
    pattern = re.compile(SCHEMAS["Move"]["pattern"])
    texts = {first + second for first in PRINTABLE for second in PRINTABLE} | {*MOVES, "redea", "stops", "Resign"}
    assert {text for text in texts if pattern.search(text)} == set(MOVES)


@pytest.mark.parametrize("field", ["foundations", "piles"])
def test_a_board_holds_cards_in_its_stacks(field: str) -> None:
    assert SCHEMAS["Board"]["properties"][field]["items"]["items"] == {"$ref": "#/components/schemas/Card"}


def test_a_board_turns_a_card() -> None:
    assert {"$ref": "#/components/schemas/Card"} in SCHEMAS["Board"]["properties"]["turned"]["anyOf"]


def test_all_close_codes_are_listed() -> None:
    assert [each["code"] for each in CLOSE_CODES] == [int(code) for code in CloseCode]


def test_each_breach_has_a_close_code() -> None:
    assert {error for each in CLOSE_CODES for error in each["errors"]} == {str(breach) for breach in Breach}
