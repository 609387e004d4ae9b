"""Turns, horizon, endings and the outcome of a race."""

import pytest

from fairest_protocol.calculation.deal import make_deal
from fairest_protocol.calculation.distance import Timing
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.calculation.race import Ending, Outcome, Race, Score, Turn, judge, start_race, undealt_outcome
from fairest_protocol.calculation.rules import choose_rules
from fairest_protocol.value import replace

CLASSIC = choose_rules("classic")


@pytest.fixture
def race() -> Race:
    return start_race(CLASSIC, make_deal(CLASSIC, bytes(32)))


def test_both_players_see_the_same_first_card(race: Race) -> None:
    assert race.racers[0].board.turned == race.racers[1].board.turned == race.deal.orders[0][0]


def test_placing_the_turned_card_is_one_turn(race: Race) -> None:
    after = race.play(0, MOVES["sa"])
    assert (after.racers[0].turn, after.racers[1].turn) == (Turn(0, 1), Turn(0, 0))


def test_the_horizon_is_the_lowest_turn_among_the_seats_still_racing(race: Race) -> None:
    ahead = race.play(0, MOVES["sa"]).play(0, MOVES["sb"])
    assert ahead.horizon == (Turn(0, 0), False)
    assert ahead.play(1, MOVES["stop"]).horizon == (Turn(0, 2), False)


def test_an_empty_stock_is_one_more_turn(race: Race) -> None:
    for _ in range(48):
        race = race.play(0, MOVES["sa"])
    assert race.racers[0].turn == Turn(0, 48)


def test_resigning_loses_at_once(race: Race) -> None:
    over = race.play(0, MOVES["resign"])
    assert over.is_over
    assert over.outcome().winner == 1


def test_a_player_who_stops_keeps_the_count(race: Race) -> None:
    over = race.play(0, MOVES["stop"]).play(1, MOVES["stop"])
    assert [score.placed for score in over.outcome().scores] == [4, 4]


def test_equal_counts_are_a_draw(race: Race) -> None:
    assert race.stop((0, 1), Ending.OUT_OF_TIME).outcome().winner is None


def test_more_direct_plays_break_a_tie_if_the_room_has_that_option(race: Race) -> None:
    racers = (race.racers[0], replace(race.racers[1], board=replace(race.racers[1].board, direct=3)))
    tied = replace(race, racers=racers).stop((0, 1), Ending.OUT_OF_TIME)
    assert tied.outcome().winner is None
    assert replace(tied, direct_breaks_ties=True).outcome().winner == 1


def test_reshuffled_cards_come_back_in_the_same_order_however_the_piles_lie() -> None:
    rules = choose_rules("redeal")
    race = start_race(rules, make_deal(rules, bytes(32)))
    for turned in range(48):
        race = race.play(0, MOVES[f"s{'abcd'[turned % 4]}"]).play(1, MOVES[f"s{'abcd'[turned // 12]}"])
    race = race.play(0, MOVES["redeal"]).play(1, MOVES["redeal"])
    seen = []
    for _ in range(48):
        assert race.racers[0].board.turned == race.racers[1].board.turned
        seen.append(race.racers[0].board.turned)
        race = race.play(0, MOVES["sa"]).play(1, MOVES["sd"])
    assert tuple(seen) == race.deal.orders[1]


def test_a_near_miss_is_45_of_52() -> None:
    assert Score(45, 52, 0, 48, Ending.STUCK).is_near_miss
    assert not Score(44, 52, 0, 48, Ending.STUCK).is_near_miss
    assert Score(90, 104, 0, 96, Ending.STUCK).is_near_miss


def test_a_race_that_was_won_is_not_a_near_miss() -> None:
    assert not Score(52, 52, 0, 48, Ending.WON).is_near_miss


def test_a_round_that_ended_before_the_deal_has_scores_without_cards() -> None:
    outcome = undealt_outcome(CLASSIC, (Ending.NOT_REVEALED, Ending.ROUND_OVER))
    assert outcome.scores == (Score(0, 52, 0, 0, Ending.NOT_REVEALED), Score(0, 52, 0, 0, Ending.ROUND_OVER))


def test_the_last_turn_is_behind_the_stock_of_the_last_pass() -> None:
    rules = choose_rules("redeal")
    race = start_race(rules, make_deal(rules, bytes(32)))
    assert [race.is_last_turn(turn) for turn in (Turn(0, 48), Turn(1, 47), Turn(1, 48))] == [False, False, True]


def score(ending: Ending, placed: int = 9, direct: int = 3) -> Score:
    return Score(placed, 52, direct, 48, ending)


SLOWER, FASTER = Timing(9_000, 0, 0, 9_000), Timing(8_000, 0, 0, 8_000)


RESULTS: list[tuple[tuple[Score, Score], bool, tuple[Timing, Timing] | None, int | None]] = [
    ((score(Ending.STUCK), score(Ending.STUCK)), False, None, None),
    ((score(Ending.STUCK, 10), score(Ending.STUCK)), False, None, 0),
    ((score(Ending.STUCK), score(Ending.STUCK, 10)), False, None, 1),
    ((score(Ending.WON), score(Ending.STUCK, 10)), False, None, 0),
    ((score(Ending.ROUND_OVER, 10), score(Ending.WON)), False, None, 1),
    ((score(Ending.WON), score(Ending.WON)), False, (SLOWER, FASTER), 1),
    ((score(Ending.WON), score(Ending.WON)), False, (FASTER, SLOWER), 0),
    ((score(Ending.WON), score(Ending.STUCK)), False, (SLOWER, FASTER), 0),
    ((score(Ending.RESIGNED, 10), score(Ending.ROUND_OVER)), False, None, 1),
    ((score(Ending.ROUND_OVER), score(Ending.NOT_REVEALED, 10)), False, None, 0),
    ((score(Ending.NOT_REVEALED), score(Ending.NOT_REVEALED)), False, None, None),
    ((score(Ending.AWAY, 9, 4), score(Ending.STUCK)), False, None, None),
    ((score(Ending.AWAY, 9, 4), score(Ending.STUCK)), True, None, 0),
    ((score(Ending.STUCK, 9), score(Ending.STUCK, 8, 9)), True, None, 0),
]
"""The scores of both seats, whether direct plays break ties, the ledger, and the winner."""


def test_the_winner_follows_from_the_scores() -> None:
    wrong = [
        (found, winner, scores)
        for scores, direct_breaks_ties, ledger, winner in RESULTS
        if (found := judge(scores, direct_breaks_ties=direct_breaks_ties, ledger=ledger)) != winner
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("has_credit", "ending", "is_kept"),
    [(True, Ending.WON, True), (True, Ending.STUCK, False), (False, Ending.WON, False)],
)
def test_the_ledger_is_part_of_a_result_with_credit_that_a_seat_won(
    race: Race, has_credit: bool, ending: Ending, is_kept: bool
) -> None:
    over = replace(race, has_credit=has_credit).stop((0,), ending).stop((1,), Ending.STUCK)
    assert over.outcome((SLOWER, FASTER)).ledger == ((SLOWER, FASTER) if is_kept else None)


@pytest.mark.parametrize(
    ("ending", "has_credit", "other"),
    [
        (Ending.WON, False, Ending.ROUND_OVER),
        (Ending.WON, True, None),
        (Ending.RESIGNED, False, Ending.ROUND_OVER),
        (Ending.RESIGNED, True, Ending.ROUND_OVER),
        (Ending.NOT_REVEALED, False, Ending.ROUND_OVER),
        (Ending.STOPPED, False, None),
        (Ending.AWAY, False, None),
    ],
)
def test_some_endings_of_a_seat_end_the_round_for_the_other_one(
    race: Race, ending: Ending, has_credit: bool, other: Ending | None
) -> None:
    racers = replace(race, has_credit=has_credit).stop((0,), ending).racers
    assert [racer.ending for racer in racers] == [ending, other]


def test_a_seat_that_is_stopped_in_the_countdown_has_seen_no_card(race: Race) -> None:
    racers = race.stop_before_start((1,), Ending.AWAY).racers
    assert [(racer.seen, racer.ending) for racer in racers] == [(1, None), (0, Ending.AWAY)]


def test_a_race_is_one_of_two_seats_without_options(race: Race) -> None:
    assert (len(race.racers), race.direct_breaks_ties, race.has_credit) == (2, False, False)


def test_the_moves_of_a_seat_are_counted_with_its_last_word(race: Race) -> None:
    racer = race.play(0, MOVES["sa"]).play(0, MOVES["stop"]).racers[0]
    assert (racer.moves, racer.last_move, racer.ending) == (2, MOVES["stop"], Ending.STOPPED)


@pytest.mark.parametrize(
    ("winner", "placed", "counts"),
    [
        (0, (30, 20), (30, 20)),
        (1, (30, 20), (20, 30)),
        (1, (20, 30), (30, 20)),
        (None, (20, 30), (30, 20)),
        (None, (30, 20), (30, 20)),
    ],
)
def test_the_counts_of_a_result_begin_with_those_of_the_winner(
    winner: int | None, placed: tuple[int, int], counts: tuple[int, int]
) -> None:
    first, second = (score(Ending.STUCK, cards) for cards in placed)
    assert Outcome(winner, (first, second)).counts == counts


def test_a_race_that_was_over_in_the_countdown_has_not_started(race: Race) -> None:
    over = race.stop_before_start((0, 1), Ending.AWAY)
    assert (over.has_started, race.stop((0, 1), Ending.AWAY).has_started) == (False, True)


def test_at_the_last_turn_of_the_last_who_race_nothing_is_hidden(race: Race) -> None:
    places = ((48, ()), (47, (47,)))
    first, second = (
        replace(racer, turn=Turn(0, place), ahead=ahead)
        for racer, (place, ahead) in zip(race.racers, places, strict=True)
    )
    behind = replace(race, racers=(first, second))
    assert (behind.horizon, behind.stop((1,), Ending.AWAY).horizon) == ((Turn(0, 47), False), (Turn(0, 48), True))
    assert race.stop((0, 1), Ending.AWAY).horizon is None


@pytest.mark.parametrize(
    ("placed", "goal", "is_near"), [(44, 52, False), (45, 52, True), (51, 52, True), (52, 52, False)]
)
def test_a_near_miss_is_from_45_to_51_of_52(placed: int, goal: int, is_near: bool) -> None:
    assert Score(placed, goal, 0, 48, Ending.STUCK).is_near_miss == is_near


def test_no_two_racers_share_what_they_have_seen(race: Race) -> None:
    fresh, moved = race.play(0, MOVES["sa"]).racers[1], race.play(0, MOVES["sa"]).racers[0]
    assert (fresh.moves, fresh.seen, fresh.ending, fresh.last_move) == (0, 1, None, None)
    assert (moved.moves, moved.seen, moved.ending, moved.last_move) == (1, 2, None, MOVES["sa"])
