"""The answers of the solver, which stay as they are: certified deals follow from them, move by move and node by node.

If one of these tests fails, the solver answers otherwise, and certified deals need another procedure (see `certified`).
"""

import hashlib
import random
from collections.abc import Iterator

import pytest

from fairest_protocol.calculation.deal import make_deal
from fairest_protocol.calculation.exhaustion import exhaust, is_lost
from fairest_protocol.calculation.moves import Move
from fairest_protocol.calculation.open_stock import open_game, open_position, plan_order, play_out, redealt, settle
from fairest_protocol.calculation.race import Race, start_race
from fairest_protocol.calculation.rules import Rules, choose_rules
from fairest_protocol.calculation.solver import LineSearch, solve_race
from tests.protocol.calculation.test_solver import tiny_race

TWO_PASSES = choose_rules("classic", 2, 1)


def digest_of(answers: Iterator[object]) -> str:
    """Return 64 bits that stand for these answers."""
    return hashlib.sha256(repr(list(answers)).encode()).hexdigest()[:16]


def races_of(rules: Rules, deals: int) -> Iterator[Race]:
    """Yield races on the first deals of some rules, at the start and in each position of a careless player."""
    for number in range(deals):
        chance = random.Random(number)
        race = start_race(rules, make_deal(rules, bytes([number]) * 32), seats=1)
        while not race.is_over:
            yield race
            moves = list(race.racers[0].board.legal_moves())
            race = race.play(0, chance.choice([move for move in moves if move.places] or moves))


def texts(moves: list[Move] | tuple[Move, ...]) -> str:
    return " ".join(move.text for move in moves)


def estimates(rules: Rules) -> Iterator[object]:
    """Yield what is computed of each position: the settled one, the plan with its cost, and the game played out."""
    for race in races_of(rules, 2):
        game, settled, played = open_game(race.deal), list[Move](), list[Move]()
        position = settle(game, open_position(race.deal, race.racers[0]), settled)
        order = [0] * len(game.ranks)
        planned = plan_order(game, position, order)
        yield position, texts(settled), planned, tuple(order), play_out(game, position, order, played), texts(played)
        yield is_lost(game, position), redealt(game, position)


def exhausted(count: int, max_nodes: int) -> Iterator[object]:
    """Yield the answers of the search of all moves on tiny deals."""
    chance = random.Random(31)
    for race in (tiny_race(chance) for _ in range(count)):
        verdict, line, nodes = exhaust(open_game(race.deal), open_position(race.deal, race.racers[0]), max_nodes)
        yield verdict.value, texts(line), nodes


def solved(rules: Rules, deals: int, max_nodes: int) -> Iterator[object]:
    """Yield the answers of the solver on the first deals of some rules."""
    for number in range(deals):
        race = start_race(rules, make_deal(rules, bytes([number]) * 32), seats=1)
        solution = solve_race(race, 0, max_nodes)
        yield solution.verdict.value, texts(solution.line), solution.nodes


def searched(rules: Rules, deals: int, max_nodes: int) -> Iterator[object]:
    """Yield what the beam search finds on the first deals of some rules."""
    for number in range(deals):
        search = LineSearch(start_race(rules, make_deal(rules, bytes([number]) * 32), seats=1), 0, max_nodes)
        yield texts(search.find() or ()), search.nodes


ESTIMATES = {
    "classic": "0bb16b0f7463c864",
    "easy": "e7a9beb17853b5d5",
    "broken": "15d71d437f83cc60",
    "senior": "68bc59432df3c6df",
    "reverse": "2005fb21d174fec8",
    "redeal": "1e1a7219c8d5ee47",
    "betsy-ross": "5c218920f9d4ab1b",
    "single": "11ab5f9a0dc8306c",
}
SOLVED = {
    "classic": "3a1b834d7a3a76ed",
    "easy": "b6b7400ace008224",
    "broken": "9a05ac33eb38c29e",
    "senior": "06ce7a3926b3cff1",
    "reverse": "6f8298a799f20993",
    "redeal": "3a1b834d7a3a76ed",
    "betsy-ross": "2b2aed47febcaf32",
    "single": "e8879a20f783a7c6",
}


@pytest.mark.parametrize(("name", "digest"), ESTIMATES.items())
def test_the_estimates_of_positions_stay_as_they_are(name: str, digest: str) -> None:
    assert digest_of(estimates(choose_rules(name))) == digest


@pytest.mark.parametrize(("name", "digest"), SOLVED.items())
def test_the_answers_to_deals_stay_as_they_are(name: str, digest: str) -> None:
    assert digest_of(solved(choose_rules(name), 8, 400)) == digest


def test_the_answers_to_deals_with_few_piles_and_two_passes_stay_as_they_are() -> None:
    assert digest_of(solved(TWO_PASSES, 8, 400)) == "f07d978dac1a1090"


@pytest.mark.parametrize(("max_nodes", "digest"), [(300, "a2b9085ad137e39d"), (20, "4bb5e2f662e19ecc")])
def test_the_answers_of_the_search_of_all_moves_stay_as_they_are(max_nodes: int, digest: str) -> None:
    assert digest_of(exhausted(60, max_nodes)) == digest


@pytest.mark.parametrize(("piles", "digest"), [(1, "bebd3f93c2845587"), (2, "4ad24713180a8aa9")])
def test_the_beams_that_are_tried_with_few_piles_stay_as_they_are(piles: int, digest: str) -> None:
    assert digest_of(searched(choose_rules("classic", piles, 0), 2, 700)) == digest
