"""The state of a room at one moment: a value, computed from the room's log."""

from collections.abc import Iterator
from enum import Enum
from typing import Final

from fairest_protocol.calculation.deal import SealedDeal
from fairest_protocol.calculation.race import Outcome, Race
from fairest_protocol.calculation.rules import Rules
from fairest_protocol.calculation.seal import make_seed
from fairest_protocol.calculation.seat_times import SeatTimes, Times
from fairest_protocol.messages.fields import Phase, Seat
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.messages.rivals import RivalWish
from fairest_protocol.value import Value

BETWEEN_ROUNDS_SECONDS: Final = 5
"""The time between two rounds of a match."""
ABANDONED_SECONDS: Final = 50
"""An empty room in which no round was finished is closed after this time, or after `idle_seconds` if that is shorter.
With the sweep it is gone within a minute, so that rooms that are opened and left do not fill Redis.
"""


class SeatState(Value):
    """A taken seat.

    `player` is the hash of its player's token; `connection_id` names the connection that speaks for it, if any.
    `wins` counts rounds of the match, `matches_won` the matches in this room against the player in the other seat.
    `moves` and `last_move` are those of a race that is over, and only set after a checkpoint, which keeps no race.
    """

    player: str
    name: str
    connection_id: str | None = None
    entropy_hash: bytes | None = None
    entropy: bytes | None = None
    wins: int = 0
    matches_won: int = 0
    wants_rematch: bool = False
    has_asked_finish: bool = False
    moves: int = 0
    last_move: str = ""


class OpenRound(Value):
    """The round under way, from its commitment to its result; `sealed` is None until the cards are dealt.

    `match_id` is the id of the first round of its match, in which it has the place `number`, from 1.
    """

    round_id: bytes
    secret: bytes
    signature: bytes
    match_id: bytes
    number: int
    sealed: SealedDeal | None = None
    outcome: Outcome | None = None


class DeadlineKind(Enum):
    """The change that happens at a deadline."""

    PHASE = "the present phase ends"
    SEAT = "a seat was away too long"
    IDLE = "the room was empty too long"


class Deadline(Value):
    """A time on Redis' clock at which something happens by itself; `seat` is -1 unless it happens to one seat."""

    at_ms: int
    kind: DeadlineKind
    seat: int = -1


class Clocks(Value):
    """Every deadline and time of a room's phases, in milliseconds on Redis' clock.

    `RoomState.times` has the times of a race with credit. Nothing else in a state depends on when an event happened.

    If two states share one `Clocks` object, the events between them did not change any deadline, and the times of these
    events do not matter. Nor did they change the next check of the room (`RoomState.next_check_ms`). So states are
    compared by `before.clocks is after.clocks`.

    `phase_until_ms`: the present phase ends by itself. `away_until_ms`: for each seat, a player who is away loses it or
    is stopped. `idle_until_ms`: the empty room is closed. None means that there is no such deadline.

    `unseen_until_ms`: until then a player of the last match who was cut off may come back and have missed its end. None
    once both have asked for a rematch, and so have seen it.
    """

    phase_until_ms: int | None = None
    away_until_ms: tuple[int | None, int | None] = (None, None)
    idle_until_ms: int | None = None
    started_at_ms: int | None = None
    finished_at_ms: int | None = None
    unseen_until_ms: int | None = None
    paused_until_ms: int = 0
    """The end of the last pause that is counted in these clocks; before any pause, the time the room was created."""


class RoomState(Value):
    """A room.

    `race` is the race of the round, None until the cards are dealt. `times` are those of both seats in a room with
    credit, and stay as they are in every other one. `matches` counts the matches begun in this room;
    `unrecorded_match` is the number of the newest one without a stored record, or 0. `rival` is the wish of the
    player who created the room for a program in the other seat.
    """

    options: RoomOptions
    rules: Rules
    phase: Phase = Phase.WAITING
    seats: tuple[SeatState | None, SeatState | None] = (None, None)
    round: OpenRound | None = None
    race: Race | None = None
    clocks: Clocks = Clocks()
    matches: int = 0
    match_is_over: bool = False
    unrecorded_match: int = 0
    rival: RivalWish | None = None
    times: Times = (SeatTimes(), SeatTimes())

    def with_race(self, race: Race) -> "RoomState":
        """Return the same room with this race. Every move calls it, and `replace` would take three more calls."""
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
            self.unrecorded_match,
            self.rival,
            self.times,
        )

    def seat(self, number: int) -> SeatState:
        """Return the state of a seat that is known to be taken. Raises AssertionError if it is free."""
        seat = self.seats[number]
        assert seat is not None, f"seat {number} is free"
        return seat

    def seat_of(self, player: str) -> int | None:
        """Return the seat that this player has here, if any."""
        return next((number for number, seat in enumerate(self.seats) if seat and seat.player == player), None)

    def seat_of_connection(self, connection_id: str) -> Seat | None:
        """Return the seat that this connection speaks for, if any."""
        first, second = self.seats
        if first is not None and first.connection_id == connection_id:
            return 0
        return 1 if second is not None and second.connection_id == connection_id else None

    def next_round(self) -> tuple[bytes | None, int]:
        """Return the id of the match to which the next round will belong, and its number in it, from 1.

        The id is None if the next round begins a match: then it is the id of that round.
        """
        if self.round is None or self.match_is_over:
            return None, 1
        return self.round.match_id, self.round.number + 1

    @property
    def race_seconds(self) -> int:
        """The time limit of a race that starts in this state.

        If one seat has been stopped before the start, for being away, the other one has at most the chase time.
        """
        is_alone = any(racer.ending for racer in dealt_race(self).racers)
        limit, chase = self.options.limit_seconds, self.options.chase_seconds
        return min(limit, chase) if is_alone else limit

    @property
    def has_raced(self) -> bool:
        """Whether a round was finished here. If not, nobody will ask for the log or for a record."""
        return self.clocks.finished_at_ms is not None

    def free_seat(self) -> int | None:
        """Return the first free seat, if any."""
        return next((number for number, seat in enumerate(self.seats) if seat is None), None)

    def deadlines(self) -> Iterator[Deadline]:
        """Yield every deadline that applies in this state, in no particular order."""
        if self.phase is Phase.CLOSED:
            return
        if self.clocks.phase_until_ms is not None and not awaits_step(self):
            yield Deadline(self.clocks.phase_until_ms, DeadlineKind.PHASE)
        for number, until_ms in enumerate(self.clocks.away_until_ms):
            if until_ms is not None and self._absence_counts(number):
                yield Deadline(until_ms, DeadlineKind.SEAT, number)
        # None while a seat is kept for its player: such a room is not empty.
        if self.clocks.idle_until_ms is not None:
            yield Deadline(self.clocks.idle_until_ms, DeadlineKind.IDLE)

    def next_deadline(self) -> Deadline | None:
        """Return the earliest deadline, if there is any."""
        return min(self.deadlines(), key=lambda deadline: deadline.at_ms, default=None)

    def lacks_pause(self, pause_end_ms: int) -> bool:
        """Return whether a pause that ended at `pause_end_ms` is not counted in the clocks of this room yet."""
        return pause_end_ms > self.clocks.paused_until_ms and self.phase is not Phase.CLOSED

    def can_be_cut(self, now_ms: int) -> bool:
        """Return whether nothing that happened before matters any more, but for what a checkpoint holds.

        Then every viewer may be shown everything, every round that was raced stands in a stored record, and a player
        who comes back has seen the end of the last match, or was away for longer than its seat was kept.
        """
        unseen_until_ms = self.clocks.unseen_until_ms
        if self.unrecorded_match or (unseen_until_ms is not None and now_ms < unseen_until_ms):
            return False
        if self.phase is Phase.READY:
            return open_round(self).number == 1
        return self.phase is Phase.WAITING or (self.phase is Phase.FINISHED and self.match_is_over)

    def next_check_ms(self) -> int | None:
        """Return when some process must check this room even if nobody is connected to it, or None for never."""
        if self.unrecorded_match:
            return self.clocks.finished_at_ms
        if awaits_step(self):
            # A process that is still at it when the time to reveal is over is helped by another one.
            return self.clocks.phase_until_ms
        deadline = self.next_deadline()
        return deadline.at_ms if deadline else None

    def _absence_counts(self, seat: int) -> bool:
        """Return whether the deadline of an absent player applies to this seat.

        While entropies are revealed only the deadline of that phase applies, and a seat that has stopped cannot be
        stopped again.
        """
        if self.phase is Phase.DEALING:
            return False
        if self.phase in (Phase.COUNTDOWN, Phase.RACING):
            return not dealt_race(self).racers[seat].ending
        return True


def open_round(state: RoomState) -> OpenRound:
    """Return the round of a room in a phase that has one. Raises AssertionError if it has none."""
    assert state.round is not None, "a round is open"
    return state.round


def dealt_race(state: RoomState) -> Race:
    """Return the race of a room in which the cards are dealt. Raises AssertionError if there is none."""
    assert state.race is not None, "a race is dealt"
    return state.race


def awaits_step(state: RoomState) -> bool:
    """Return whether the deal is fixed, and some process has to find its certified step before the cards are dealt."""
    is_certified = state.options.certified is not None and state.phase is Phase.DEALING
    return is_certified and all(seat is not None and seat.entropy for seat in state.seats)


def has_work_left(state: RoomState) -> bool:
    """Return whether some process has to work for the room even if nobody is connected: on a record, or on a step."""
    return state.unrecorded_match > 0 or awaits_step(state)


def round_seed(state: RoomState) -> bytes:
    """Return the seed of the round under way, for which both entropies are known."""
    opened = open_round(state)
    entropies = [entropy for seat in (0, 1) if (entropy := state.seat(seat).entropy)]
    return make_seed(opened.secret, entropies, opened.round_id)
