"""Sessions of the text client against a real server."""

import asyncio
from pathlib import Path

import pytest

from fairest_cli.bots.levels import Level
from fairest_cli.text.run import let_bot_play
from fairest_protocol.messages.from_client import Create, Join, Queue
from fairest_protocol.messages.from_server import Snapshot
from fairest_protocol.messages.options import RoomOptions
from tests.support.bots import bot
from tests.support.processes import CLIENT_COMMAND, Fleet
from tests.support.real_terminal import RealTerminal
from tests.support.wire_client import WireClient, open_client


@pytest.mark.long
async def test_a_bot_says_by_its_name_that_it_is_a_program(fleet: Fleet) -> None:
    url = await fleet.start()
    person = bot(url, Create(options=RoomOptions(countdown_seconds=0)))
    racing = asyncio.create_task(person.race())
    await let_bot_play(url, Join(room=await person.connection.entered()), Level.CARELESS, pace_seconds=0)
    await racing
    assert person.record is not None
    assert person.record.names[1].startswith("bot-careless-")


async def has_written(player: RealTerminal, text: bytes, times: int) -> None:
    await asyncio.to_thread(player.read_until, lambda written: written.count(text) == times)


async def race_by_queue(player: RealTerminal, rival: WireClient, number: int) -> None:
    """Let the rival meet the player, who waits in the queue, and resign as soon as they race, for the time `number`."""
    await rival.send(Queue())
    await rival.receive_a(Snapshot)
    await has_written(player, b"Press Enter when you are ready", number)
    player.type(b"\r")
    await rival.take_part_in_deal()
    await rival.play("resign")
    await has_written(player, b"next for another opponent", number)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["dumb", "xterm-256color"])
async def test_a_typed_word_leads_from_a_quick_race_to_the_next(server_url: str, tmp_path: Path, kind: str) -> None:
    player = RealTerminal(tmp_path, [*CLIENT_COMMAND, "quick", "--plain", "--server", server_url], kind)
    try:
        async with open_client(server_url) as first, open_client(server_url) as second:
            await asyncio.to_thread(player.sees, "You wait for an opponent")
            player.type(b"next\r")
            await asyncio.to_thread(player.sees, "Type next when a quick race is over")
            await race_by_queue(player, first, 1)
            player.type(b"next\r")
            await first.receive_until(lambda seen: None in [seat.name for seat in seen.seats])
            await race_by_queue(player, second, 2)
            player.type(b"leave\r")
            await second.receive_until(lambda seen: None in [seat.name for seat in seen.seats])
    finally:
        player.close()
