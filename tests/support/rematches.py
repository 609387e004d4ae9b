"""Two players of a room on a `RoomServer` who play one match after the other."""

import hashlib

from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.calculation.seal import commit_entropy
from fairest_protocol.messages.fields import Phase, Seat, as_seat
from fairest_protocol.messages.from_client import Leave, Ready, Rematch, Reveal
from fairest_protocol.messages.options import RoomOptions
from fairest_server.live.live_room import LiveRoom
from fairest_server.live.proposal import Request
from fairest_server.live.room_server import RoomServer
from fairest_server.room.commands import CreateRoom, MakeMove, PlayerRequest, TakeSeat
from fairest_server.room.state import RoomState
from tests.support.isolated_room import RecordingSubscriber
from tests.support.room_server import new_room, soon

NO_COUNTDOWN = RoomOptions(countdown_seconds=0)
ENTRIES_OF_MATCH = 10
"""The entries of a match in which no card is placed, from the opening of its round to two wishes for a rematch."""


class Pair:
    """Two players in a room, whose messages need no sockets."""

    def __init__(self, rooms: RoomServer, options: RoomOptions = NO_COUNTDOWN) -> None:
        self.rooms = rooms
        self.options = options
        self.players = [RecordingSubscriber(f"{rooms.process_id}-{seat}", ("create", "join")[seat]) for seat in (0, 1)]
        self.room: LiveRoom

    async def sit_down(self) -> None:
        """Open a room and take both seats."""
        first, second = self.players
        self.room = await new_room(self.rooms)
        self.room.submit(Request(CreateRoom(self.options, "player-0", "ann", first.connection_id), first))
        await soon(lambda: first.notes, "the first player is in the room")
        await self.join(second)

    async def join(self, player: RecordingSubscriber) -> None:
        """Let a player take the second seat."""
        shown = len(player.frames)
        self.room.submit(Request(TakeSeat("player-1", "bob", player.connection_id), player))
        await soon(lambda: len(player.frames) > shown, "the second player is in the room")

    @property
    def state(self) -> RoomState:
        """The room now."""
        assert self.room.state is not None
        return self.room.state

    async def play_match(self, moves: int = 0) -> str:
        """Play a match: so many moves of each player, then the first one resigns.

        Wait for its record, and return its id.
        """
        match_id = await self.start_round()
        for number in range(1, moves + 1):
            for seat in (0, 1):
                await self._move(seat, number)
        self.play(0, "resign", self._moves(0) + 1)
        await self.reach(Phase.FINISHED)
        await soon(lambda: not self.state.unrecorded_match, "the record is stored")
        return match_id.hex()

    async def start_round(self) -> bytes:
        """Deal the next round and wait until its race has started; return the id of its match."""
        await self.reach(Phase.READY)
        opened = self.state.round
        assert opened is not None
        entropies = [hashlib.sha256(b"%d" % seat + opened.round_id).digest() for seat in (0, 1)]
        for seat in (0, 1):
            promised = commit_entropy(opened.round_id, seat, entropies[seat])
            self.ask(as_seat(seat), Ready(round=opened.round_id, entropy_hash=promised))
        await self.reach(Phase.DEALING)
        for seat in (0, 1):
            self.ask(as_seat(seat), Reveal(round=opened.round_id, entropy=entropies[seat]))
        await self.reach(Phase.RACING)
        return opened.match_id

    async def ask_for_rematch(self) -> None:
        """Let both ask for a rematch, and wait for it."""
        number = self.state.matches
        for seat in (0, 1):
            self.ask(as_seat(seat), Rematch())
        await soon(lambda: self.state.matches > number, "the next match is opened")

    async def leave_and_join(self) -> None:
        """Let the second player leave and join again."""
        self.ask(1, Leave())
        await soon(lambda: self.state.seats[1] is None, "the seat is free")
        await self.join(self.players[1])

    def ask(self, seat: Seat, message: Ready | Reveal | Rematch | Leave) -> None:
        """Send a message of this player to the room."""
        player = self.players[seat]
        self.room.submit(Request(PlayerRequest(player.connection_id, message), player))

    def play(self, seat: int, move: str, number: int) -> None:
        """Send a move of this player."""
        player = self.players[seat]
        self.room.submit(Request(MakeMove(player.connection_id, number, MOVES[move]), player))

    async def reach(self, phase: Phase) -> None:
        """Wait until the room is in this phase."""
        await soon(lambda: self.state.phase is phase, f"the room is {phase}")

    async def _move(self, seat: int, number: int) -> None:
        self.play(seat, "sa", number)
        await soon(lambda: self._moves(seat) == number, "the move is accepted")

    def _moves(self, seat: int) -> int:
        race = self.state.race
        return race.racers[seat].moves if race else 0
