"""Our clients race on a server of a later version, which adds what version 1 of the protocol may grow by."""

import asyncio
import random

import pytest

from fairest_cli.bots.levels import Level
from fairest_cli.bots.player import play_match
from fairest_cli.records.record_check import verify_record
from fairest_cli.session.connection import Connection
from fairest_cli.session.identity import Identity
from fairest_cli.session.websocket import Rejected
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.messages.from_client import Create, Join, Play
from fairest_protocol.messages.from_server import MatchRecord, Refused, UnknownMessage
from tests.support.newer_server import NEEDS_MORE, NewerServer, newer_server
from tests.support.wire_client import QUICK, open_client


async def race_on(server: NewerServer) -> MatchRecord:
    """Let two bots of ours race; return the record."""
    first = Connection(server.url, Identity(), Create(options=QUICK))
    hosting = asyncio.create_task(play_match(first, Level.CARELESS, random.Random(1), 0))
    second = Connection(server.url, Identity(), Join(room=await first.entered()))
    record, _ = await asyncio.gather(hosting, play_match(second, Level.CARELESS, random.Random(2), 0))
    assert record is not None
    return record


async def test_our_client_races_on_a_server_that_adds_fields_entries_and_messages(server_url: str) -> None:
    async with newer_server(server_url) as newer:
        record = await race_on(newer)
        added = newer.added
    assert added["fields"] > 0 and added["entries"] > 0 and added["messages"] > 0
    _, checks = verify_record("".join(f"{line}\n" for line in record.lines))
    assert list(checks)


async def test_our_client_resumes_on_a_server_that_adds_entries(server_url: str) -> None:
    async with newer_server(server_url, views_until_cut=40) as newer:
        await race_on(newer)
        assert newer.resumes == 1


async def test_a_move_refused_for_a_new_reason_is_not_made(server_url: str) -> None:
    async with newer_server(server_url) as newer, open_client(newer.url) as client:
        await client.enter(Create(options=QUICK))
        refused = await client.expect_refusal(Play(number=1, move=MOVES["sa"]))
        assert (refused.code, type(refused)) == ("not_on_a_sunday", Refused)


async def test_a_message_of_a_new_type_is_passed_over(server_url: str) -> None:
    async with newer_server(server_url) as newer, open_client(newer.url) as client:
        assert await client.receive() == UnknownMessage()


async def test_a_server_that_needs_a_capability_is_left_with_its_sentence(server_url: str) -> None:
    async with newer_server(server_url, needs_more=True) as newer:
        client = Connection(newer.url, Identity(), Create(options=QUICK))
        with pytest.raises(Rejected, match=f"^{NEEDS_MORE['sentence']}$"):
            await play_match(client, Level.CARELESS, random.Random(1), 0)
