"""The handshake of the protocol: the `hello` with which a new connection says which player it speaks for."""

import asyncio
from collections.abc import Callable
from typing import Final

from redis.exceptions import RedisError

from fairest_protocol.messages.capabilities import SERVER_CAPABILITIES
from fairest_protocol.messages.from_client import Hello
from fairest_protocol.messages.from_server import Refused, Welcome
from fairest_protocol.messages.refusals import Refusal
from fairest_protocol.value import replace
from fairest_protocol.version import installed_version
from fairest_server.edge.close_errors import bad_token, banned, hello_first, hello_late
from fairest_server.edge.inbox import Inbox
from fairest_server.live.room_server import RoomServer
from fairest_server.room.refusing import refuse
from fairest_server.store.player_rooms import PlayerRooms
from fairest_server.store.players import NameTaken, Player, Players, TooManyNames, UnknownToken

LISTED_ROOMS: Final = 16
"""The most rooms that `welcome` lists."""
_MANY_NAMES: Final = (
    "Many names were changed from your address lately; keep your old one, or try again in some minutes."
)


class Handshake:
    """Enrols new players and recognises known ones by their tokens. One serves all connections of a process."""

    def __init__(
        self,
        players: Players,
        player_rooms: PlayerRooms,
        rooms: RoomServer,
        may_enroll: Callable[[str], bool],
        hello_seconds: float,
    ) -> None:
        """`may_enroll` counts a new player, or a new name, of an address, and says whether it may have one more."""
        self._players = players
        self._player_rooms = player_rooms
        self._rooms = rooms
        self._may_enroll = may_enroll
        self._hello_seconds = hello_seconds

    async def accept(self, inbox: Inbox, address: str, on_refused: Callable[[Refused], None]) -> tuple[Player, Welcome]:
        """Wait for a `hello` that this server accepts; return its player, and the answer to send.

        A refused client may send `hello` again until `hello_seconds` are over; `on_refused` sends it the reason. Raises
        ProtocolViolation (`hello_first`, `hello_late`, `bad_token`, `banned`, or what `inbox` raises), and
        Disconnected.
        """
        try:
            deadline = asyncio.get_running_loop().time() + self._hello_seconds
            while True:
                # The deadline is for the client alone: calls to Redis have time limits of their own.
                async with asyncio.timeout_at(deadline):
                    message = await inbox.receive()
                if not isinstance(message, Hello):
                    raise hello_first()
                answer = await self._identify(message, address)
                if not isinstance(answer, Refused):
                    player, welcome = answer
                    return player, welcome.with_id(message.id)
                on_refused(answer.with_id(message.id))
                inbox.throttle()
        except TimeoutError:
            raise hello_late() from None

    async def _identify(self, hello: Hello, address: str) -> tuple[Player, Welcome] | Refused:
        token = None
        try:
            if hello.token is not None:
                player = await self._players.recognise(hello.token, hello.name, lambda: self._may_enroll(address))
            elif self._may_enroll(address):
                player, token = await self._players.enroll(hello.name)
            else:
                return refuse("hello", Refusal.TOO_MANY_PLAYERS)
        except UnknownToken:
            raise bad_token() from None
        except NameTaken:
            return refuse("hello", Refusal.NAME_TAKEN)
        except TooManyNames:
            return refuse("hello", Refusal.TOO_MANY_PLAYERS, _MANY_NAMES)
        except (RedisError, OSError):
            return refuse("hello", Refusal.TRY_AGAIN)
        rooms = self._rooms
        seats, tournaments = await self._listed(player.player_id) if token is None else ((), ())
        # Nothing is awaited from here until the session knows its player: a later ban closes it as any other.
        ban = rooms.bans.of_player(player.player_id) or rooms.bans.of_address(address)
        if ban is not None:
            raise banned(ban)
        return replace(player, capabilities=hello.capabilities), Welcome(
            name=player.name,
            token=token,
            key=rooms.key.public,
            now_ms=rooms.clock.now_ms(),
            version=installed_version(),
            rounds=rooms.rounds.head,
            capabilities=SERVER_CAPABILITIES,
            rooms=seats,
            tournaments=tournaments,
        )

    async def _listed(self, player_id: str) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None]:
        """Return the rooms and the tournaments that `welcome` lists; both are read in the same round trips."""
        seats, tournaments = await asyncio.gather(self._seats(player_id), self._tournaments(player_id))
        return seats, tournaments

    async def _tournaments(self, player_id: str) -> tuple[str, ...] | None:
        """Return the newest tournaments in which a player plays; None while they cannot be read."""
        try:
            return tuple(await self._rooms.player_tournaments.active(player_id))
        except (RedisError, OSError):
            return None

    async def _seats(self, player_id: str) -> tuple[str, ...] | None:
        """Return the newest rooms in which a player has a seat; None while they cannot be read.

        Of a room that is open in this process, the state decides; of another one, the list, which a process that is
        killed leaves one change behind.
        """
        try:
            codes = await self._player_rooms.open_rooms(player_id)
        except (RedisError, OSError):
            return None
        return tuple(code for code in codes if self._may_be_seated(player_id, code))[:LISTED_ROOMS]

    def _may_be_seated(self, player_id: str, code: str) -> bool:
        room = self._rooms.registry.rooms.get(code)
        return room is None or room.state is None or room.state.seat_of(player_id) is not None
