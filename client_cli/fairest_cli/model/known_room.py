"""The client's knowledge of a room: an immutable value, folded over the server's messages. Pure."""

from enum import Enum
from typing import Final

from msgspec import field

from fairest_cli.model.outcome_check import Cheated
from fairest_cli.model.seal_check import EntropyCommitment, SealCheck
from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.moves import Move
from fairest_protocol.messages.entries import Entry, Moved
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_client import Play
from fairest_protocol.messages.from_server import (
    Accepted,
    Announcement,
    Error,
    FromServer,
    Left,
    LobbyPage,
    MatchRecord,
    Placed,
    Refused,
    Snapshot,
    View,
    Welcome,
)
from fairest_protocol.messages.refusals import Refusal
from fairest_protocol.messages.scene import Scene, SeatScene
from fairest_protocol.value import Value, replace

DEFAULT_SERVER: Final = "ws://127.0.0.1:8765"


class ConnectionStatus(Enum):
    """The state of the connection to the server, over all its sockets."""

    CONNECTING = "connecting"
    CONNECTED = "connected"
    LOST = "lost"


class Contradiction(ValueError):
    """The server sent a message that cannot follow what it sent before."""


class KnownRoom(Value):
    """The room as far as the server has shown it to us.

    `room` is its code; `seat` is None for a spectator. `position` is the number of the last entry of the view that we
    received, `tag` the tag of its append; `resume` sends both. `placed` are the counts of the last tick. `sent` are our
    moves that the server has not answered yet. `clock_ahead_ms` is how far our clock is ahead of the server's.
    """

    server_url: str = DEFAULT_SERVER
    status: ConnectionStatus = ConnectionStatus.CONNECTING
    name: str = ""
    room: str | None = None
    seat: int | None = None
    scene: Scene | None = None
    position: int = 0
    tag: str | None = None
    placed: tuple[int, int] | None = None
    sent: tuple[Play, ...] = ()
    clock_ahead_ms: int = 0
    seal_check: SealCheck = field(default_factory=SealCheck)

    @property
    def invitation(self) -> str:
        """The command with which another player joins our room."""
        server = "" if self.server_url == DEFAULT_SERVER else f" --server {self.server_url}"
        return f"fairest join {self.room}{server}"

    @property
    def phase(self) -> Phase | None:
        """The phase of the room, None as long as no room was shown."""
        return self.scene.phase if self.scene else None

    @property
    def own(self) -> SeatScene | None:
        """Our own seat, None for a spectator."""
        return self.scene.seats[self.seat] if self.scene and self.seat is not None else None

    @property
    def board(self) -> Board | None:
        """Our own board, None before the deal and for a spectator."""
        return self.own.board if self.own else None

    @property
    def may_send_next_move(self) -> bool:
        """Whether to send a move: our race is on, and every move that we sent was answered."""
        own = self.own
        return self.phase is Phase.RACING and own is not None and not own.has_stopped and not self.sent

    def next_play(self, move: Move) -> Play:
        """Return the message that makes `move` our next move."""
        number = self.sent[-1].number if self.sent else self.own.moves if self.own else 0
        return Play(number=number + 1, move=move)

    def with_sent(self, play: Play) -> "KnownRoom":
        """Return the model after a move was sent."""
        return replace(self, sent=(*self.sent, play))

    def with_status(self, status: ConnectionStatus) -> "KnownRoom":
        """Return the model after the state of the connection changed."""
        return replace(self, status=status)

    def with_entropy_commitment(self, entropy_commitment: EntropyCommitment | None) -> "KnownRoom":
        """Return the model with this entropy commitment of ours."""
        return replace(self, seal_check=self.seal_check.with_entropy_commitment(entropy_commitment))

    def after(self, message: FromServer, now_ms: int) -> "KnownRoom":
        """Return the model after a message of the server. `now_ms` is the time of our own clock.

        Raises `Contradiction` for a message that cannot follow, and `Cheated` for one that breaks the seal.
        """
        match message:
            case Welcome(name=name, key=key, now_ms=server_ms):
                if self.seal_check.key not in (None, key):
                    raise Cheated("The server signs with another key than a moment ago.")
                seal_check = replace(self.seal_check, key=key)
                return replace(self, name=name, seal_check=seal_check, clock_ahead_ms=now_ms - server_ms)
            case Snapshot():
                if self.room == message.room and self.scene and self.scene.options != message.scene.options:
                    raise Cheated("The server has changed the rules of the room.")
                return self._without_made_moves(
                    replace(
                        self,
                        room=message.room,
                        seat=message.seat,
                        scene=message.scene,
                        position=message.position,
                        tag=message.tag,
                        placed=None,
                        seal_check=self.seal_check.after_snapshot(message.scene, message.seat),
                        clock_ahead_ms=now_ms - message.now_ms,
                    )
                )
            case View():
                return self._after_view(message)
            case Placed(placed=placed):
                return replace(self, placed=placed)
            case Accepted(number=number):
                return replace(self, sent=tuple(play for play in self.sent if play.number > number))
            case Refused(to="play", code=Refusal.TRY_AGAIN):
                # The move stays in `sent`: the connection sends it again.
                return self
            case Refused(to="play", number=number):
                # The server refuses the moves after this one as well; their numbers can be used again.
                return replace(self, sent=tuple(play for play in self.sent if play.number != number))
            case Left():
                return replace(self, room=None, seat=None, scene=None, position=0, tag=None, sent=())
            case Refused() | Error() | Announcement() | MatchRecord() | LobbyPage():
                return self

    def _after_view(self, message: View) -> "KnownRoom":
        if self.scene is None or message.position > self.position + 1:
            raise Contradiction(f"entry {message.position} of the view follows entry {self.position}")
        scene, seal_check = self.scene, self.seal_check
        for entry in message.entries[self.position + 1 - message.position :]:
            self._check_own_move(entry, seal_check)
            seal_check = seal_check.after(entry, scene.options)
            try:
                scene = scene.after(entry)
            except ValueError as reason:
                raise Contradiction(str(reason)) from reason
        position = message.position + len(message.entries) - 1
        if position < self.position:
            return self
        return self._without_made_moves(
            replace(self, scene=scene, seal_check=seal_check, position=position, tag=message.tag)
        )

    def _check_own_move(self, entry: Entry, seal_check: SealCheck) -> None:
        """Raise `Cheated` for a move of our seat that we did not send.

        Not checked once entries were missed: a client that was killed does not know the moves that it sent before.
        """
        if not isinstance(entry, Moved) or entry.seat != self.seat or seal_check.shown is None:
            return
        if not any((play.number, play.move) == (entry.number, entry.move) for play in self.sent):
            raise Cheated(f"The server made the move {entry.move} in our name.")

    def _without_made_moves(self, model: "KnownRoom") -> "KnownRoom":
        """Drop from `sent` the moves that the view shows as made, and all of them outside of a race."""
        own = model.own
        done = own.moves if own and model.phase is Phase.RACING else None
        sent = () if done is None else tuple(play for play in model.sent if play.number > done)
        return replace(model, sent=sent)
