"""The page finds the step of a certified round as `fairest` does: its search answers alike for every deal."""

import random
from typing import Any

import pytest
from pydantic_core import to_jsonable_python

from fairest_protocol.calculation.certified import STEP_NODES, find_step
from fairest_protocol.calculation.deal import make_deal
from fairest_protocol.calculation.race import start_race
from fairest_protocol.calculation.rules import Rules, choose_rules
from fairest_protocol.calculation.solver import LineSearch
from tests.support.page_modules import ask_page
from tests.support.random_boards import random_rules

DEALS = 12
HARD = (
    ("single", 1, 0),
    ("classic", 2, 0),
    ("classic", 3, 0),
    ("classic", 1, 2),
    ("betsy-ross", 1, 2),
    ("senior", 4, 0),
)
"""Rules under which the search often fails, so that all of its beams and its bound are compared."""


def asked(ask: str, rules: Rules, seed: bytes) -> dict[str, Any]:
    """Return the question about a seed under these rules."""
    names = {"rules": rules.name, "piles": rules.piles, "redeals": rules.redeals}
    return {"ask": ask, **names, "seed": seed.hex()}


def is_proved(rules: Rules, seed: bytes) -> bool:
    return LineSearch(start_race(rules, make_deal(rules, seed), seats=1), 0, STEP_NODES).find() is not None


def compare(cases: list[tuple[Rules, bytes]]) -> list[bool]:
    """Assert that the page says of each deal what our solver says; return the answers."""
    wanted = [is_proved(*case) for case in cases]
    assert ask_page(asked("proved", *case) for case in cases) == wanted
    return wanted


def hard_deals(seed: int, count: int) -> list[tuple[Rules, bytes]]:
    chance = random.Random(f"hard {seed}")
    rules = [choose_rules(name, piles=piles, redeals=redeals) for name, piles, redeals in HARD]
    return [(chance.choice(rules), chance.randbytes(32)) for _ in range(count)]


def any_deals(seed: int, count: int) -> list[tuple[Rules, bytes]]:
    chance = random.Random(f"any {seed}")
    return [(random_rules(chance), chance.randbytes(32)) for _ in range(count)]


@pytest.mark.long
def test_the_search_of_the_page_gives_a_few_deals_the_same_answer() -> None:
    answers = compare([*any_deals(0, DEALS), *hard_deals(0, DEALS)])
    assert set(answers) == {True, False}


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1, 7))
def test_the_search_of_the_page_gives_every_deal_the_same_answer(seed: int) -> None:
    answers = compare([*any_deals(seed, 30), *hard_deals(seed, 30)])
    assert set(answers) == {True, False}


@pytest.mark.long
def test_the_page_finds_the_step_that_is_dealt() -> None:
    chance = random.Random(5)
    cases = [(choose_rules("classic"), chance.randbytes(32)) for _ in range(40)]
    found = [
        to_jsonable_python({"step": each.step, "isProved": each.is_proved})
        for each in (find_step(*case) for case in cases)
    ]
    assert ask_page(asked("step", *case) for case in cases) == found
    assert max(each["step"] for each in found) > 0
