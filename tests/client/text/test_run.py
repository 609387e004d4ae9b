"""Sessions of the text client against a real server."""

import asyncio

from fairest_cli.bots.levels import Level
from fairest_cli.text.run import let_bot_play
from fairest_protocol.messages.from_client import Create, Join
from fairest_protocol.messages.options import RoomOptions
from tests.support.bots import bot
from tests.support.processes import Fleet


async def test_a_bot_says_by_its_name_that_it_is_a_program(fleet: Fleet) -> None:
    url = await fleet.start()
    person = bot(url, Create(options=RoomOptions(countdown_seconds=0)))
    racing = asyncio.create_task(person.race())
    await let_bot_play(url, Join(room=await person.connection.entered()), Level.CARELESS, pace_seconds=0)
    await racing
    assert person.record is not None
    assert person.record.names[1].startswith("bot-careless-")
