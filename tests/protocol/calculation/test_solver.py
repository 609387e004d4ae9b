"""The solver's answers: lines are replayed by the rules, and claims that none exists are checked by another search."""

import random
from functools import cache
from itertools import islice

from fairest_protocol.calculation.cards import Card
from fairest_protocol.calculation.deal import Deal, make_deal
from fairest_protocol.calculation.exhaustion import Verdict
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.calculation.race import Ending, Race, start_race
from fairest_protocol.calculation.rules import VARIANTS, Foundation, Redeal, Rules, choose_rules
from fairest_protocol.calculation.solver import LineSearch, solve, solve_race, wins
from tests.support.long_tests import parametrize_with_long


def is_winnable(race: Race) -> bool:
    """Play every legal move of every board: an oracle that shares nothing with the solver."""
    known = set()
    waiting = [race]
    while waiting:
        race = waiting.pop()
        racer = race.racers[0]
        if racer.ending is Ending.WON:
            return True
        place = (racer.board.foundations, racer.board.piles, racer.board.turned, racer.turn)
        if place in known or racer.ending:
            continue
        known.add(place)
        waiting.extend(race.play(0, move) for move in racer.board.legal_moves())
    return False


def tiny_race(chance: random.Random) -> Race:
    """Return a race by small rules on a deal of twelve cards, with and without a redeal of either kind."""
    foundations = (Foundation(1, 1, 5), Foundation(2, chance.choice((2, 3)), 5), Foundation(3, 4, 5))
    redeals, kind = chance.choice((0, 0, 0, 1)), chance.choice(list(Redeal))
    rules = Rules("tiny", foundations, piles=chance.choice((1, 1, 2)), redeals=redeals, redeal=kind)
    letters = [".A23456789TJQK"[number] for foundation in foundations for number in foundation.sequence()]
    cards = [Card(letter + "CDHS"[letters[:at].count(letter)]) for at, letter in enumerate(letters)]
    starters = tuple(cards[::5])
    stock = [card for card in cards if card not in starters]
    chance.shuffle(stock)
    order = list(stock)
    if kind is Redeal.RESHUFFLED:
        chance.shuffle(order)
    deal = Deal(foundations, starters, (), (tuple(stock), *(tuple(order) for _ in range(redeals))))
    return start_race(rules, deal, seats=1)


@cache
def searched_races(count: int) -> dict[Race, bool]:
    """Return tiny races, and of each whether the search of every move wins it."""
    chance = random.Random(30)
    return {race: is_winnable(race) for race in (tiny_race(chance) for _ in range(count))}


@parametrize_with_long("count", [15, 150], quick=1)
def test_the_solver_agrees_with_a_search_of_every_move_on_tiny_deals(count: int) -> None:
    found = {race: solve_race(race, 0).verdict for race in searched_races(count)}
    expected = {False: Verdict.UNWINNABLE, True: Verdict.WINNABLE}
    assert found == {race: expected[is_won] for race, is_won in searched_races(count).items()}


@parametrize_with_long("count", [15, 150], quick=1)
def test_the_tiny_deals_are_of_both_kinds(count: int) -> None:
    verdicts = list(searched_races(count).values())
    assert min(verdicts.count(True), verdicts.count(False)) > count // 8


@parametrize_with_long("variant", [name for name in VARIANTS if name not in ("single", "betsy-ross")], quick=3)
def test_each_line_of_the_solver_wins_by_the_rules(variant: str) -> None:
    rules, chance = choose_rules(variant), random.Random(variant)
    deals = [make_deal(rules, chance.randbytes(32)) for _ in range(4)]
    solutions = [solve(rules, deal, 4_000) for deal in deals]
    found = [(deal, solution.line) for deal, solution in zip(deals, solutions, strict=True) if solution.line]
    assert len(found) >= 3
    assert all(wins(start_race(rules, deal, seats=1), 0, line) for deal, line in found)


def test_a_game_is_solved_from_where_it_stands() -> None:
    rules = choose_rules("classic")
    race = start_race(rules, make_deal(rules, bytes(32)), seats=1)
    for move in islice(solve_race(race, 0).line, 20):
        race = race.play(0, move)
    assert wins(race, 0, solve_race(race, 0).line)


def test_a_deal_with_two_passes_can_be_won_in_the_second() -> None:
    rules = choose_rules("betsy-ross")
    solution = next(
        found
        for number in range(20)
        if (found := solve(rules, make_deal(rules, bytes([number]) * 32), 4_000)).verdict is Verdict.WINNABLE
    )
    assert MOVES["redeal"] in solution.line


def test_a_deal_of_one_pile_is_proved_to_be_lost() -> None:
    rules = choose_rules("single")
    assert solve(rules, make_deal(rules, bytes([5]) * 32)).verdict is Verdict.UNWINNABLE


def test_the_answer_is_the_same_each_time() -> None:
    rules = choose_rules("broken")
    deal = make_deal(rules, bytes(32))
    assert solve(rules, deal) == solve(rules, deal)


def test_a_deal_that_takes_more_nodes_than_the_bound_stays_open() -> None:
    rules = choose_rules("single")
    assert solve(rules, make_deal(rules, bytes(32)), 50).verdict is Verdict.OPEN


def test_no_more_nodes_are_seen_than_the_bound_allows() -> None:
    rules = choose_rules("single")
    assert solve(rules, make_deal(rules, bytes(32)), 50).nodes <= 51


def test_a_game_that_is_won_needs_no_moves() -> None:
    rules = choose_rules("classic")
    race = start_race(rules, make_deal(rules, bytes(32)), seats=1)
    for move in solve_race(race, 0).line:
        race = race.play(0, move)
    assert LineSearch(race, 0, 10).find() == ()


def test_a_line_with_a_move_against_the_rules_does_not_win() -> None:
    rules = choose_rules("classic")
    race = start_race(rules, make_deal(rules, bytes(32)), seats=1)
    line = solve_race(race, 0).line
    assert not wins(race, 0, (MOVES["a1"], *line))
