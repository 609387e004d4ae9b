"""The examples of docs/protocol.md are what a server of today says: each is run against a real one.

To add an example, add a function with the name of its first message that runs it. `python docs/exchange.py` records the
exchange at the end anew.
"""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from docs.exchange import HEADING, PAGE, record_exchange
from fairest_protocol.messages.from_client import Create
from fairest_protocol.messages.from_server import LobbyPage, Refused, View
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.messages.tournaments import Tournament
from tests.support.round_chain import chain_of, get_json
from tests.support.waiting import until
from tests.support.wire_client import open_client, racing_players

BLOCK = re.compile(r"^```(?:text|json)\n((?:[<>] )?\{.*?)\n```$", re.DOTALL | re.MULTILINE)
BEFORE, _, EXCHANGE = PAGE.read_text("utf-8").partition(HEADING)
OMITTED = "..."
BY_CHANCE = {"turned", "stopped", "placed"}
"""Entries and messages that another race has at other places, or not at all: they depend on the cards and on time."""

Messages = list[dict[str, Any]]


def messages_of(block: str) -> Messages:
    """Return the messages of an example."""
    return [json.loads(line.lstrip("<> ")) for line in block.splitlines() if line != OMITTED]


EXAMPLES = {messages[0]["type"]: messages for messages in map(messages_of, BLOCK.findall(BEFORE))}
"""The examples before the exchange, by the type of their first message."""


def shape(value: Any) -> Any:
    """Return the keys of all objects in a value; a text that holds an object counts as this object."""
    if isinstance(value, str) and value.startswith("{") and OMITTED not in value[-4:]:
        return shape(json.loads(value))
    if isinstance(value, dict):
        return {key: shape(each) for key, each in value.items()}
    if isinstance(value, list):
        shapes = {json.dumps(shape(each), sort_keys=True) for each in value if each != OMITTED}
        return sorted(shapes - {"null"})
    return None


def entries_and_messages(lines: list[str]) -> list[tuple[str, dict[str, Any]]]:
    """Return what stands in an exchange: all messages, with the entries in the place of views, each with its side."""
    found = []
    for line in lines:
        if line != OMITTED:
            message = json.loads(line[2:])
            found += [(line[0], each) for each in message.get("entries", [message])]
    return found


def shapes(lines: list[str]) -> dict[str, Any]:
    """Return the shape of each type of message and entry that the server has sent."""
    return {each["type"]: shape(each) for side, each in entries_and_messages(lines) if side == "<"}


def course(lines: list[str]) -> list[str]:
    """Return the types of messages and entries in order, without those of the other seat."""
    return [
        f"{side} {each['type']}"
        for side, each in entries_and_messages(lines)
        if each.get("seat") != 1 and each["type"] not in BY_CHANCE
    ]


SHOWN = [line for line in EXCHANGE.splitlines() if line.startswith(("> {", "< {"))]


async def test_the_exchange_takes_the_course_that_the_page_shows(server_url: str) -> None:
    assert course(await record_exchange(server_url)) == course(SHOWN)


async def test_what_a_server_sends_in_the_exchange_has_the_keys_that_the_page_shows(server_url: str) -> None:
    said, shown = shapes(await record_exchange(server_url)), shapes(SHOWN)
    for each in BY_CHANCE:
        said.setdefault(each, shown.get(each))
        shown.setdefault(each, said[each])
    assert said == shown


async def get_lobby(url: str, shown: Messages) -> None:
    """A player waits in a listed room."""
    asked, answer = shown
    async with open_client(url, name="ann") as ann:
        await ann.enter(Create(options=RoomOptions(best_of=3, listed=True)))
        await ann.send(json.dumps(asked))
        await ann.receive_a(LobbyPage)
        assert shape(json.loads(ann.frames[-1])) == shape(answer)


async def queue(url: str, shown: Messages) -> None:
    """A player begins to wait for an opponent, and waits no longer."""
    asked, answer, leaving, left = shown
    async with open_client(url) as client:
        for message, expected in ((asked, answer), (leaving, left)):
            await client.send(json.dumps(message))
            await client.receive()
            assert shape(json.loads(client.frames[-1])) == shape(expected)


async def daily(url: str, shown: Messages) -> None:
    """A player asks a server that has no deal of this day."""
    async with open_client(url) as client:
        for asked in shown:
            await client.send(json.dumps(asked))
            refused = await client.receive_a(Refused)
            assert (refused.to, refused.id) == (asked["type"], asked["id"])


async def create_tournament(url: str, shown: Messages) -> None:
    """A player creates a tournament, and asks for things for which it is too early."""
    async with open_client(url) as client:
        await client.send(json.dumps(shown[0]))
        code = (await client.receive_a(Tournament)).code
        for asked in shown[1:]:
            await client.send(json.dumps({**asked, "tournament": code}))
            await client.receive()
            assert json.loads(client.frames[-1])["id"] == asked["id"]


async def resume(url: str, shown: Messages) -> None:
    """A player comes back to its race with the position and the tag of its last view: nothing was missed."""
    (asked,) = shown
    async with racing_players(url) as (first, _):
        await first.play("sa")
        async with open_client(url, token=first.token) as again:
            own = {"room": first.room, "position": first.position, "tag": first.tag}
            assert set(own) < set(asked)
            again.scene, again.position = first.scene, first.position
            await again.send(json.dumps({**asked, **own}))
            assert (await again.receive_a(View)).first == first.position + 1


async def rounds(url: str, shown: Messages) -> None:
    """A round was opened."""
    assert shape(await rounds_page_of(url, "/rounds")) == shape(shown[0])


async def rounds_page(url: str, shown: Messages) -> None:
    """A round was opened. The page omits most of the text of an entry."""
    page = await rounds_page_of(url, "/rounds?page=0")
    assert page["lines"]
    assert shape({**page, "lines": []}) == shape({**shown[0], "lines": []})


async def rounds_page_of(url: str, path: str) -> Any:
    """Let a round be opened; return a page of the chain as soon as the round stands in it."""
    async with racing_players(url):
        await until(lambda: chain_of(url), "the round stands in the chain")
    return await asyncio.to_thread(get_json, url, path)


RUN: dict[str, Callable[[str, Messages], Awaitable[None]]] = {
    each.__name__: each for each in (get_lobby, queue, daily, create_tournament, resume, rounds, rounds_page)
}


@pytest.mark.parametrize("name", RUN)
async def test_a_server_answers_an_example_as_the_page_shows(server_url: str, name: str) -> None:
    await RUN[name](server_url, EXAMPLES[name])


def test_every_example_is_run() -> None:
    assert set(EXAMPLES) == set(RUN)
