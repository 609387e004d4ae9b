"""Answers to the messages of players and spectators about tournaments."""

from typing import Final

from fairest_protocol.calculation.rules import BadRules, find_variant
from fairest_protocol.calculation.tournament import MOST_ROUND_ROBIN
from fairest_protocol.messages.from_server import Refused
from fairest_protocol.messages.refusals import Refusal
from fairest_protocol.messages.tournaments import (
    CreateTournament,
    JoinTournament,
    LeaveTournament,
    PlayTournament,
    RaceTournament,
    ReadyTournament,
    RevealTournament,
    StartTournament,
    Tournament,
    TournamentFormat,
    TournamentRace,
    TournamentRequest,
    TournamentTick,
    WatchTournament,
)
from fairest_server.edge.room_messages import refuse_message
from fairest_server.live.room_codes import draw_code
from fairest_server.live.room_server import RoomServer
from fairest_server.room.refusing import refuse
from fairest_server.settings import Settings
from fairest_server.store.players import Player
from fairest_server.store.room_openings import RoomOpenings
from fairest_server.tournament import requests

TournamentAnswer = Tournament | TournamentTick | TournamentRace | Refused
_WRONG_PHASE: Final[dict[type, str]] = {
    JoinTournament: "This tournament has begun; you can watch it.",
    StartTournament: "A tournament without rivals needs two players.",
    ReadyTournament: "Nobody gets ready for this round any more.",
    RevealTournament: "Nothing of yours is to be revealed now.",
}


class TournamentDesk:
    """Answers what is asked about tournaments. One serves all connections of a process."""

    def __init__(self, rooms: RoomServer, openings: RoomOpenings, settings: Settings) -> None:
        self._tournaments = rooms.tournaments
        self._races = rooms.tournament_races
        self._noted = rooms.player_tournaments
        self._openings = openings
        self._per_player = settings.rooms_per_player
        self._per_address = settings.rooms_per_address

    async def answer(self, message: TournamentRequest, player: Player, address: str) -> TournamentAnswer:
        """Return the answer to a message. Raises RedisError; then the very same message may be sent again."""
        if isinstance(message, LeaveTournament):
            # First: a client that was led back to a tournament which its player has left would enter it again.
            await self._noted.forget(player.player_id, message.tournament)
        answer = await self._answer(message, player, address)
        if isinstance(message, CreateTournament | JoinTournament) and isinstance(answer, Tournament):
            left = [row.name for row in answer.standings if row.has_left]
            if player.name not in left:
                await self._noted.remember(player.player_id, answer.code)
        if answer is Refusal.WRONG_PHASE and type(message) in _WRONG_PHASE:
            return refuse(message.type, Refusal.WRONG_PHASE, _WRONG_PHASE[type(message)])
        return refuse_message(message, answer) if isinstance(answer, Refusal) else answer

    async def _answer(self, message: TournamentRequest, player: Player, address: str) -> TournamentAnswer | Refusal:
        player_id, change = player.player_id, self._tournaments.change
        match message:
            case CreateTournament():
                return await self._create(message, player, address)
            case JoinTournament(tournament=code):
                return await change(code, lambda found, _: requests.join(found, player_id, player.name))
            case LeaveTournament(tournament=code):
                return await change(code, lambda found, _: requests.leave(found, player_id))
            case StartTournament(tournament=code):
                return await change(code, lambda found, now_ms: requests.start(found, player_id, now_ms))
            case WatchTournament(tournament=code, version=version):
                return await self._tournaments.watch(code, version)
            case ReadyTournament(tournament=code, round=number, entropy_hash=promised):
                return await change(code, lambda found, _: requests.get_ready(found, player_id, number, promised))
            case RevealTournament(tournament=code, round=number, entropy=entropy):
                return await change(code, lambda found, _: requests.reveal(found, player_id, number, entropy))
            case RaceTournament(tournament=code, round=number):
                return await self._races.race(code, number, player_id)
            case PlayTournament(tournament=code, round=number):
                return await self._races.play(code, number, player_id, message.number, message.move)

    async def _create(self, message: CreateTournament, player: Player, address: str) -> TournamentAnswer | Refusal:
        """Create a tournament, which counts as a room that its player opens."""
        most = message.most_players
        if message.format is TournamentFormat.ROUND_ROBIN and most > MOST_ROUND_ROBIN:
            sentence = f"A round robin has {MOST_ROUND_ROBIN} players at most, not {most}."
            return refuse(message.type, Refusal.TOURNAMENT_FULL, sentence)
        try:
            variant = find_variant(message.rules).rules.name
        except BadRules:
            return Refusal.BAD_RULES
        key = None if message.key is None else f"tournament-{message.key}"
        known, opened = await self._openings.look_up(player.player_id, key)
        if known is None and (opened >= self._per_player or await self._openings.count_at(address) > self._per_address):
            return Refusal.TOO_MANY_ROOMS
        code = known or await self._openings.open(player.player_id, key, await self._draw_code(), self._per_player)
        if code is None:
            return Refusal.TOO_MANY_ROOMS
        return await self._tournaments.create(message, variant, code, player)

    async def _draw_code(self) -> str:
        """Draw a code of which there is no tournament."""
        while True:
            code = draw_code()
            if await self._tournaments.store.find(code) is None:
                return code
