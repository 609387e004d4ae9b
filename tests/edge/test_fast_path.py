"""The paths past the queues of the library: frames as the library writes them, and messages that keep their order."""

import gc
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from websockets.frames import Frame, Opcode

from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.messages.codec import encode
from fairest_protocol.messages.from_client import GetRecord, Play
from fairest_protocol.messages.from_server import Refused
from fairest_protocol.messages.refusals import Refusal
from fairest_server.edge.frames import frame_text
from fairest_server.edge.incoming import Incoming
from fairest_server.edge.outbox import Outbox
from tests.support.limited import limited_server
from tests.support.wire_client import WireClient, open_client, racing_players

MOVE = MOVES["sa"]


@pytest.mark.parametrize("size", [0, 1, 125, 126, 127, 65_535, 65_536, 70_000])
def test_a_frame_is_the_one_that_the_library_writes(size: int) -> None:
    data = b"x" * size
    assert frame_text(data) == Frame(Opcode.TEXT, data).serialize(mask=False)


@asynccontextmanager
async def racing(redis_url: str, **limits: int) -> AsyncIterator[WireClient]:
    """A player whose race is on, at a server with these limits."""
    async with limited_server(redis_url, **limits) as url, racing_players(url) as (player, _):
        yield player


async def test_messages_that_arrive_in_parts_keep_their_place_among_those_that_arrive_whole(redis_url: str) -> None:
    chance = random.Random(1)
    async with racing(redis_url) as player:
        for number in range(1, 31):
            text = encode(Play(number=number, move=MOVE)).decode()
            cut = chance.randrange(len(text))
            await player.socket.send([text[:cut], text[cut:]] if chance.random() < 0.3 else text)
        scene = await player.receive_until(lambda scene: scene.seats[0].moves == 30)
        assert scene.seats[0].moves == 30


def framed(number: int) -> bytes:
    """A move as a client writes it."""
    return Frame(Opcode.TEXT, encode(Play(number=number, move=MOVE))).serialize(mask=True)


async def test_messages_that_the_network_cuts_anywhere_are_handled_once_and_in_order(server_url: str) -> None:
    async with racing_players(server_url) as (player, other):
        for number in range(1, 48):
            frame = framed(number)
            player.socket.transport.write(frame[:number])
            # When this is answered, the server has read the first part.
            await (await other.socket.ping())
            player.socket.transport.write(frame[number:])
            scene = await player.receive_until(lambda scene: scene.seats[0].moves >= number)  # noqa: B023
            assert scene.seats[0].moves == number


async def test_a_frame_of_a_move_within_another_message_is_not_a_move(server_url: str) -> None:
    """The network cuts exactly that frame out of its message, behind a request that the server has just handled."""
    inner = framed(1)
    not_masked = bytes([0x81, 0x80 | len(inner) + 1, 0, 0, 0, 0])
    async with racing_players(server_url) as (player, other):
        player.socket.transport.write(Frame(Opcode.TEXT, encode(GetRecord())).serialize(mask=True) + not_masked)
        await player.receive_a(Refused)
        for part in (inner, b" "):
            player.socket.transport.write(part)
            await (await other.socket.ping())
        await player.socket.wait_closed()
        async with open_client(server_url, token=player.token) as again:
            assert (await again.resume(player.room)).scene.seats[0].moves == 0


async def test_a_websocket_knows_whether_it_is_between_messages(server_url: str) -> None:
    """Otherwise every message would be queued, which is slower and nothing worse."""
    async with open_client(server_url) as other, open_client(server_url) as player:
        (incoming,) = [each for each in gc.get_objects() if type(each) is Incoming and is_of(each, player)]
        stood = [incoming.is_clear]
        for byte in framed(1):
            player.socket.transport.write(bytes([byte]))
            await (await other.socket.ping())
            stood.append(incoming.is_clear)
        assert stood == [True, *[False] * (len(framed(1)) - 1), True]


def is_of(incoming: Incoming, player: WireClient) -> bool:
    """Whether this is the server's end of the player's connection."""
    (outbox,) = [each for each in gc.get_referents(incoming) if type(each) is Outbox]
    ends = outbox.transport.get_extra_info("peername"), player.socket.transport.get_extra_info("sockname")
    return bool(ends[0] == ends[1])


async def test_messages_that_arrive_together_are_handled_in_order(redis_url: str) -> None:
    async with racing(redis_url) as player:
        for number in range(1, 40, 3):
            player.socket.transport.write(framed(number) + framed(number + 1))
            player.socket.transport.write(framed(number + 2))
        scene = await player.receive_until(lambda scene: scene.seats[0].moves == 39)
        assert scene.seats[0].moves == 39


async def test_the_room_learns_that_a_connection_has_ended_by_a_fault(
    server_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with racing_players(server_url) as (player, other):
        monkeypatch.setattr("fairest_server.edge.session.MakeMove", failing)
        await player.send(Play(number=1, move=MOVE))
        scene = await other.receive_until(lambda scene: not scene.seats[0].is_connected)
    assert scene.seats[0].until_ms is not None


def failing(*_: object) -> None:
    raise RuntimeError("a fault of this test")


async def test_messages_beyond_the_limit_wait_behind_those_within_it(redis_url: str) -> None:
    async with racing(redis_url, messages_burst=12, messages_per_second=100) as player:
        for number in range(1, 31):
            await player.send(Play(number=number, move=MOVE))
        scene = await player.receive_until(lambda scene: scene.seats[0].moves == 30)
        assert scene.seats[0].moves == 30


async def test_a_message_does_not_overtake_one_that_takes_longer(redis_url: str) -> None:
    """The record is looked for in Redis; the move behind it has a number too high, and is refused at once."""
    async with racing(redis_url) as player:
        await player.send(GetRecord())
        await player.send(Play(number=9, move=MOVE))
        answers = [(await player.receive_a(Refused)).code for _ in range(2)]
        assert answers == [Refusal.NO_RECORD, Refusal.NUMBER_FUTURE]
