"""Moves are judged by what their player saw, with the same figures each time."""

from fairest_cli.analysis.judging import better_line, judge, look_closely, recorded_moves
from fairest_protocol.calculation.cards import rank
from fairest_protocol.calculation.deal import make_deal
from fairest_protocol.calculation.moves import MOVES, Move
from fairest_protocol.calculation.race import Race, start_race
from fairest_protocol.calculation.record import RecordedMove
from fairest_protocol.calculation.rules import choose_rules
from fairest_protocol.value import replace
from tests.support.records import make_record

RULES = choose_rules("classic")
RACE = start_race(RULES, make_deal(RULES, bytes(32)), seats=1)


def after(race: Race, moves: str) -> Race:
    for move in moves.split():
        race = race.play(0, MOVES[move])
    return race


def event(move: Move) -> RecordedMove:
    return RecordedMove(1000, 0, move)


def test_the_best_move_costs_nothing() -> None:
    best = judge(RULES, 1, event(MOVES["sa"]), RACE, 0, 20).best
    assert judge(RULES, 1, event(best), RACE, 0, 20).cost == 0


def test_a_card_on_each_empty_pile_is_worth_the_same() -> None:
    costs = {judge(RULES, 1, event(MOVES[move]), RACE, 0, 20).chance for move in ("sa", "sb", "sc", "sd")}
    assert len(costs) == 1


def test_a_move_to_another_empty_pile_is_not_called_worse() -> None:
    first = judge(RULES, 1, event(MOVES["sa"]), RACE, 0, 20)
    assert judge(RULES, 1, event(MOVES["sd"]), RACE, 0, 20).cost == first.cost


def test_a_king_on_cards_that_are_needed_costs_more_than_one_on_an_empty_pile() -> None:
    number, played, before = next(each for each in recorded_moves(make_record(3), 0) if each[0] == 19)
    board = before.racers[played.seat].board
    assert board.turned is not None
    assert (rank(board.turned), board.piles[0], len(board.piles[1])) == (13, (), 2)
    assert judge(RULES, number, played, before, 0, 400).cost > 0.05


def test_a_move_is_judged_without_the_order_of_the_stock() -> None:
    deal = RACE.deal
    other = replace(deal, orders=((deal.orders[0][0], *reversed(deal.orders[0][1:])),))
    elsewhere = start_race(RULES, other, seats=1)
    judged = [judge(RULES, 1, event(MOVES["sa"]), race, 0, 20).chance for race in (RACE, elsewhere)]
    assert judged[0] == judged[1]


def test_the_same_move_gets_the_same_figures_each_time() -> None:
    assert judge(RULES, 1, event(MOVES["sa"]), RACE, 7, 20) == judge(RULES, 1, event(MOVES["sa"]), RACE, 7, 20)


def test_no_more_than_three_moves_are_named_the_worst_first() -> None:
    race, moves = RACE, []
    for number in range(12):
        played = MOVES["sa"]
        moves.append(judge(RULES, number, event(played), race, 0, 5))
        race = race.play(0, played)
    costs = [judged.cost for judged in look_closely(RULES, moves, 0, 20, lambda: None)]
    assert 0 < len(costs) <= 3
    assert costs == sorted(costs, reverse=True)


def test_the_better_line_is_legal_and_begins_with_the_better_move() -> None:
    judged = judge(RULES, 3, event(MOVES["sb"]), after(RACE, "sa sa"), 0, 20)
    line, race = better_line(RULES, judged), judged.before
    for move in line:
        assert race.refusal(0, move) is None
        race = race.play(0, move)
    assert line[0] is judged.best


def test_the_moves_of_a_record_are_those_that_move_a_card() -> None:
    record = make_record(3)
    moves = [each for each, _, _ in ((event, number, race) for number, event, race in recorded_moves(record, 0))]
    assert all(each.move.takes_turned or each.move.places for each in moves)
    assert {each.seat for each in moves} == {0, 1}


def test_each_move_of_a_record_stands_with_the_race_before_it() -> None:
    record = make_record(3)
    for _, played, before in recorded_moves(record, 0):
        assert before.refusal(played.seat, played.move) is None
        board = before.racers[played.seat].board
        assert board.turned is None or rank(board.turned)
