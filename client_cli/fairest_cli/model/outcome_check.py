"""The outcome of a round, checked: the moves that were shown, replayed on the deal, lead to it. Pure."""

from collections.abc import Sequence

from fairest_cli.model.cheated import Cheated, name_place
from fairest_cli.model.deal_check import known_rules
from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.deal import Deal
from fairest_protocol.calculation.distance import MAX_ROUND_TRIP_US
from fairest_protocol.calculation.race import (
    DECISIVE,
    Ending,
    Outcome,
    Racer,
    Score,
    judge,
    start_race,
    undealt_outcome,
)
from fairest_protocol.calculation.rules import Rules
from fairest_protocol.messages import entries
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.messages.scene import Scene

RaceEntry = entries.Turned | entries.Moved
"""An entry of the view that shows a card turned, or a move."""


def check_both_ready(entropy_hashes: Sequence[bytes | None]) -> None:
    """Raise `Cheated` for a result before both players were ready: until then a round can only be called off."""
    if None in entropy_hashes:
        raise Cheated("The server ends the round with a result before both players were ready.")


def check_outcome(
    rules: Rules, deal: Deal, shown: Sequence[Sequence[RaceEntry]], outcome: Outcome, *, direct_breaks_ties: bool
) -> None:
    """Replay the turns and moves of each seat, in `shown`, and compare the outcome with them. Raises `Cheated`."""
    for seat, score in enumerate(outcome.scores):
        racer = _replay(rules, deal, seat, shown[seat])
        board = racer.board
        counted = (board.placed, board.goal, board.direct, racer.seen if shown[seat] else 0)
        if (score.placed, score.goal, score.direct, score.cards_turned) != counted:
            raise Cheated(f"The result counts other cards for seat {seat + 1} than it has placed.")
        if not _may_end(racer, score):
            raise Cheated(f"Seat {seat + 1} is said to have ended as {score.ending}, which its race does not bear out.")
    check_winner(outcome, direct_breaks_ties=direct_breaks_ties)


def check_undealt_outcome(rules: Rules, outcome: Outcome) -> None:
    """Compare the outcome of a round that was never dealt with the only ones that it can have. Raises `Cheated`."""
    endings = [score.ending for score in outcome.scores]
    losing = (Ending.NOT_REVEALED, Ending.RESIGNED)
    is_possible = any(ending in losing for ending in endings) and set(endings) <= {*losing, Ending.ROUND_OVER}
    if not is_possible or outcome != undealt_outcome(rules, endings):
        raise Cheated("The result counts cards or names a winner, and no cards were dealt.")


def check_boards(boards: Sequence[Board | None], outcome: Outcome, *, direct_breaks_ties: bool) -> None:
    """Compare the outcome with the last boards that were shown, where the race cannot be replayed from its start.

    Raises `Cheated`.
    """
    for seat, (board, score) in enumerate(zip(boards, outcome.scores, strict=True)):
        if board is None or (score.placed, score.goal, score.direct) != (board.placed, board.goal, board.direct):
            raise Cheated(f"The result counts other cards for seat {seat + 1} than its board shows.")
        if (score.ending is Ending.WON) != board.is_won or (score.ending is Ending.STUCK and not board.is_stuck):
            raise Cheated(
                f"Seat {seat + 1} is said to have ended as {score.ending}, which its board does not bear out."
            )
    check_winner(outcome, direct_breaks_ties=direct_breaks_ties)


def check_counts(scene: Scene, outcome: Outcome, *, is_dealt: bool) -> None:
    """Compare an outcome with the boards of a scene, where the race cannot be replayed. Raises `Cheated`.

    Rules that this client does not know are passed over.
    """
    rules, breaks_ties = known_rules(scene.options), scene.options.direct_breaks_ties
    if rules is None:
        return
    if not is_dealt:
        check_undealt_outcome(rules, outcome)
    elif scene.phase in (Phase.WAITING, Phase.CLOSED):
        # A seat was freed since, and the cards went with it.
        check_winner(outcome, direct_breaks_ties=breaks_ties)
    else:
        check_boards([seat.board for seat in scene.seats], outcome, direct_breaks_ties=breaks_ties)


def check_standing(
    wins_before: Sequence[int], finished: entries.RoundFinished, round_number: int, options: RoomOptions
) -> None:
    """Compare the rounds won by each seat, whether that ends the match, and the ledger, with the outcome.

    Raises `Cheated`.
    """
    check_ledger(finished.outcome, has_credit=options.credit is not None)
    wins = tuple(won + (finished.outcome.winner == seat) for seat, won in enumerate(wins_before))
    is_over = max(wins) > options.best_of // 2 or round_number >= options.best_of
    if (finished.wins, finished.match_is_over) != (wins, is_over):
        raise Cheated("The server counts other rounds won than those that it has shown.")


def check_winner(outcome: Outcome, *, direct_breaks_ties: bool) -> None:
    """Compare the winner of an outcome with its counts and endings. Raises `Cheated`."""
    endings = {score.ending for score in outcome.scores}
    if Ending.ROUND_OVER in endings and not endings & DECISIVE:
        raise Cheated("The round is said to be over, and nothing has ended it.")
    if outcome.ledger is None and all(score.ending is Ending.WON for score in outcome.scores):
        raise Cheated("Both players are said to have placed every card, and no times say who was first.")
    if outcome.winner != judge(outcome.scores, direct_breaks_ties=direct_breaks_ties, ledger=outcome.ledger):
        raise Cheated("The result names another winner than the counts do.")


def check_ledger(outcome: Outcome, *, has_credit: bool) -> None:
    """Check that an outcome has a ledger just where it has to, and that it adds up. Raises `Cheated`.

    Arrivals and round trips rest on the server's word; the record has the time of each move, and lets anybody compute
    the credit again.
    """
    has_won = any(score.ending is Ending.WON for score in outcome.scores)
    if (outcome.ledger is not None) != (has_credit and has_won):
        raise Cheated("The result credits distance where it is not to be credited, or does not where it is.")
    for score, timing in zip(outcome.scores, outcome.ledger or (), strict=bool(outcome.ledger)):
        most_ms = score.cards_turned * MAX_ROUND_TRIP_US // 1000
        arrival_ms, is_in_bounds = timing.arrival_ms, 0 <= timing.credit_ms <= most_ms
        corrected_ms = None if arrival_ms is None else arrival_ms - timing.credit_ms
        is_of_ending = (arrival_ms is not None) == (score.ending is Ending.WON)
        if not is_in_bounds or not is_of_ending or timing.corrected_ms != corrected_ms:
            raise Cheated("The times in the result do not add up.")


def _replay(rules: Rules, deal: Deal, seat: int, shown: Sequence[RaceEntry]) -> Racer:
    race = start_race(rules, deal, seats=1)
    for entry in shown:
        racer = race.racers[0]
        if isinstance(entry, entries.Turned):
            turn = entry.turn
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
