"""Whole races of two seats at different distances: each card costs a seat its round trip, and the time of a think."""

import random
from collections.abc import Callable

from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.moves import Move
from fairest_protocol.calculation.race import Outcome
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.options import RoomOptions
from fairest_server.room.commands import ExpireDeadline, NoteRoundTrip
from tests.support.races import Table

OPTIONS = RoomOptions(rules="classic", piles=8, redeals=2, countdown_seconds=0, credit=1)
"""The policy below placed every card of 1,500 of 1,500 such deals; with one redeal, of 1,458."""
Think = Callable[[int], int]
"""Returns for how many milliseconds a seat thinks about its next card."""


def choose(board: Board) -> Move:
    """Return the move of a policy without chance: both seats play a deal alike, so that only time tells them apart."""
    moves = list(board.legal_moves())
    placing = [move for move in moves if move.places and not move.takes_turned] or [
        each for each in moves if each.places
    ]
    if placing:
        return min(placing, key=lambda move: (len(board.foundations[move.target]), move.text))
    return min(moves, key=lambda move: (len(board.piles[move.target]) if move.takes_turned else 0, move.text))


def waits(board: Board) -> bool:
    """Return whether the policy's next move needs the card that the server has just turned."""
    return choose(board).takes_turned


class TableApart(Table):
    """A table whose events happen at chosen times."""

    def __init__(self, seed: int, options: RoomOptions = OPTIONS) -> None:
        super().__init__(seed, options)
        self.start()

    @property
    def started_ms(self) -> int:
        started_at_ms = self.state.clocks.started_at_ms
        assert started_at_ms is not None
        return started_at_ms

    def measure(self, seat: int, rtt_us: int) -> None:
        """Let the process of this seat's connection note a round trip."""
        self.submit(NoteRoundTrip(self.state.seat(seat).connection_id or "", rtt_us))

    def play_at(self, seat: int, since_start_ms: int, move: Move | None = None) -> None:
        """Make the move of the policy, or this one, at a time since the start of the race."""
        assert self.state.race is not None
        self.now_ms = self.started_ms + since_start_ms - 1000
        self.play(seat, move or choose(self.state.race.racers[seat].board))

    def expire(self) -> None:
        """Let the next deadline pass, in its own millisecond."""
        deadline = self.state.next_deadline()
        assert deadline is not None
        self.now_ms = max(self.now_ms, deadline.at_ms) - 1000
        self.submit(ExpireDeadline(deadline.at_ms))

    def race_apart(self, round_trips_ms: tuple[int, int], think: Think) -> Outcome:
        """Race both seats to the end of the round, and return its result."""
        base_ms = max(0, self.now_ms - self.started_ms)
        due = [base_ms + round_trips_ms[seat] + think(seat) for seat in (0, 1)]
        while self.state.phase is Phase.RACING:
            race, deadline = self.state.race, self.state.next_deadline()
            assert race is not None and deadline is not None
            seat = min((each for each in (0, 1) if not race.racers[each].ending), key=lambda each: (due[each], each))
            if deadline.at_ms - self.started_ms < due[seat]:
                self.expire()
                continue
            self.play_at(seat, due[seat])
            racer = self.state.race.racers[seat] if self.state.race else None
            if racer is not None and not racer.ending:
                due[seat] += round_trips_ms[seat] + think(seat) if waits(racer.board) else 1
        assert self.state.round is not None and self.state.round.outcome is not None
        return self.state.round.outcome


def race_apart(
    seed: int, round_trips_ms: tuple[int, int], think: Think, measured_us: tuple[int, int] | None = None
) -> TableApart:
    """Race a deal at these distances, which were measured as they are, or as `measured_us` says."""
    table = TableApart(seed)
    for seat, rtt_ms in enumerate(round_trips_ms):
        table.measure(seat, rtt_ms * 1000 if measured_us is None else measured_us[seat])
    table.race_apart(round_trips_ms, think)
    return table


def think_by(seed: int, mean_ms: float = 60.0) -> Think:
    """Return thinks of both seats from one distribution; one in five cards is answered at once."""
    sources = random.Random(seed * 2), random.Random(seed * 2 + 1)

    def think(seat: int) -> int:
        chance = sources[seat]
        return 0 if chance.random() < 0.2 else round(chance.expovariate(1 / mean_ms))

    return think


def outcome_of(table: TableApart) -> Outcome:
    """Return the result of the round that is over."""
    assert table.state.round is not None and table.state.round.outcome is not None
    return table.state.round.outcome


def credited_tables() -> list[Table]:
    """Return matches of each kind that a room with credit can have: the far seat is first, the near one, neither."""
    tables: list[Table] = [race_apart(40 + seed, (200, 20), think_by(seed)) for seed in range(2)]
    tables += [race_apart(42, (20, 200), lambda seat: (50, 60)[1 - seat]), race_apart(43, (200, 20), lambda _: 60)]
    tables += [race_apart(44, (200, 20), lambda seat: (90, 30)[seat]), race_apart(45, (30, 30), think_by(45), (0, 0))]
    return tables


def certified_and_credited() -> Table:
    """Return a match of a certified room with credit."""
    table = TableApart(46, OPTIONS.model_copy(update={"certified": 1, "limit_seconds": 60}))
    table.measure(0, 150_000)
    table.race_apart((150, 30), think_by(46))
    return table
