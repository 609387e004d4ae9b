"""The times of a seat, folded over its moves: when each card was turned and taken, and when the last one was placed."""

import itertools

import pytest

from fairest_protocol.calculation.deal import make_deal
from fairest_protocol.calculation.distance import Answer, Timing, last_chance_ms
from fairest_protocol.calculation.moves import MOVES, REDEAL
from fairest_protocol.calculation.race import Ending, Race, start_race
from fairest_protocol.calculation.rules import choose_rules
from fairest_protocol.calculation.seat_times import SeatTimes, last_chance, make_ledger
from tests.support.races_apart import choose

RULES = choose_rules("classic", 8, 1)


def race_to_the_end(step_ms: int = 100) -> tuple[Race, SeatTimes, list[tuple[Race, SeatTimes]]]:
    """Return a race of seat 0 alone with a move in each `step_ms`, its times, and both after each move."""
    race, times = start_race(RULES, make_deal(RULES, bytes(32)), has_credit=True), SeatTimes(50_000)
    steps = [(race, times)]
    while not race.racers[0].ending:
        move = choose(race.racers[0].board)
        after = race.play(0, move)
        times = times.after_move(race.racers[0], after.racers[0], move, len(steps) * step_ms)
        race = after
        steps.append((race, times))
    return race, times, steps


def test_each_card_that_was_taken_has_an_answer() -> None:
    race, times, _ = race_to_the_end()
    assert len(times.answers) == race.racers[0].seen


def test_a_card_lies_from_the_move_that_turned_it() -> None:
    _, times, _ = race_to_the_end()
    ends = {0, *(answer.taken_ms for answer in times.answers)}
    redealt = [answer for answer in times.answers if answer.turned_ms not in ends]
    assert len(redealt) <= RULES.redeals


def test_the_arrival_is_the_time_of_the_last_card() -> None:
    race, times, steps = race_to_the_end()
    assert race.racers[0].ending is Ending.WON
    assert times.arrival_ms == (len(steps) - 1) * 100


def test_a_move_from_the_waste_changes_no_times() -> None:
    _, _, steps = race_to_the_end()
    pairs = itertools.pairwise(steps)
    same = [after is before for (race, before), (_, after) in pairs if not choose(race.racers[0].board).takes_turned]
    # The redeal turns a card, and the last move may be one from the waste.
    assert same.count(False) <= RULES.redeals + 1


def test_the_last_card_of_the_first_pass_is_no_proof() -> None:
    race = start_race(RULES, make_deal(RULES, bytes(32)), has_credit=True)
    times = SeatTimes()
    while race.racers[0].ahead:
        after = race.play(0, MOVES["sa"])
        times = times.after_move(race.racers[0], after.racers[0], MOVES["sa"], 10)
        race = after
    board = race.racers[0].board
    last = next((move for move in board.legal_moves() if move.takes_turned and move.places), MOVES["sa"])
    times = times.after_move(race.racers[0], race.play(0, last).racers[0], last, 20)
    assert times.answers[-1] == Answer(10, 20, False)


def test_a_redeal_turns_the_card_that_follows_it() -> None:
    race = start_race(RULES, make_deal(RULES, bytes(32)), has_credit=True)
    times = SeatTimes()
    while race.racers[0].board.turned is not None:
        after = race.play(0, MOVES["sa"])
        times = times.after_move(race.racers[0], after.racers[0], MOVES["sa"], 10)
        race = after
    after = race.play(0, REDEAL)
    assert times.after_move(race.racers[0], after.racers[0], REDEAL, 70).turned_ms == 70


def test_a_pause_leaves_no_time_behind_its_start() -> None:
    _, times, _ = race_to_the_end()
    clamped = times.clamped(1_000)
    assert clamped.arrival_ms == 1_000
    assert max(answer.taken_ms for answer in clamped.answers) == 1_000


def test_nobody_has_a_last_chance_before_a_seat_has_placed_every_card() -> None:
    race, times, steps = race_to_the_end()
    assert last_chance(steps[-2][0], (steps[-2][1], SeatTimes())) is None
    assert last_chance(race, (times, SeatTimes(200_000))) is not None


def test_the_ledger_has_a_row_for_each_seat() -> None:
    _, times, _ = race_to_the_end()
    first, second = make_ledger((times, SeatTimes()))
    assert (first.arrival_ms, second.arrival_ms, second.credit_ms) == (times.arrival_ms, None, 0)


@pytest.mark.parametrize("winner", [0, 1])
@pytest.mark.parametrize("rtt_us", [None, 200_000])
def test_the_last_chance_is_that_of_the_seat_that_still_races(winner: int, rtt_us: int | None) -> None:
    _, times, steps = race_to_the_end()
    race = start_race(RULES, make_deal(RULES, bytes(32)), has_credit=True)
    for before, _ in steps[:-1]:
        race = race.play(winner, choose(before.racers[0].board))
    taken = SeatTimes(rtt_us, 900, (Answer(0, 900, False),))
    both = (times, taken) if winner == 0 else (taken, times)
    wanted = last_chance_ms(times.timing(), rtt_us or 0, taken.answers, has_turned=True)
    assert last_chance(race, both) == wanted


def test_a_seat_that_has_stopped_has_no_last_chance() -> None:
    race, times, _ = race_to_the_end()
    assert last_chance(race.stop((1,), Ending.AWAY), (times, SeatTimes())) is None


def test_a_proof_is_a_card_of_the_first_pass_that_went_straight_to_a_foundation() -> None:
    _, times, steps = race_to_the_end()
    wanted = []
    for (race, _), _ in itertools.pairwise(steps):
        racer, move = race.racers[0], choose(race.racers[0].board)
        if move.takes_turned:
            wanted.append(move.places and racer.turn.pass_number == 0 and bool(racer.ahead))
    assert [answer.is_proof for answer in times.answers] == wanted


def test_times_before_a_pause_stay_as_they_are() -> None:
    _, times, _ = race_to_the_end()
    assert times.clamped(10**9) == times


def test_times_behind_the_start_of_a_pause_are_set_to_it() -> None:
    times = SeatTimes(5, 700, (Answer(100, 300, True), Answer(300, 700, False)), None)
    assert times.clamped(500) == SeatTimes(5, 500, (Answer(100, 300, True), Answer(300, 500, False)), None)
    assert times.clamped(200) == SeatTimes(5, 200, (Answer(100, 200, True), Answer(200, 200, False)), None)


def test_a_seat_whose_round_trip_was_not_measured_has_none_in_the_ledger() -> None:
    assert SeatTimes(None, 0, (Answer(0, 900, False),) * 2_000, 7_000).timing() == Timing(7_000, 0, 0, 7_000)
