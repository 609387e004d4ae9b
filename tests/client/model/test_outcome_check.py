"""The outcome of a round has to follow from the cards and moves that were shown."""

from contextlib import nullcontext
from itertools import product
from typing import Any

import pytest

from fairest_cli.model.cheated import Cheated, name_place
from fairest_cli.model.outcome_check import (
    RaceEntry,
    check_boards,
    check_counts,
    check_ledger,
    check_outcome,
    check_standing,
    check_undealt_outcome,
    check_winner,
)
from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.deal import make_deal
from fairest_protocol.calculation.distance import Timing
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.calculation.race import Ending, Outcome, Racer, Score, Turn, start_race, undealt_outcome
from fairest_protocol.calculation.rules import VARIANTS
from fairest_protocol.messages import entries
from fairest_protocol.messages.fields import Phase, as_seat
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.messages.scene import Scene, SeatScene
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


def test_a_seat_that_was_shown_nothing_has_turned_no_card() -> None:
    _, racer = race_of(1)
    nothing = replace(score_of(racer), cards_turned=0)
    check(second=[], outcome=with_second(nothing))


PLACED = FIRST_RACER.board
"""A board of a race under way."""
WON = replace(PLACED, foundations=(PLACED.foundations[0] * 13,) * 4, piles=((),) * 4, turned=None, stock=0)
STUCK = replace(PLACED, piles=((),) * 4, turned=None, stock=0)


def shown_on(board: Board, ending: Ending = Ending.OUT_OF_TIME, **changes: int) -> Score:
    score = Score(board.placed, board.goal, board.direct, 1, ending)
    return replace(score, **changes)  # type: ignore[arg-type]


def check_second(board: Board | None, score: Score, winner: int | None) -> None:
    """Compare a result with boards, of which the first is the one before its end."""
    outcome = Outcome(winner, (shown_on(PLACED), score))
    check_boards([PLACED, board], outcome, direct_breaks_ties=False)


@pytest.mark.parametrize(
    ("board", "ending", "winner"),
    [(PLACED, Ending.OUT_OF_TIME, None), (WON, Ending.WON, 1), (STUCK, Ending.STUCK, None)],
)
def test_a_result_that_the_last_boards_bear_out_is_accepted(board: Board, ending: Ending, winner: int | None) -> None:
    check_second(board, shown_on(board, ending), winner)


@pytest.mark.parametrize("changes", [{"placed": 1}, {"goal": 51}, {"direct": 9}])
def test_each_count_is_that_of_the_last_board(changes: dict[str, Any]) -> None:
    with pytest.raises(Cheated, match=r"^The result counts other cards for seat 2 than its board shows\.$"):
        check_second(PLACED, shown_on(PLACED, **changes), None)


def test_a_seat_whose_board_was_not_shown_has_no_counts() -> None:
    with pytest.raises(Cheated, match=r"^The result counts other cards for seat 2 than its board shows\.$"):
        check_second(None, shown_on(PLACED), None)


@pytest.mark.parametrize(
    ("board", "ending"), [(PLACED, Ending.WON), (WON, Ending.OUT_OF_TIME), (PLACED, Ending.STUCK), (WON, Ending.STUCK)]
)
def test_an_ending_that_the_last_board_does_not_bear_out_is_named(board: Board, ending: Ending) -> None:
    with pytest.raises(Cheated) as alarm:
        check_second(board, shown_on(board, ending), None)
    assert str(alarm.value) == f"Seat 2 is said to have ended as {ending}, which its board does not bear out."


def test_the_winner_is_that_of_the_last_boards() -> None:
    with pytest.raises(Cheated, match=r"^The result names another winner than the counts do\.$"):
        check_second(PLACED, shown_on(PLACED), 0)


OVER, RESIGNED, SILENT = Ending.ROUND_OVER, Ending.RESIGNED, Ending.NOT_REVEALED


@pytest.mark.parametrize("endings", [(OVER, RESIGNED), (SILENT, OVER), (SILENT, SILENT), (RESIGNED, SILENT)])
def test_a_round_that_was_never_dealt_ends_since_a_player_gave_up_or_was_silent(endings: tuple[Ending, Ending]) -> None:
    check_undealt_outcome(RULES, undealt_outcome(RULES, endings))


@pytest.mark.parametrize("endings", [(OVER, OVER), (RESIGNED, Ending.AWAY), (Ending.STUCK, Ending.STUCK)])
def test_a_round_that_was_never_dealt_ends_in_no_other_way(endings: tuple[Ending, Ending]) -> None:
    with pytest.raises(Cheated, match=r"^The result counts cards or names a winner, and no cards were dealt\.$"):
        check_undealt_outcome(RULES, undealt_outcome(RULES, endings))


@pytest.mark.parametrize("changes", [{"placed": 1}, {"goal": 51}, {"direct": 1}, {"cards_turned": 1}])
def test_a_round_that_was_never_dealt_has_no_counts(changes: dict[str, Any]) -> None:
    honest = undealt_outcome(RULES, (OVER, RESIGNED))
    first, second = honest.scores
    with pytest.raises(Cheated, match="no cards were dealt"):
        check_undealt_outcome(RULES, replace(honest, scores=(replace(first, **changes), second)))


def scene_of(phase: Phase, rules: str = "classic", **changes: Any) -> Scene:
    seats = (SeatScene(board=PLACED), SeatScene(board=PLACED))
    return Scene(options=RoomOptions(rules=rules, **changes), phase=phase, seats=seats)


DRAW = Outcome(None, (shown_on(PLACED), shown_on(PLACED)))
MORE = Outcome(1, (shown_on(PLACED), shown_on(PLACED, placed=PLACED.placed + 1)))
"""A result with one more card than the board of seat 1 shows."""
FALSE_WINNER = replace(DRAW, winner=0)


@pytest.mark.parametrize(
    ("scene", "outcome", "is_dealt"),
    [
        (scene_of(Phase.FINISHED), DRAW, True),
        (scene_of(Phase.WAITING), MORE, True),
        (scene_of(Phase.CLOSED), MORE, True),
        (scene_of(Phase.READY), undealt_outcome(RULES, (OVER, RESIGNED)), False),
        (scene_of(Phase.FINISHED, "colorado"), FALSE_WINNER, True),
        (scene_of(Phase.FINISHED, "colorado"), FALSE_WINNER, False),
    ],
)
def test_a_result_is_compared_with_what_the_scene_still_shows(scene: Scene, outcome: Outcome, is_dealt: bool) -> None:
    check_counts(scene, outcome, is_dealt=is_dealt)


@pytest.mark.parametrize(
    ("scene", "outcome", "is_dealt", "sentence"),
    [
        (scene_of(Phase.FINISHED), MORE, True, "other cards for seat 2 than its board shows"),
        (scene_of(Phase.FINISHED), FALSE_WINNER, True, "another winner"),
        (scene_of(Phase.WAITING), FALSE_WINNER, True, "another winner"),
        (scene_of(Phase.CLOSED), FALSE_WINNER, True, "another winner"),
        (scene_of(Phase.FINISHED), DRAW, False, "no cards were dealt"),
    ],
)
def test_a_result_that_the_scene_contradicts_is_an_alarm(
    scene: Scene, outcome: Outcome, is_dealt: bool, sentence: str
) -> None:
    with pytest.raises(Cheated, match=sentence):
        check_counts(scene, outcome, is_dealt=is_dealt)


@pytest.mark.parametrize("phase", [Phase.FINISHED, Phase.WAITING])
def test_direct_cards_break_a_tie_in_a_room_where_they_do(phase: Phase) -> None:
    direct = replace(PLACED, direct=PLACED.direct + 1)
    scene = scene_of(phase, direct_breaks_ties=True)
    shown = scene.model_copy(update={"seats": (SeatScene(board=PLACED), SeatScene(board=direct))})
    check_counts(shown, Outcome(1, (shown_on(PLACED), shown_on(direct))), is_dealt=True)


def test_the_rounds_won_and_the_end_of_the_match_follow_from_the_winners() -> None:
    cases = product([(0, 0), (1, 0), (0, 1), (1, 1), (2, 1)], [0, 1, None], [1, 3, 4, 5], [1, 3, 5])
    wrong = [(case, found) for case in cases if (found := accepted_standings(*case)) != [standing_after(*case)]]
    assert wrong == []


def standing_after(
    before: tuple[int, int], winner: int | None, number: int, best_of: int
) -> tuple[tuple[int, int], bool]:
    """Return the rounds won after a round, and whether the match is over."""
    wins = (before[0] + (winner == 0), before[1] + (winner == 1))
    return wins, 2 * max(wins) > best_of or number >= best_of


def accepted_standings(
    before: tuple[int, int], winner: int | None, number: int, best_of: int
) -> list[tuple[tuple[int, int], bool]]:
    """Return the standings that the check accepts after a round."""
    return [
        (shown, over)
        for shown in [(0, 0), (1, 0), (0, 1), (1, 1), (2, 0), (0, 2), (1, 2), (2, 1), (2, 2), (3, 1)]
        for over in (False, True)
        if is_standing_accepted(before, winner, shown, number, best_of, match_is_over=over)
    ]


def is_standing_accepted(
    before: tuple[int, int],
    winner: int | None,
    wins: tuple[int, int],
    number: int,
    best_of: int,
    *,
    match_is_over: bool,
) -> bool:
    outcome = replace(DRAW, winner=winner)
    finished = entries.RoundFinished(
        outcome=outcome, wins=wins, match_is_over=match_is_over, duration_ms=1, secret=bytes(32)
    )
    try:
        check_standing(before, finished, number, RoomOptions().model_copy(update={"best_of": best_of}))
    except Cheated as alarm:
        return str(alarm) != "The server counts other rounds won than those that it has shown."
    return True


def test_a_round_without_credit_has_no_times_in_its_standing() -> None:
    outcome = Outcome(1, (shown_on(PLACED, OVER), shown_on(WON, Ending.WON)), TIMES)
    finished = entries.RoundFinished(outcome=outcome, wins=(0, 1), match_is_over=True, duration_ms=1, secret=bytes(32))
    with pytest.raises(Cheated, match="credits distance where it is not to be credited"):
        check_standing((0, 0), finished, 1, RoomOptions())


TIMES = (Timing(None, 0, 0, None), Timing(1_000, 0, 300, 700))


@pytest.mark.parametrize(("credit_ms", "is_accepted"), [(-1, False), (0, True), (300, True), (301, False)])
def test_the_credit_is_bounded_by_the_cards_that_were_turned(credit_ms: int, is_accepted: bool) -> None:
    second = Timing(1_000, 0, credit_ms, 1_000 - credit_ms)
    outcome = Outcome(1, (shown_on(PLACED, OVER), shown_on(WON, Ending.WON)), (TIMES[0], second))
    with nullcontext() if is_accepted else pytest.raises(Cheated, match=r"^The times in the result do not add up\.$"):
        check_ledger(outcome, has_credit=True)


@pytest.mark.parametrize(
    ("endings", "is_accepted"),
    [
        ((OVER, RESIGNED), True),
        ((OVER, SILENT), True),
        ((OVER, Ending.WON), True),
        ((OVER, OVER), False),
        ((OVER, Ending.STUCK), False),
        ((Ending.STUCK, Ending.AWAY), True),
    ],
)
def test_a_round_is_over_for_one_seat_when_the_other_has_decided_it(
    endings: tuple[Ending, Ending], is_accepted: bool
) -> None:
    scores = tuple(shown_on(PLACED, ending) for ending in endings)
    decided = 1 if Ending.WON in endings else 0 if endings[0] is OVER and is_accepted else None
    sentence = r"^The round is said to be over, and nothing has ended it\.$"
    with nullcontext() if is_accepted else pytest.raises(Cheated, match=sentence):
        check_winner(Outcome(decided, scores), direct_breaks_ties=False)


@pytest.mark.parametrize("ending", [Ending.OUT_OF_TIME, Ending.AWAY, Ending.RESIGNED])
def test_a_race_under_way_may_be_ended_by_the_clock_or_its_player(ending: Ending) -> None:
    second = replace(TIMED_OUT.scores[1], ending=ending)
    check(outcome=with_second(second, winner=0 if ending is Ending.RESIGNED else None))
