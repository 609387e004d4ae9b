"""The client's knowledge of a room: an immutable value, folded over the server's messages. Pure."""

from enum import Enum
from typing import Final

from msgspec import field

from fairest_cli.model.binding import Binding
from fairest_cli.model.cheated import Cheated
from fairest_cli.model.outcome_check import check_counts, check_ledger, check_standing
from fairest_cli.model.round_end import WayOut
from fairest_cli.model.round_opening_check import check_begins_match
from fairest_cli.model.seal_check import EntropyCommitment, SealCheck
from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.moves import Move
from fairest_protocol.calculation.race import Ending, Outcome
from fairest_protocol.messages.daily import DailyView
from fairest_protocol.messages.entries import Entry, Moved, RoomClosed, RoundFinished, RoundOpened, Started
from fairest_protocol.messages.fields import Message, Phase
from fairest_protocol.messages.from_client import Play
from fairest_protocol.messages.from_server import (
    Accepted,
    Announcement,
    Elsewhere,
    Error,
    FromServer,
    Left,
    LeftQueue,
    LobbyPage,
    MatchRecord,
    Placed,
    Pong,
    Queued,
    Refused,
    Renewed,
    Snapshot,
    UnknownMessage,
    View,
    Watching,
    Welcome,
)
from fairest_protocol.messages.refusals import Refusal
from fairest_protocol.messages.scene import Scene, SeatScene
from fairest_protocol.messages.tournaments import Tournament, TournamentRace, TournamentTick
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

    `room` is its code; `seat` is None for a spectator. `position` is the number of the last entry of the view that
    we received, `tag` the tag of its append; `resume` sends both. `placed` are the counts of the round's last tick,
    None before its first one. `watching` is the number of spectators that the server counted last. `sent` are our
    moves that the server has not answered yet. `clock_ahead_ms` is how far our clock is ahead of the server's.
    `queued` is what the server told last of our wait for an opponent, None outside of the queue. `binding` is the
    evidence that holds the server to the round, and how the last round ended.
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
    watching: int = 0
    sent: tuple[Play, ...] = ()
    clock_ahead_ms: int = 0
    queued: Queued | None = None
    seal_check: SealCheck = field(default_factory=SealCheck)
    binding: Binding = Binding()

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

    def with_said(self, message: Message, now_ms: int) -> "KnownRoom":
        """Return the model after a message of ours was sent over the present socket."""
        return replace(self, binding=self.binding.after_said(message, now_ms))

    def with_status(self, status: ConnectionStatus) -> "KnownRoom":
        """Return the model after the state of the connection changed."""
        if status is not ConnectionStatus.LOST:
            return replace(self, status=status)
        return replace(self, status=status, binding=self.binding.after_drop(), watching=0)

    def after_way_out(self, way_out: WayOut, detail: str, now_ms: int) -> "KnownRoom":
        """Return the model after a way out of the room that is no message. Raises `Cheated` unless it is explained."""
        return replace(self, binding=self.binding.after_way_out(way_out, detail, now_ms))

    def with_entropy_commitment(self, entropy_commitment: EntropyCommitment | None) -> "KnownRoom":
        """Return the model with this entropy commitment of ours."""
        return replace(self, seal_check=self.seal_check.with_entropy_commitment(entropy_commitment))

    def after(self, message: FromServer, now_ms: int) -> "KnownRoom":
        """Return the model after a message of the server. `now_ms` is the time of our own clock.

        Raises `Contradiction` for a message that cannot follow, and `Cheated` for one that breaks the seal, or ends a
        round to which we are bound in a way that is not explained.
        """
        match message:
            case Snapshot():
                return self._after_snapshot(message, now_ms)
            case View():
                return self.after_part(message, now_ms).settled(now_ms)
            case Left() | LeftQueue():
                return _outside(self, now_ms)
            case Queued():
                return replace(_outside(self, now_ms), queued=message)
        model = replace(self, binding=self.binding.after_alive(now_ms))
        match message:
            case Welcome(name=name, key=key, now_ms=server_ms):
                if self.seal_check.key not in (None, key):
                    raise Cheated("The server signs with another key than a moment ago.")
                seal_check = replace(self.seal_check, key=key)
                return replace(model, name=name, seal_check=seal_check, clock_ahead_ms=now_ms - server_ms)
            case Placed(placed=placed):
                return replace(model, placed=placed)
            case Watching(watching=watching):
                return replace(model, watching=watching)
            case Accepted(number=number):
                return replace(model, sent=tuple(play for play in self.sent if play.number > number))
            case Refused(to="play", code=Refusal.TRY_AGAIN | Refusal.IN_DOUBT):
                # The move stays in `sent`: the connection sends it again.
                return model
            case Refused(to="play", number=number):
                # The server refuses the moves after this one as well; their numbers can be used again.
                return replace(model, sent=tuple(play for play in self.sent if play.number != number))
            case (
                Refused()
                | Error()
                | Announcement()
                | Elsewhere()
                | MatchRecord()
                | LobbyPage()
                | Renewed()
                | Pong()
                | DailyView()
                | Tournament()
                | TournamentTick()
                | TournamentRace()
                | UnknownMessage()
            ):
                return model

    def after_part(self, message: View, now_ms: int) -> "KnownRoom":
        """Return the model after entries that others follow in the same message; `settled` says when all are there.

        Entries that we have seen before are left out. Raises as `after` does.
        """
        if self.scene is None or message.first > self.position + 1:
            raise Contradiction(f"entry {message.first} of the view follows entry {self.position}")
        scene, seal_check, binding, placed = self.scene, self.seal_check, self.binding, self.placed
        for entry in message.entries[self.position + 1 - message.first :]:
            _check_own_move(self, entry, seal_check)
            # A room that is closed is the operator's deed, which the binding names; the rest the seal has to judge.
            seal_check = seal_check if isinstance(entry, RoomClosed) else seal_check.after(entry, scene.options)
            if isinstance(entry, RoundOpened):
                check_begins_match(entry, scene)
            if isinstance(entry, (RoundOpened, Started)):
                # The counts are those of the last round: a tick of this one can only follow its start.
                placed = None
            try:
                before, scene = scene, scene.after(entry)
            except ValueError as reason:
                raise Contradiction(str(reason)) from reason
            if isinstance(entry, RoundFinished):
                _check_result(before, entry, seal_check)
            binding = binding.after_entry(entry, scene, self.seat, now_ms)
            if isinstance(entry, RoomClosed):
                binding = binding.settle(now_ms)
                seal_check = seal_check.after(entry, scene.options)
        if message.position < self.position:
            return replace(self, binding=binding)
        changed = replace(
            self,
            scene=scene,
            seal_check=seal_check,
            position=message.position,
            tag=message.tag,
            placed=placed,
            binding=binding,
        )
        return _without_made_moves(changed)

    def settled(self, now_ms: int) -> "KnownRoom":
        """Return the model once all entries of a message are in it: we are back, and ended rounds are judged.

        Raises `Cheated`.
        """
        return replace(self, binding=self.binding.settle(now_ms).after_return(now_ms))

    def _after_snapshot(self, message: Snapshot, now_ms: int) -> "KnownRoom":
        scene = message.scene
        if self.room == message.room and self.scene and self.scene.options != scene.options:
            raise Cheated("The server has changed the rules of the room.")
        seal_check = self.seal_check.after_snapshot(scene, message.seat)
        if message.seat is not None and scene.seats[message.seat].name is None:
            raise Contradiction("it shows us a seat of ours that is free")
        if self.binding.is_bound_to(scene.round) and scene.outcome is not None:
            check_counts(scene, scene.outcome, is_dealt=bool(seal_check.envelopes))
            check_ledger(scene.outcome, has_credit=scene.options.credit is not None)
            _check_own_score(self, scene.outcome)
        changed = replace(
            self,
            room=message.room,
            seat=message.seat,
            scene=scene,
            position=message.position,
            tag=message.tag,
            placed=None,
            watching=0,
            queued=None,
            seal_check=seal_check,
            clock_ahead_ms=now_ms - message.now_ms,
            binding=self.binding.after_snapshot(scene, message.seat, now_ms),
        )
        return _without_made_moves(changed).settled(now_ms)


def _outside(model: KnownRoom, now_ms: int) -> KnownRoom:
    """Return the model after we were told that we are in no room. Raises `Cheated` if a round binds us to one."""
    binding = model.binding.after_way_out(WayOut.LEFT, "", now_ms).outside() if model.scene else model.binding
    return replace(model, room=None, seat=None, scene=None, position=0, tag=None, sent=(), queued=None, binding=binding)


def _check_result(before: Scene, finished: RoundFinished, seal_check: SealCheck) -> None:
    """Check what the seal does not: the rounds won, and the counts where the race cannot be replayed.

    `before` is the scene before the result. Raises `Cheated`.
    """
    won = [seat.wins for seat in before.seats]
    check_standing(won, finished, before.round_number, before.options)
    if seal_check.shown is None or not seal_check.envelopes:
        check_counts(before, finished.outcome, is_dealt=bool(seal_check.envelopes))


def _check_own_score(known: KnownRoom, outcome: Outcome) -> None:
    """Compare our part of a result that a snapshot shows with our moves, of which the last may be unanswered.

    Raises `Cheated`. A client that was started again does not know its moves.
    """
    evidence, board = known.binding.evidence, known.board
    if evidence is None or board is None or known.seat is None or not evidence.is_own_past_known:
        return
    score, more = outcome.scores[known.seat], len(known.sent)
    if not board.placed <= score.placed <= board.placed + more:
        raise Cheated("The server counts other cards for us than we have placed.")
    if not more and score.ending in (Ending.WON, Ending.STUCK) and not (board.is_won or board.is_stuck):
        raise Cheated(f"The server says that our race has ended as {score.ending}. It has not.")


def _check_own_move(model: KnownRoom, entry: Entry, seal_check: SealCheck) -> None:
    """Raise `Cheated` for a move of our seat that we did not send.

    Not checked once entries were missed: a client that was killed does not know the moves that it sent before.
    """
    if not isinstance(entry, Moved) or entry.seat != model.seat or seal_check.shown is None:
        return
    if not any((play.number, play.move) == (entry.number, entry.move) for play in model.sent):
        raise Cheated(f"The server made the move {entry.move} in our name.")


def _without_made_moves(model: KnownRoom) -> KnownRoom:
    """Drop from `sent` the moves that the view shows as made, and all of them outside of a race."""
    own = model.own
    done = own.moves if own and model.phase is Phase.RACING else None
    sent = () if done is None else tuple(play for play in model.sent if play.number > done)
    return replace(model, sent=sent)
