"""Answers to messages that are about no seat: a record, the lobby, the clock, a token, a daily deal, a tournament."""

from typing import Protocol

from redis.exceptions import RedisError

from fairest_protocol.calculation.rules import BadRules, find_variant
from fairest_protocol.messages.daily import Daily, DailyView, PlayDaily
from fairest_protocol.messages.from_client import GetLobby, GetRecord, Ping, Renew
from fairest_protocol.messages.from_server import LobbyPage, MatchRecord, Pong, Refused, Renewed
from fairest_protocol.messages.refusals import Refusal
from fairest_protocol.messages.tournaments import TournamentRequest
from fairest_server.edge.renewal import Renewal
from fairest_server.edge.room_messages import refuse_message
from fairest_server.edge.tournament_desk import TournamentAnswer, TournamentDesk
from fairest_server.live.live_room import LiveRoom
from fairest_server.live.room_server import RoomServer
from fairest_server.store.lobby import Lobby
from fairest_server.store.players import Player

Question = GetRecord | GetLobby | Ping | Renew | Daily | PlayDaily | TournamentRequest
Answer = LobbyPage | MatchRecord | Pong | Refused | Renewed | DailyView | TournamentAnswer


class Asker(Protocol):
    """The connection of a client that asks: its player, and the room that it is in."""

    address: str
    player: Player | None
    room: LiveRoom | None


class Lookup:
    """Looks up what clients ask for. One serves all connections of a process."""

    def __init__(self, rooms: RoomServer, lobby: Lobby, renewal: Renewal, desk: TournamentDesk) -> None:
        self._rooms = rooms
        self._lobby = lobby
        self._renewal = renewal
        self._desk = desk

    async def answer(self, message: Question, asker: Asker) -> tuple[Answer, int]:
        """Return the answer to a message of a client; `renew` changes its player. Safe to cancel.

        The number is that of the log entries, and lines of a record, that were read for it.
        """
        try:
            if isinstance(message, Ping):
                return Pong(id=message.id, now_ms=self._rooms.clock.now_ms()), 0
            if isinstance(message, GetLobby):
                return (await self._lobby.page(message.page)).with_id(message.id), 0
            if isinstance(message, Renew):
                assert asker.player is not None, "a message is answered only after the handshake"
                asker.player, renewed = await self._renewal.renew(message, asker.player, asker.address)
                return renewed, 0
            if isinstance(message, Daily | PlayDaily):
                return await self._answer_daily(message, asker), 0
            if isinstance(message, TournamentRequest):
                assert asker.player is not None, "a message is answered only after the handshake"
                return (await self._desk.answer(message, asker.player, asker.address)).with_id(message.id), 0
            room = None if asker.room is None else asker.room.code
            if room is None and message.match is None:
                return refuse_message(message, Refusal.NOT_IN_ROOM), 0
            answer, read = await self._rooms.find_record(room, message.match)
            return answer.with_id(message.id), read
        except (RedisError, OSError):
            return refuse_message(message, Refusal.TRY_AGAIN), 0

    async def _answer_daily(self, message: Daily | PlayDaily, asker: Asker) -> DailyView | Refused:
        assert asker.player is not None, "a message is answered only after the handshake"
        attempts = self._rooms.daily_attempts
        try:
            variant = find_variant(message.rules).rules.name
        except BadRules:
            return refuse_message(message, Refusal.BAD_RULES)
        if isinstance(message, Daily):
            answer = await attempts.begin(variant, message.day, asker.player, asker.address)
        else:
            player_id = asker.player.player_id
            answer = await attempts.play(variant, message.day, player_id, message.number, message.move)
        return refuse_message(message, answer) if isinstance(answer, Refusal) else answer.with_id(message.id)
