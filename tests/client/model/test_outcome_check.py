"""The outcome of a round has to follow from the cards and moves that were shown."""

from typing import Any

import pytest

from fairest_cli.model.cheated import Cheated, name_place
from fairest_cli.model.outcome_check import RaceEntry, check_outcome
from fairest_protocol.calculation.deal import make_deal
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.calculation.race import Ending, Outcome, Racer, Score, Turn, start_race
from fairest_protocol.calculation.rules import VARIANTS
from fairest_protocol.messages import entries
from fairest_protocol.messages.fields import as_seat
from fairest_protocol.value import replace

RULES = VARIANTS["classic"].rules
DEAL = make_deal(RULES, bytes(32))


def turned_by(seat: int, racer: Racer) -> entries.Turned:
    card = racer.board.turned
    assert card is not None
    return entries.Turned(seat=as_seat(seat), turn=racer.turn, card=card, salt=bytes(32))


def moved_by(seat: int, number: int, move: str) -> entries.Moved:
    return entries.Moved(seat=as_seat(seat), number=number, move=MOVES[move], card=None)


def race_of(seat: int, *moves: str) -> tuple[list[RaceEntry], Racer]:
    """Return the entries that show a seat make these moves, and its race after them."""
    race = start_race(RULES, DEAL, seats=1)
    shown: list[RaceEntry] = [turned_by(seat, race.racers[0])]
    for number, move in enumerate(moves, 1):
        race = race.play(0, MOVES[move])
        shown.append(moved_by(seat, number, move))
        if MOVES[move].takes_turned:
            shown.append(turned_by(seat, race.racers[0]))
    return shown, race.racers[0]


def score_of(racer: Racer, ending: Ending = Ending.OUT_OF_TIME) -> Score:
    board = racer.board
    return Score(board.placed, board.goal, board.direct, racer.seen, ending)


FIRST, FIRST_RACER = race_of(0, "sa")
SECOND, SECOND_RACER = race_of(1, "sb", "sc")
TIMED_OUT = Outcome(None, (score_of(FIRST_RACER), score_of(SECOND_RACER)))


def check(first: list[RaceEntry] = FIRST, second: list[RaceEntry] = SECOND, outcome: Outcome = TIMED_OUT) -> None:
    check_outcome(RULES, DEAL, (first, second), outcome, direct_breaks_ties=False)


def with_second(score: Score, winner: int | None = None) -> Outcome:
    return Outcome(winner, (TIMED_OUT.scores[0], score))


def test_a_draw_that_the_clock_ended_is_accepted() -> None:
    check()


def test_a_round_that_the_other_player_resigned_is_over() -> None:
    resigned, racer = race_of(1, "resign")
    over = replace(TIMED_OUT.scores[0], ending=Ending.ROUND_OVER)
    check(second=resigned, outcome=Outcome(0, (over, score_of(racer, Ending.RESIGNED))))


@pytest.mark.parametrize("field", ["placed", "goal", "direct", "cards_turned"])
def test_a_count_that_the_race_does_not_lead_to_is_noticed(field: str) -> None:
    score = TIMED_OUT.scores[1]
    changes: dict[str, Any] = {field: getattr(score, field) + 1}
    with pytest.raises(Cheated, match=r"^The result counts other cards for seat 2 than it has placed\.$"):
        check(outcome=with_second(replace(score, **changes), winner=1))


def test_another_winner_than_the_counts_name_is_noticed() -> None:
    with pytest.raises(Cheated, match=r"^The result names another winner than the counts do\.$"):
        check(outcome=with_second(TIMED_OUT.scores[1], winner=1))


def test_an_ending_that_the_race_does_not_bear_out_is_named_with_its_seat() -> None:
    stuck = with_second(replace(TIMED_OUT.scores[1], ending=Ending.STUCK))
    with pytest.raises(Cheated, match=r"^Seat 2 is said to have ended as stuck, which its race does not bear out\.$"):
        check(outcome=stuck)


@pytest.mark.parametrize("changes", [{"turn": Turn(0, 5)}, {"card": DEAL.orders[0][-1]}])
def test_a_card_that_is_not_the_next_one_of_the_deal_is_noticed(changes: dict[str, Any]) -> None:
    other = SECOND[2].model_copy(update=changes)
    place = name_place(changes.get("turn", Turn(0, 1)))
    with pytest.raises(Cheated, match=f"^Seat 2 was shown the card at {place}, and it was not its turn"):
        check(second=[*SECOND[:2], other, *SECOND[3:]])


def test_a_move_that_the_rules_forbid_is_noticed() -> None:
    with pytest.raises(Cheated, match=r"^Move 3 of seat 2, d1, is against the rules\.$"):
        check(second=[*SECOND, moved_by(1, 3, "d1")])


def test_a_move_after_the_end_of_a_race_is_noticed() -> None:
    resigned, _ = race_of(1, "resign")
    with pytest.raises(Cheated, match=r"^Move 2 of seat 2, sa, is against the rules\.$"):
        check(second=[*resigned, moved_by(1, 2, "sa")])


@pytest.mark.parametrize(("turn", "name"), [(Turn(0, 0), "position 1"), (Turn(2, 4), "position 5 of redeal 2")])
def test_people_count_the_places_of_a_deal_from_one(turn: Turn, name: str) -> None:
    assert name_place(turn) == name
