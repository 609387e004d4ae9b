"""A race against a run that was made before: its moves are made again when they were made. Pure, and offline.

The race is a real one by the rules, with the player in seat 0 and the ghost in seat 1, so the result and the counts
are those of a race. Time is an argument: milliseconds since the start.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from fairest_cli.model.run import Finish, Run
from fairest_cli.session.progress import Points, extended
from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.deal import make_deal
from fairest_protocol.calculation.moves import Move
from fairest_protocol.calculation.race import Ending, Race, Turn, start_race
from fairest_protocol.calculation.record import BadRecord, Record, RecordedMove, RecordedStop
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.value import Value, replace

PLAYER: Final = 0
GHOST: Final = 1
LIMIT_MS: Final = 1000 * RoomOptions().limit_seconds
CHASE_MS: Final = 1000 * RoomOptions().chase_seconds
"""The clocks of a race on a deal of no room: those that a room has if nobody chooses others."""


class GhostRace(Value):
    """A race against a ghost: `ahead` holds the events of its run that are still to come.

    `seed` is that of the deal. `finish` is the end of the whole run, which this race may not reach. `boards` holds the
    board of the ghost at each turn that it has reached, the newest one of each turn. `own` holds the moves of the
    player with their times, `now_ms` is the time up to which the race has gone. The player has `limit_ms`, and
    `chase_ms` once the ghost has stopped. `curves` are the counts over time: of the player, of the ghost's board as it
    is shown, and of the ghost.
    """

    name: str
    seed: bytes
    race: Race
    ahead: tuple[RecordedMove | RecordedStop, ...]
    finish: Finish
    boards: tuple[tuple[Turn, Board], ...]
    limit_ms: int = LIMIT_MS
    chase_ms: int = CHASE_MS
    own: tuple[tuple[int, Move], ...] = ()
    now_ms: int = 0
    curves: tuple[Points, Points, Points] = ((), (), ())

    @property
    def board(self) -> Board:
        """The player's board."""
        return self.race.racers[PLAYER].board

    @property
    def counts(self) -> tuple[int, int]:
        """The cards that the player and the ghost have placed."""
        first, second = (racer.board.placed for racer in self.race.racers)
        return first, second

    @property
    def shown_board(self) -> Board:
        """The board of the ghost as far as the player may see it: not beyond the player's own turn, as in a race.

        A player whose race has ended sees all of it.
        """
        own = self.race.racers[PLAYER]
        if own.ending:
            return self.boards[-1][1]
        return next(board for turn, board in reversed(self.boards) if turn <= own.turn)

    @property
    def is_racing(self) -> bool:
        """Whether the player may still move."""
        return not self.race.racers[PLAYER].ending

    @property
    def has_ghost_stopped(self) -> bool:
        """Whether the ghost's race has ended."""
        return self.race.racers[GHOST].ending is not None

    @property
    def deadline_ms(self) -> int:
        """The time at which the player's race is ended by the clock."""
        return min(self.limit_ms, self.finish.at_ms + self.chase_ms) if self.has_ghost_stopped else self.limit_ms

    @property
    def next_at_ms(self) -> int | None:
        """The time at which the race changes next without the player; None if it is over."""
        if self.race.is_over:
            return None
        times = [_time(event) for event in self.ahead[:1]] + [self.deadline_ms] * self.is_racing
        return min(times, default=None)

    @property
    def player_finish(self) -> Finish:
        """The end of the player's run, or its state up to now."""
        return Finish(self.board.placed, self.board.is_won, self.own[-1][0] if self.own else 0)

    @property
    def run(self) -> Run:
        """The run of the player up to now."""
        return Run(self.race.rules, self.seed, self.own)

    def at(self, now_ms: int) -> "GhostRace":
        """Return the race at this time: the ghost has made its moves up to now, and the clock has run."""
        ghost = self
        while (next_ms := ghost.next_at_ms) is not None and next_ms <= now_ms:
            ghost = ghost._changed(next_ms)
        return replace(ghost, now_ms=max(now_ms, ghost.now_ms))

    def play(self, move: Move) -> "GhostRace":
        """Return the race after a legal move of the player at the present time."""
        race, own = self.race.play(PLAYER, move), (*self.own, (self.now_ms, move))
        return _with_points(replace(self, race=race, own=own))

    def to_its_end(self) -> "GhostRace":
        """Return the race after all of its time, without another move of the player."""
        ghost = self
        while (next_ms := ghost.next_at_ms) is not None:
            ghost = ghost.at(next_ms)
        return ghost

    def _changed(self, at_ms: int) -> "GhostRace":
        """Return the race after its next change, which is at `at_ms`."""
        if not self.ahead or _time(self.ahead[0]) > at_ms:
            stopped = self.race.stop((PLAYER,), Ending.OUT_OF_TIME)
            return _with_points(replace(self, race=stopped, now_ms=at_ms))
        event, ahead = self.ahead[0], self.ahead[1:]
        race = _after_event(self.race, event)
        racer, boards = race.racers[GHOST], self.boards
        if boards[-1][0] == racer.turn:
            boards = boards[:-1]
        boards = (*boards, (racer.turn, racer.board))
        return _with_points(replace(self, race=race, ahead=ahead, boards=boards, now_ms=at_ms))


def summon(record: Record, round_number: int, seat: int) -> GhostRace:
    """Return the race against this seat of a round, counted from 0, before its first move. Raises `BadRecord`.

    The clocks are those of the match.
    """
    steps = list(record.steps(round_number))
    start, end = steps[0][1], steps[-1][1]
    own: list[RecordedMove | RecordedStop] = [event for event, _ in steps if event and _is_of(event, seat)]
    if end.racers[seat].ending is Ending.ROUND_OVER:
        # The other player won while this one was racing. Against somebody else the ghost stops there.
        own.append(RecordedStop(_time(steps[-1][0]), (seat,), Ending.STOPPED))
    if not any(isinstance(event, RecordedMove) for event in own):
        raise BadRecord(
            f"seat {seat + 1} made no move in round {round_number + 1}, so there is nothing to race against"
        )
    limit_ms, chase_ms = (1000 * record.terms.seconds(clock) for clock in ("limit_seconds", "chase_seconds"))
    ghost = _start(record.names[seat], record.rounds[round_number].seed, start, own)
    return replace(ghost, limit_ms=limit_ms, chase_ms=chase_ms)


def summon_run(name: str, run: Run) -> GhostRace:
    """Return the race against a run before its first move. Raises `BadRun`."""
    *_, end = run.races()
    events: list[RecordedMove | RecordedStop] = [RecordedMove(at_ms, GHOST, move) for at_ms, move in run.moves]
    if not end.is_over:
        events.append(RecordedStop(run.finish().at_ms, (GHOST,), Ending.STOPPED))
    return _start(name, run.seed, start_race(run.rules, make_deal(run.rules, run.seed)), events)


def _start(name: str, seed: bytes, start: Race, events: Sequence[RecordedMove | RecordedStop]) -> GhostRace:
    """Return the race against these events, which the rules allow; `start` is the race of two on their deal."""
    end = start
    for event in events:
        end = _after_event(end, event)
    board, first = end.racers[GHOST].board, start.racers[GHOST]
    finish = Finish(board.placed, board.is_won, _time(events[-1]) if events else 0)
    return _with_points(GhostRace(name, seed, start, tuple(events), finish, ((first.turn, first.board),)))


def seats_to_race(record: Record) -> Iterator[tuple[int, int]]:
    """Yield each seat that can be raced, as the number of its round and its own, both from 0."""
    for number, played in enumerate(record.rounds):
        movers = {event.seat for event in played.events if isinstance(event, RecordedMove)}
        yield from ((number, seat) for seat in sorted(movers) if played.is_dealt)


def best_seat(record: Record, round_number: int) -> int:
    """Return the seat that is worth racing against: the winner of the round, else the one with more cards."""
    outcome = record.rounds[round_number].outcome
    if outcome is None:
        return 0
    if outcome.winner is not None:
        return outcome.winner
    placed: Sequence[int] = [score.placed for score in outcome.scores]
    return placed.index(max(placed))


def _with_points(ghost: GhostRace) -> GhostRace:
    """Return the race with its present counts in the curves."""
    ours, theirs, ticks = ghost.curves
    mine, its = ghost.counts
    curves = (
        extended(ours, mine, ghost.now_ms),
        extended(theirs, ghost.shown_board.placed, ghost.now_ms),
        extended(ticks, its, ghost.now_ms),
    )
    return replace(ghost, curves=curves)


def _after_event(race: Race, event: RecordedMove | RecordedStop) -> Race:
    return race.play(GHOST, event.move) if isinstance(event, RecordedMove) else race.stop((GHOST,), event.ending)


def _is_of(event: RecordedMove | RecordedStop, seat: int) -> bool:
    return event.seat == seat if isinstance(event, RecordedMove) else seat in event.seats


def _time(event: RecordedMove | RecordedStop | None) -> int:
    """Return the time of an event: 0 for one before the start."""
    return event.at_ms or 0 if event else 0
