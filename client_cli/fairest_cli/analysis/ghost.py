"""A race against the record of a player: its moves are made again when it made them. Pure, and offline.

The race is a real one by the rules, with the player in seat 0 and the ghost in seat 1, so the result and the counts
are those of a race. Time is an argument: milliseconds since the start.
"""

from collections.abc import Sequence
from typing import Final

from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.moves import Move
from fairest_protocol.calculation.race import Ending, Race, Turn
from fairest_protocol.calculation.record import BadRecord, Record, RecordedMove, RecordedStop
from fairest_protocol.value import Value, replace

PLAYER: Final = 0
GHOST: Final = 1


class GhostRace(Value):
    """A race against a ghost: `ahead` holds the events of its record that are still to come.

    `boards` holds the board of the ghost at each turn that it has reached, the newest one of each turn.
    """

    name: str
    race: Race
    ahead: tuple[RecordedMove | RecordedStop, ...]
    boards: tuple[tuple[Turn, Board], ...]

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
    def next_at_ms(self) -> int | None:
        """The time of the ghost's next event, or None if it has none left."""
        return _time(self.ahead[0]) if self.ahead else None

    def at(self, now_ms: int) -> "GhostRace":
        """Return the race at this time: the ghost has made its moves up to now."""
        ghost = self
        while ghost.ahead and not ghost.race.is_over and _time(ghost.ahead[0]) <= now_ms:
            ghost = ghost._next()
        return ghost

    def play(self, move: Move) -> "GhostRace":
        """Return the race after a legal move of the player."""
        return replace(self, race=self.race.play(PLAYER, move))

    def _next(self) -> "GhostRace":
        event, ahead = self.ahead[0], self.ahead[1:]
        if isinstance(event, RecordedMove):
            race = self.race.play(GHOST, event.move)
        else:
            race = self.race.stop((GHOST,), event.ending)
        racer, boards = race.racers[GHOST], self.boards
        if boards[-1][0] == racer.turn:
            boards = boards[:-1]
        return GhostRace(self.name, race, ahead, (*boards, (racer.turn, racer.board)))


def summon(record: Record, round_number: int, seat: int) -> GhostRace:
    """Return the race against this seat of a round, counted from 0, before its first move. Raises `BadRecord`."""
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
    racer = start.racers[seat]
    return GhostRace(record.names[seat], start, tuple(own), ((racer.turn, racer.board),))


def best_seat(record: Record, round_number: int) -> int:
    """Return the seat that is worth racing against: the winner of the round, else the one with more cards."""
    outcome = record.rounds[round_number].outcome
    if outcome is None:
        return 0
    if outcome.winner is not None:
        return outcome.winner
    placed: Sequence[int] = [score.placed for score in outcome.scores]
    return placed.index(max(placed))


def _is_of(event: RecordedMove | RecordedStop, seat: int) -> bool:
    return event.seat == seat if isinstance(event, RecordedMove) else seat in event.seats


def _time(event: RecordedMove | RecordedStop | None) -> int:
    """Return the time of an event: 0 for one before the start."""
    return event.at_ms or 0 if event else 0
