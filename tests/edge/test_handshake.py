"""The answer to `hello`."""

from collections.abc import Sequence

import pytest
from redis.asyncio import Redis

from fairest_protocol.messages.codec import ProtocolViolation
from fairest_protocol.messages.from_client import Hello
from fairest_protocol.messages.from_server import Refused, Welcome
from fairest_protocol.messages.refusals import Breach
from fairest_protocol.version import installed_version
from fairest_server.edge.handshake import Handshake
from fairest_server.live.room_server import RoomServer
from fairest_server.store.bans import Ban
from fairest_server.store.player_rooms import PlayerRooms
from fairest_server.store.players import Players
from tests.support.room_server import rooms
from tests.support.wire_client import open_raw_client

__all__ = ["rooms"]


async def test_the_welcome_says_which_version_the_server_runs(server_url: str) -> None:
    async with open_raw_client(server_url) as client:
        await client.send(Hello())
        assert (await client.receive_a(Welcome)).version == installed_version()


class OneHello:
    """An inbox with one `hello`."""

    def __init__(self, token: str) -> None:
        self._hello = Hello(token=token)

    async def receive(self) -> Hello:
        return self._hello

    def throttle(self) -> None:
        raise AssertionError("the first hello is answered")


@pytest.mark.parametrize("is_player", [True, False])
async def test_a_ban_that_comes_while_a_player_is_looked_up_holds(
    redis: Redis, rooms: RoomServer, is_player: bool
) -> None:
    players = Players(redis)
    player, token = await players.enroll("ann")

    class BanningRooms(PlayerRooms):
        """The rooms of a player, who is banned when they are asked for."""

        async def open_rooms(self, player_id: str) -> Sequence[str]:
            banned = {"player": player_id, "name": "ann"} if is_player else {"network": "203.0.113.0/24"}
            rooms.bans.replace([Ban(**banned, since_ms=0, until_ms=None, reason=None)])
            return await super().open_rooms(player_id)

    def refuse(answer: Refused) -> None:
        raise AssertionError(answer)

    handshake = Handshake(players, BanningRooms(redis), rooms, lambda _: True, 60)
    with pytest.raises(ProtocolViolation) as reason:
        await handshake.accept(OneHello(token), "203.0.113.7", refuse)  # type: ignore[arg-type]
    assert (reason.value.breach, player.name) == (Breach.BANNED, "ann")
