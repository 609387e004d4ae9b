"""The end of a round, proved: the server's secret makes the deal, and the deal and the moves make what was shown. Pure.

`check_deal` compares everything that was sealed, `check_race` replays what each seat was shown to do.
"""

from collections.abc import Mapping, Sequence

from fairest_protocol.calculation.cards import Card
from fairest_protocol.calculation.deal import Deal, SealedDeal
from fairest_protocol.calculation.round import DECISIVE, Ending, Outcome, Racer, Score, Turn, judge, start_round
from fairest_protocol.calculation.rules import Foundation, Rules
from fairest_protocol.messages import entries

Shown = entries.Turned | entries.Moved


class Cheated(Exception):
    """The server broke the seal. The text says which of its promises it broke, and how that shows."""


def name_place(turn: Turn) -> str:
    """A place in the deal, for people, who count from one."""
    return f"position {turn.position + 1}" + (f" of redeal {turn.pass_number}" if turn.pass_number else "")


def check_deal(
    sealed: SealedDeal,
    envelopes: Sequence[Sequence[bytes]],
    opened: Mapping[tuple[int, int], Card],
    laid: Sequence[Card] | None,
    layout: Sequence[Foundation] | None,
) -> None:
    """Compare the deal that the secret makes with the one that was shown; what was not shown is None.

    Raises `Cheated`.
    """
    for number, (shown, right) in enumerate(zip(envelopes, sealed.envelopes, strict=False)):
        for position, (envelope, wanted) in enumerate(zip(shown, right, strict=False)):
            if envelope != wanted:
                raise Cheated(f"The envelope at {name_place(Turn(number, position))} holds another deal's card.")
    if tuple(map(tuple, envelopes)) != sealed.envelopes:
        raise Cheated("The server showed more or fewer envelopes than its deal has.")
    for (number, position), card in opened.items():
        if sealed.deal.orders[number][position] != card:
            raise Cheated(
                f"The card at {name_place(Turn(number, position))} was {card}; the deal has another one there."
            )
    if laid is not None and tuple(laid) != (*sealed.deal.starters, *sealed.deal.markers):
        raise Cheated("Starters or markers are not those of the deal.")
    if layout is not None and tuple(layout) != sealed.deal.foundations:
        raise Cheated("The foundations are not those of the deal.")


def check_race(
    rules: Rules, deal: Deal, shown: Sequence[Sequence[Shown]], outcome: Outcome, *, direct_breaks_ties: bool
) -> None:
    """Replay what each seat was shown to turn and to move, and compare the outcome with it. Raises `Cheated`."""
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


def _replay(rules: Rules, deal: Deal, seat: int, shown: Sequence[Shown]) -> Racer:
    race = start_round(rules, deal, seats=1)
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
    """Whether a race that stands like this may be said to have ended like that."""
    if racer.ending:
        return score.ending is racer.ending
    return score.ending in (Ending.OUT_OF_TIME, Ending.AWAY, Ending.RESIGNED, Ending.ROUND_OVER)
