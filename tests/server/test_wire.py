"""The ways past the queues of the library: frames as it writes them, and words that keep their order."""

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from websockets.frames import Frame, Opcode

from protocol.calculation.moves import MOVES
from protocol.messages.codec import encode
from protocol.messages.from_client import GetRecord, Play
from protocol.messages.from_server import Refused
from protocol.messages.refusals import Refusal
from server.app import running
from server.settings import Settings
from server.wire import frame_text
from tests.talker import Talker, two_racing

MOVE = MOVES["sa"]


@pytest.mark.parametrize("size", [0, 1, 125, 126, 127, 65_535, 65_536, 70_000])
def test_a_frame_is_the_one_that_the_library_writes(size: int) -> None:
    data = b"x" * size
    assert frame_text(data) == Frame(Opcode.TEXT, data).serialize(mask=False)


@asynccontextmanager
async def racing(redis_url: str, **limits: int) -> AsyncIterator[Talker]:
    """A player whose race is on, at a server with these limits."""
    settings = Settings.model_validate({"port": 0, "redis_url": redis_url, **limits})
    async with running(settings) as url, two_racing(url) as (player, _):
        yield player


async def test_words_that_come_in_parts_keep_their_place_among_those_that_come_whole(redis_url: str) -> None:
    chance = random.Random(1)
    async with racing(redis_url) as player:
        for number in range(1, 31):
            text = encode(Play(number=number, move=MOVE)).decode()
            cut = chance.randrange(len(text))
            await player.socket.send([text[:cut], text[cut:]] if chance.random() < 0.3 else text)
        scene = await player.hear_until(lambda scene: scene.seats[0].moves == 30)
        assert scene.seats[0].moves == 30


async def test_words_beyond_the_limit_wait_behind_those_within_it(redis_url: str) -> None:
    async with racing(redis_url, messages_burst=12, messages_per_second=100) as player:
        for number in range(1, 31):
            await player.say(Play(number=number, move=MOVE))
        scene = await player.hear_until(lambda scene: scene.seats[0].moves == 30)
        assert scene.seats[0].moves == 30


async def test_a_word_does_not_overtake_one_that_takes_longer(redis_url: str) -> None:
    """The refused record is asked of Redis; the move behind it is one too far, and refused at once."""
    async with racing(redis_url) as player:
        await player.say(GetRecord())
        await player.say(Play(number=9, move=MOVE))
        answers = [(await player.hear_a(Refused)).code for _ in range(2)]
        assert answers == [Refusal.NO_RECORD, Refusal.NUMBER_FUTURE]
