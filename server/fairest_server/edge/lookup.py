"""Answers to questions that are about no seat: a record of a match, a page of the lobby, the server's clock."""

from redis.exceptions import RedisError

from fairest_protocol.messages.from_client import GetLobby, GetRecord, Ping
from fairest_protocol.messages.from_server import LobbyPage, MatchRecord, Pong, Refused
from fairest_protocol.messages.refusals import Refusal
from fairest_server.edge.room_messages import refuse_message
from fairest_server.live.room_server import RoomServer
from fairest_server.store.lobby import Lobby

Question = GetRecord | GetLobby | Ping
Answer = LobbyPage | MatchRecord | Pong | Refused


class Lookup:
    """Looks up what clients ask for. One serves all connections of a process."""

    def __init__(self, rooms: RoomServer, lobby: Lobby) -> None:
        self._rooms = rooms
        self._lobby = lobby

    async def answer(self, message: Question, room: str | None) -> tuple[Answer, int]:
        """Return the answer to a message of a client that is in `room`, or in none. Safe to cancel.

        The number is that of the log entries, and lines of a record, that were read for it.
        """
        try:
            if isinstance(message, Ping):
                return Pong(id=message.id, now_ms=self._rooms.clock.now_ms()), 0
            if isinstance(message, GetLobby):
                return (await self._lobby.page(message.page)).with_id(message.id), 0
            if room is None and message.match is None:
                return refuse_message(message, Refusal.NOT_IN_ROOM), 0
            answer, read = await self._rooms.find_record(room, message.match)
            return answer.with_id(message.id), read
        except (RedisError, OSError):
            return refuse_message(message, Refusal.TRY_AGAIN), 0
