"""The outcome of a round, checked: the moves that were shown, replayed on the deal, lead to it. Pure."""

from collections.abc import Sequence

from fairest_protocol.calculation.deal import Deal
from fairest_protocol.calculation.race import DECISIVE, Ending, Outcome, Racer, Score, Turn, judge, start_race
from fairest_protocol.calculation.rules import Rules
from fairest_protocol.messages import entries

RaceEntry = entries.Turned | entries.Moved
"""An entry of the view that shows a card turned, or a move."""


class Cheated(Exception):
    """The server broke the seal. The text says which of its promises it broke, and what shows it."""


def name_place(turn: Turn) -> str:
    """Return the name of a place in the deal for people, who count from one."""
    return f"position {turn.position + 1}" + (f" of redeal {turn.pass_number}" if turn.pass_number else "")


def check_outcome(
    rules: Rules, deal: Deal, shown: Sequence[Sequence[RaceEntry]], outcome: Outcome, *, direct_breaks_ties: bool
) -> None:
    """Replay the turns and moves of each seat, in `shown`, and compare the outcome with them. Raises `Cheated`."""
    for seat, score in enumerate(outcome.scores):
        racer = _replay(rules, deal, seat, shown[seat])
        board = racer.board
        counted = (board.placed, board.goal, board.direct, racer.seen)
        if (score.placed, score.goal, score.direct, score.turns) != counted:
            raise Cheated(f"The result counts other cards for seat {seat + 1} than it has placed.")
        if not _may_end(racer, score):
            raise Cheated(f"Seat {seat + 1} is said to have ended as {score.ending}, which its race does not bear out.")
    endings = {score.ending for score in outcome.scores}
    if Ending.ROUND_OVER in endings and not endings & DECISIVE:
        raise Cheated("The round is said to be over, and nothing has ended it.")
    if outcome.winner != judge(outcome.scores, direct_breaks_ties=direct_breaks_ties):
        raise Cheated("The result names another winner than the counts do.")


def _replay(rules: Rules, deal: Deal, seat: int, shown: Sequence[RaceEntry]) -> Racer:
    race = start_race(rules, deal, seats=1)
    for entry in shown:
        racer = race.racers[0]
        if isinstance(entry, entries.Turned):
            turn = Turn(entry.pass_number, entry.position)
            if (turn, entry.card) != (racer.turn, racer.board.turned):
                raise Cheated(f"Seat {seat + 1} was shown the card at {name_place(turn)}, and it was not its turn.")
        elif racer.ending or race.refusal(0, entry.move):
            raise Cheated(f"Move {entry.number} of seat {seat + 1}, {entry.move}, is against the rules.")
        else:
            race = race.play(0, entry.move)
    return race.racers[0]


def _may_end(racer: Racer, score: Score) -> bool:
    """Return whether the score may name this ending for a race in the state of `racer`."""
    if racer.ending:
        return score.ending is racer.ending
    return score.ending in (Ending.OUT_OF_TIME, Ending.AWAY, Ending.RESIGNED, Ending.ROUND_OVER)
