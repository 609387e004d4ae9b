"""Certified deals: the step is the first one whose deal is proved winnable, and everybody finds the same."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairest_protocol.calculation.certified import (
    STEP_NODES,
    STEPS,
    CertifiedStep,
    check_certifiable,
    find_step,
    finding_step,
)
from fairest_protocol.calculation.deal import make_deal
from fairest_protocol.calculation.race import start_race
from fairest_protocol.calculation.rules import VARIANTS, BadRules, Rules, choose_rules
from fairest_protocol.calculation.seal import make_step_seed
from fairest_protocol.calculation.solver import LineSearch, wins
from tests.support.long_tests import parametrize_with_long

CLASSIC = choose_rules("classic")
NOT_AT_ONCE = (2, 50, 51)
"""Of the first 60 seeds of one repeated byte, those whose first step is not proved."""
ANSWERS = {
    ("classic", 4, 0): "6 32 15 1 2 116 2 3 301 388 -2035 6 1 1294 106 -2017 22 332 4 378 458 321 22 1",
    ("classic", 3, 1): "104 99 114 12 66 113 15 33",
    ("classic", 2, 2): "107 77 -2023 99 85 84 107 120",
    ("broken", 4, 0): "102 1 1 -2012 6 61 190 181",
    ("senior", 4, 0): "61 1 1 1",
    ("reverse", 4, 0): "60 178 1 530 1 4 276 418",
    ("easy", 5, 0): "6 2 7 1 2 197 1 6",
}
"""For variants with piles and redeals: the nodes of the search of the first deals, negative where no line was found."""


def search(rules: Rules, seed: bytes) -> int:
    """Search for a line as a step does; return the nodes, negative if none was found."""
    race = start_race(rules, make_deal(rules, seed), seats=1)
    found = LineSearch(race, 0, STEP_NODES)
    line = found.find()
    assert line is None or wins(race, 0, line)
    return found.nodes if line is not None else -found.nodes


@pytest.mark.long
@parametrize_with_long(("rules", "answers"), ANSWERS.items(), ids=str, quick=3)
def test_the_answers_of_the_solver_stay_as_they_are_published(rules: tuple[str, int, int], answers: str) -> None:
    # If this fails, the solver has changed: keep the old one for procedure 1, or records of it can no longer be proved.
    chosen = choose_rules(*rules)
    assert " ".join(str(search(chosen, bytes([n]) * 32)) for n in range(len(answers.split()))) == answers


@parametrize_with_long("number", NOT_AT_ONCE, quick=1)
def test_the_first_step_is_passed_over_where_its_deal_is_not_proved(number: int) -> None:
    seed = bytes([number]) * 32
    assert search(CLASSIC, make_step_seed(seed, 0)) < 0
    assert find_step(CLASSIC, seed) == CertifiedStep(1, is_proved=True)


def test_a_search_in_slices_pauses_all_along() -> None:
    """A step that is not proved takes 0.1 s."""
    assert sum(1 for _ in finding_step(CLASSIC, bytes([NOT_AT_ONCE[0]]) * 32)) > 500


@given(st.binary(min_size=32, max_size=32))
def test_the_step_is_the_first_one_that_is_proved(seed: bytes) -> None:
    rules = choose_rules("easy")
    found = find_step(rules, seed)
    proved = [search(rules, make_step_seed(seed, step)) > 0 for step in range(found.step + 1)]
    assert (found.is_proved, proved.index(True)) == (True, found.step)


def test_if_no_step_is_proved_the_last_one_is_dealt() -> None:
    assert find_step(choose_rules("single"), bytes(32)) == CertifiedStep(STEPS - 1, is_proved=False)


def test_the_seed_of_a_step_is_hashed_under_its_own_label() -> None:
    parts = (b"fairest.v1.step", bytes(range(32)), b"\x03")
    encoded = b"".join(len(part).to_bytes(4, "big") + part for part in parts)
    assert make_step_seed(bytes(range(32)), 3) == hashlib.sha256(encoded).digest()


@pytest.mark.parametrize(("name", "piles", "redeals"), [("classic", 3, 0), ("single", 1, 2), ("betsy-ross", 1, 2)])
def test_rules_by_which_few_deals_are_proved_are_refused(name: str, piles: int, redeals: int) -> None:
    with pytest.raises(BadRules, match="a certified room needs 4 piles and redeals together"):
        check_certifiable(choose_rules(name, piles, redeals))


def test_all_variants_but_those_of_one_pile_can_be_certified_as_they_are_usually_played() -> None:
    refused = set()
    for name, variant in VARIANTS.items():
        try:
            check_certifiable(variant.rules)
        except BadRules:
            refused.add(name)
    assert refused == {"single", "betsy-ross"}


@pytest.mark.parametrize(("piles", "redeals"), [(4, 0), (3, 1), (2, 2)])
def test_rules_of_four_piles_and_redeals_together_can_be_certified(piles: int, redeals: int) -> None:
    check_certifiable(choose_rules("classic", piles, redeals))


def test_rules_that_cannot_be_certified_are_named_with_what_they_have() -> None:
    sentence = (
        r"^a certified room needs 4 piles and redeals together, and classic has 2 and 1 here: too few of such deals "
        r"can be proved winnable$"
    )
    with pytest.raises(BadRules, match=sentence):
        check_certifiable(choose_rules("classic", 2, 1))
