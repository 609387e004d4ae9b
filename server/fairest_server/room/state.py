"""What a room is at one moment: a value, computed from its log."""

from collections.abc import Iterator
from enum import Enum
from typing import Final

from fairest_protocol.calculation.deal import SealedDeal
from fairest_protocol.calculation.round import Outcome, Round
from fairest_protocol.calculation.rules import Rules
from fairest_protocol.messages.fields import Phase, Seat
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.value import Value

PAUSE_SECONDS: Final = 5
"""Between the rounds of a match."""


class SeatState(Value):
    """A taken seat. `connection_id` names the connection that speaks for it, None while there is none."""

    player: str
    name: str
    connection_id: str | None = None
    entropy_hash: bytes | None = None
    entropy: bytes | None = None
    wins: int = 0
    wants_rematch: bool = False


class OpenRound(Value):
    """The round under way, from its commitment to its result; `sealed` is there once it is dealt."""

    round_id: bytes
    secret: bytes
    signature: bytes
    number: int
    sealed: SealedDeal | None = None
    outcome: Outcome | None = None


class DeadlineKind(Enum):
    """What a deadline is for."""

    PHASE = "the present phase ends"
    SEAT = "a seat was away too long"
    IDLE = "the room was empty too long"


class Deadline(Value):
    """Something that happens by itself at this time on Redis' clock."""

    at_ms: int
    kind: DeadlineKind
    seat: int = -1


class Clocks(Value):
    """All that depends on when something happened, in one place.

    A state whose clocks are the very object of the state before does not depend on the time of its last event, and has
    the same deadlines as the state before.
    """

    phase_until_ms: int | None = None
    away_until_ms: tuple[int | None, int | None] = (None, None)
    idle_until_ms: int | None = None
    started_at_ms: int | None = None
    finished_at_ms: int | None = None
    paused_until_ms: int = 0
    """When the last pause ended that these clocks know of; before any, when the room was made."""


class RoomState(Value):
    """A room. `race` is that of the round once it is dealt, under way or over; `matches` counts the matches begun here,
    and `unarchived_match` is the newest that waits to be stored, or 0.
    """

    options: RoomOptions
    rules: Rules
    phase: Phase = Phase.WAITING
    seats: tuple[SeatState | None, SeatState | None] = (None, None)
    round: OpenRound | None = None
    race: Round | None = None
    clocks: Clocks = Clocks()
    matches: int = 0
    match_is_over: bool = False
    unarchived_match: int = 0

    def with_race(self, race: Round) -> "RoomState":
        """The same room, its race further on. Every move makes one: `replace` would be three calls more."""
        return RoomState(
            self.options,
            self.rules,
            self.phase,
            self.seats,
            self.round,
            race,
            self.clocks,
            self.matches,
            self.match_is_over,
            self.unarchived_match,
        )

    def seat(self, number: int) -> SeatState:
        """A seat that is known to be taken."""
        seat = self.seats[number]
        assert seat is not None, f"seat {number} is free"
        return seat

    def seat_of(self, player: str) -> int | None:
        """The seat this player has here, if any."""
        return next((number for number, seat in enumerate(self.seats) if seat and seat.player == player), None)

    def seat_of_connection(self, connection_id: str) -> Seat | None:
        """The seat that this link speaks for, if any."""
        first, second = self.seats
        if first is not None and first.connection_id == connection_id:
            return 0
        return 1 if second is not None and second.connection_id == connection_id else None

    def free_seat(self) -> int | None:
        """The first free seat, if any."""
        return next((number for number, seat in enumerate(self.seats) if seat is None), None)

    def deadlines(self) -> Iterator[Deadline]:
        """Everything that will happen by itself if nobody does anything, in no order."""
        if self.phase is Phase.CLOSED:
            return
        if self.clocks.phase_until_ms is not None:
            yield Deadline(self.clocks.phase_until_ms, DeadlineKind.PHASE)
        for number, until_ms in enumerate(self.clocks.away_until_ms):
            if until_ms is not None and self._absence_counts(number):
                yield Deadline(until_ms, DeadlineKind.SEAT, number)
        if self.clocks.idle_until_ms is not None and self.phase is Phase.WAITING:
            yield Deadline(self.clocks.idle_until_ms, DeadlineKind.IDLE)

    def next_deadline(self) -> Deadline | None:
        """The earliest deadline, if there is any."""
        return min(self.deadlines(), key=lambda deadline: deadline.at_ms, default=None)

    def has_same_deadlines_as(self, other: "RoomState") -> bool:
        """Whether another state of this room is to be looked at when this one is."""
        return self.clocks is other.clocks and self.unarchived_match == other.unarchived_match

    def lacks_pause(self, pause_end_ms: int) -> bool:
        """Whether the clocks of this room do not know yet of a pause that ended then."""
        return pause_end_ms > self.clocks.paused_until_ms and self.phase is not Phase.CLOSED

    def next_check_ms(self) -> int | None:
        """When some process has to look at this room even if nobody is connected to it, or None for never."""
        if self.unarchived_match:
            return self.clocks.finished_at_ms
        deadline = self.next_deadline()
        return deadline.at_ms if deadline else None

    def _absence_counts(self, seat: int) -> bool:
        """While entropies are shown only the reveal deadline counts; who has stopped cannot be stopped again."""
        if self.phase is Phase.DEALING:
            return False
        if self.phase in (Phase.COUNTDOWN, Phase.RACING):
            return self.race is not None and not self.race.racers[seat].ending
        return True
