"""A run: the moves of one player on a deal, each with its time. It is what a ghost repeats. Pure."""

from collections.abc import Iterator

from fairest_protocol.calculation.deal import make_deal
from fairest_protocol.calculation.moves import RESIGN, Move
from fairest_protocol.calculation.race import Race, start_race
from fairest_protocol.calculation.rules import Rules
from fairest_protocol.value import Value


class BadRun(ValueError):
    """The moves are not a run on their deal. The text says which move is wrong, and why."""


class Finish(Value):
    """The end of a run: the cards placed, whether they are all, and the time of its last move."""

    placed: int
    is_won: bool
    at_ms: int

    def is_better_than(self, other: "Finish") -> bool:
        """Return whether more cards were placed than in another run on the same deal, or as many in less time."""
        return (self.placed, -self.at_ms) > (other.placed, -other.at_ms)


class Run(Value):
    """The moves of a player on the deal of `seed`, each with the milliseconds since the start.

    A run without a last word, `stop`, ended with the race: by the clock, or because somebody else had won.
    """

    rules: Rules
    seed: bytes
    moves: tuple[tuple[int, Move], ...]

    def races(self) -> Iterator[Race]:
        """Yield the race of one seat at the start, and after each move. Raises `BadRun`."""
        race, last_ms = start_race(self.rules, make_deal(self.rules, self.seed), seats=1), 0
        yield race
        for number, (at_ms, move) in enumerate(self.moves, 1):
            if at_ms < last_ms:
                raise BadRun(f"move {number} is earlier than the one before it")
            if race.is_over or move is RESIGN or race.refusal(0, move):
                raise BadRun(f"move {number}, {move.text}, is against the rules")
            race, last_ms = race.play(0, move), at_ms
            yield race

    def finish(self) -> Finish:
        """Return the end of the run. Raises `BadRun`."""
        *_, end = self.races()
        board = end.racers[0].board
        return Finish(board.placed, board.is_won, self.moves[-1][0] if self.moves else 0)
