"""The scene of a viewer: everything it has seen of a room, as the fold of the entries of its view.

The server makes snapshots from it, and a client applies each entry to it. So a snapshot cannot hold anything that the
entries did not show, and server and client cannot disagree on what an entry means.
"""

from typing import Annotated, Any

from pydantic import AfterValidator, Field, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.cards import is_card
from fairest_protocol.calculation.moves import RESIGN, STOP
from fairest_protocol.calculation.race import Outcome
from fairest_protocol.calculation.rules import MAX_PILES
from fairest_protocol.calculation.terms import BEST_OF
from fairest_protocol.messages import entries
from fairest_protocol.messages.entries import Entry
from fairest_protocol.messages.fields import (
    CARD_SCHEMA,
    CardText,
    Hash,
    Name,
    Phase,
    RoundId,
    Secret,
    ServerMessage,
    ShownTurn,
    Signature,
    TimeMs,
)
from fairest_protocol.messages.options import RoomOptions


def _checked_board(board: Board) -> Board:
    if len(board.layout) != len(board.foundations) or not 0 < len(board.piles) <= MAX_PILES or board.stock < 0:
        raise ValueError("the board does not have the shape of a board")
    for card in (board.turned or "AC", *(card for stack in (*board.foundations, *board.piles) for card in stack)):
        if not is_card(card):
            raise ValueError("the board holds something that is not a card")
    return board


class _BoardSchema:
    """An annotation that puts the pattern of a card into the JSON schema of a board.

    The game declares cards as plain text, and `_checked_board` checks them all at once; this is not used when a frame
    is validated.
    """

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        described = handler(schema)
        fields = handler.resolve_ref_schema(described)["properties"]
        for stacks in ("foundations", "piles"):
            fields[stacks]["items"]["items"] = CARD_SCHEMA.copy()
        fields["turned"]["anyOf"][0] = CARD_SCHEMA.copy()
        return described


class SeatScene(ServerMessage):
    """One seat as far as the viewer has seen it. `turn` is that of the last turned card shown."""

    name: Name | None = None
    is_connected: bool = False
    until_ms: TimeMs | None = None
    """Until when the room waits for the player, who is away; None for one who is there."""
    entropy_hash: Hash | None = None
    entropy: Secret | None = None
    wins: int = 0
    matches_won: int = 0
    """The matches that the player has won in this room against the player in the other seat."""
    wants_rematch: bool = False
    board: Annotated[Board, AfterValidator(_checked_board), _BoardSchema()] | None = None
    turn: ShownTurn | None = None
    moves: int = 0
    has_stopped: bool = False


class Scene(ServerMessage):
    """A room and its round in the eyes of one viewer."""

    options: RoomOptions
    phase: Annotated[Phase, Field(strict=False)] = Phase.WAITING
    seats: tuple[SeatScene, SeatScene] = (SeatScene(), SeatScene())
    match: RoundId | None = None
    """The id of the match that the round belongs to, which is that of its first round."""
    round: RoundId | None = None
    round_number: Annotated[int, Field(ge=0, le=BEST_OF[-1])] = 0
    commitment: Hash | None = None
    signature: Signature | None = None
    secret: Secret | None = None
    markers: tuple[CardText, ...] = ()
    envelopes: tuple[tuple[Hash, ...], ...] = ()
    until_ms: TimeMs | None = None
    """When the present phase ends by itself, or None if it does not; ready, dealing, countdown and race do."""
    outcome: Outcome | None = None
    duration_ms: int | None = None
    match_is_over: bool = False
    step: entries.CertifiedStepNumber = None

    def after(self, entry: Entry) -> "Scene":
        """Return the scene after one more entry of the view.

        Raises ValueError for an entry that cannot follow this scene: a server that sends it contradicts itself.
        """
        match entry:
            case entries.Seated(seat=seat, name=name):
                return _with_seat(self, seat, name=name)
            case entries.SeatFreed(seat=seat):
                return self._after_seat_freed(seat)
            case entries.Attached(seat=seat):
                return _with_seat(self, seat, is_connected=True, until_ms=None)
            case entries.Detached(seat=seat, until_ms=until):
                return _with_seat(self, seat, is_connected=False, until_ms=until)
            case entries.Paused(length_ms=length_ms):
                return self._after_pause(length_ms)
            case entries.RoundOpened():
                return self._after_opening(entry)
            case entries.RoundVoided():
                return _with_fields(self, phase=Phase.WAITING, secret=entry.secret, until_ms=None)
            case entries.PlayerReady(seat=seat, entropy_hash=entropy_hash):
                ready = _with_seat(self, seat, entropy_hash=entropy_hash)
                all_ready = all(each.entropy_hash for each in ready.seats)
                return _with_fields(ready, phase=Phase.DEALING, until_ms=entry.until_ms) if all_ready else ready
            case entries.Revealed(seat=seat, entropy=entropy):
                return _with_seat(self, seat, entropy=entropy)
            case entries.Dealt():
                return self._after_deal(entry)
            case entries.Started(until_ms=until):
                return _with_fields(self, phase=Phase.RACING, until_ms=until)
            case entries.Turned(seat=seat, turn=turn):
                return _with_seat(self, seat, board=self._board(seat).turn(entry.card), turn=turn)
            case entries.Moved(seat=seat):
                return self._after_move(entry)
            case entries.Stopped(seat=seat, until_ms=until):
                stopped = _with_seat(self, seat, has_stopped=True)
                return _with_fields(stopped, until_ms=until) if self.phase is Phase.RACING else stopped
            case entries.FinishAsked(seat=seat):
                if self.phase is not Phase.RACING or not self.seats[seat].has_stopped:
                    raise ValueError(f"seat {seat} asks the other one to finish, and has not finished a race itself")
                return self
            case entries.RoundFinished():
                return self._after_finish(entry)
            case entries.RematchWanted(seat=seat):
                return _with_seat(self, seat, wants_rematch=True)
            case entries.RoomClosed():
                return _with_fields(self, phase=Phase.CLOSED, until_ms=None)
            case entries.UnknownEntry():
                return self

    def _board(self, seat: int) -> Board:
        board = self.seats[seat].board
        if board is None:
            raise ValueError(f"seat {seat} has no cards yet")
        return board

    def _after_pause(self, length_ms: int) -> "Scene":
        scene = self if self.until_ms is None else _with_fields(self, until_ms=self.until_ms + length_ms)
        for number, seat in enumerate(self.seats):
            if seat.until_ms is not None:
                scene = _with_seat(scene, number, until_ms=seat.until_ms + length_ms)
        return scene

    def _after_seat_freed(self, seat: int) -> "Scene":
        """Return the scene with this seat free. The player who stays keeps the seat, but no score."""
        seats = [
            SeatScene(name=each.name, is_connected=each.is_connected, until_ms=each.until_ms) for each in self.seats
        ]
        seats[seat] = SeatScene()
        return _with_fields(self, phase=Phase.WAITING, seats=tuple(seats), until_ms=None)

    def _after_opening(self, entry: entries.RoundOpened) -> "Scene":
        first = entry.round_number == 1
        seats = tuple(
            SeatScene(
                name=each.name,
                is_connected=each.is_connected,
                until_ms=each.until_ms,
                wins=0 if first else each.wins,
                matches_won=each.matches_won,
            )
            for each in self.seats
        )
        return Scene(
            options=self.options,
            phase=Phase.READY,
            seats=(seats[0], seats[1]),
            match=entry.match,
            round=entry.round,
            round_number=entry.round_number,
            commitment=entry.commitment,
            signature=entry.signature,
            until_ms=entry.until_ms,
        )

    def _after_deal(self, entry: entries.Dealt) -> "Scene":
        board = Board(
            layout=entry.layout,
            foundations=tuple((card,) for card in entry.starters) or ((),) * len(entry.layout),
            piles=((),) * entry.piles,
            turned=None,
            stock=len(entry.envelopes[0]),
            redeals=entry.redeals,
        )
        scene = _with_seat(_with_seat(self, 0, board=board), 1, board=board)
        return _with_fields(
            scene,
            phase=Phase.COUNTDOWN,
            markers=entry.markers,
            envelopes=entry.envelopes,
            until_ms=entry.until_ms,
            step=entry.step,
        )

    def _after_move(self, entry: entries.Moved) -> "Scene":
        seat, move = entry.seat, entry.move
        if move is STOP or move is RESIGN:
            return _with_seat(self, seat, moves=entry.number)
        board = self._board(seat)
        illegal = board.refusal(move)
        if illegal:
            raise ValueError(f"move {move} of seat {seat} is against the rules: {illegal}")
        if entry.number != self.seats[seat].moves + 1 or entry.card != board.card_of(move):
            raise ValueError(f"move {move} of seat {seat} moves another card, or comes out of turn")
        return _with_seat(self, seat, board=board.play(move), moves=entry.number)

    def _after_finish(self, entry: entries.RoundFinished) -> "Scene":
        scene = _with_fields(
            self,
            phase=Phase.FINISHED,
            outcome=entry.outcome,
            duration_ms=entry.duration_ms,
            match_is_over=entry.match_is_over,
            secret=entry.secret,
            until_ms=None,
        )
        for seat, wins in enumerate(entry.wins):
            matches_won = self.seats[seat].matches_won + (entry.match_is_over and wins > entry.wins[1 - seat])
            scene = _with_seat(scene, seat, wins=wins, matches_won=matches_won, has_stopped=True)
        return scene


def _with_fields(scene: Scene, **changes: Any) -> Scene:
    return scene.model_copy(update=changes)


def _with_seat(scene: Scene, number: int, **changes: Any) -> Scene:
    seats = list(scene.seats)
    seats[number] = seats[number].model_copy(update=changes)
    return _with_fields(scene, seats=tuple(seats))
