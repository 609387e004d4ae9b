"""The rows of the table, against the published sequences of the foundations."""

import ast
from pathlib import Path
from typing import Any

import pytest

from fairest_protocol.calculation.cards import rank_name
from fairest_protocol.calculation.rules import (
    VARIANTS,
    BadRules,
    Foundation,
    RolledFoundations,
    Rules,
    choose_rules,
    find_variant,
    span,
)

ROOT = Path(__file__).parents[3]
CLASSIC = choose_rules("classic")

SEQUENCES = {
    (1, 1): "A 2 3 4 5 6 7 8 9 10 J Q K",
    (2, 2): "2 4 6 8 10 Q A 3 5 7 9 J K",
    (3, 3): "3 6 9 Q 2 5 8 J A 4 7 10 K",
    (4, 4): "4 8 Q 3 7 J 2 6 10 A 5 9 K",
    (5, 5): "5 10 2 7 Q 4 9 A 6 J 3 8 K",
    (6, 6): "6 Q 5 J 4 10 3 9 2 8 A 7 K",
    (7, 7): "7 A 8 2 9 3 10 4 J 5 Q 6 K",
    (8, 8): "8 3 J 6 A 9 4 Q 7 2 10 5 K",
    (13, -1): "K Q J 10 9 8 7 6 5 4 3 2 A",
    (13, -2): "K J 9 7 5 3 A Q 10 8 6 4 2",
    (13, -3): "K 10 7 4 A J 8 5 2 Q 9 6 3",
    (13, -4): "K 9 5 A 10 6 2 J 7 3 Q 8 4",
}

BETSY_ROSS = [
    "2 3 4 5 6 7 8 9 10 J Q K",
    "4 6 8 10 Q A 3 5 7 9 J K",
    "6 9 Q 2 5 8 J A 4 7 10 K",
    "8 Q 3 7 J 2 6 10 A 5 9 K",
]


def names(foundation: Foundation) -> str:
    return " ".join(map(rank_name, foundation.sequence()))


@pytest.mark.parametrize(("start", "step"), SEQUENCES)
def test_a_foundation_follows_its_published_sequence(start: int, step: int) -> None:
    assert names(Foundation(start, step)) == SEQUENCES[start, step]


def test_betsy_ross_builds_twelve_cards_up_to_the_kings() -> None:
    foundations = VARIANTS["betsy-ross"].rules.foundations
    assert not isinstance(foundations, RolledFoundations)
    assert [names(foundation) for foundation in foundations] == BETSY_ROSS


@pytest.mark.parametrize("step", range(1, 13))
def test_every_step_visits_every_rank_once(step: int) -> None:
    assert sorted(Foundation(5, step).sequence()) == list(range(1, 14))


def test_a_complete_foundation_needs_no_rank() -> None:
    assert Foundation(1, 1).next_rank(13) is None


@pytest.mark.parametrize(
    ("name", "stock", "goal", "piles", "redeals"),
    [
        ("classic", 48, 52, 4, 0),
        ("easy", 48, 52, 5, 0),
        ("broken", 48, 52, 4, 0),
        ("senior", 96, 104, 4, 0),
        ("reverse", 48, 52, 4, 0),
        ("redeal", 48, 52, 4, 1),
        ("betsy-ross", 44, 48, 1, 2),
        ("single", 48, 52, 1, 0),
    ],
)
def test_a_variant_accounts_for_its_cards(name: str, stock: int, goal: int, piles: int, redeals: int) -> None:
    rules = choose_rules(name)
    assert (rules.stock, rules.goal, rules.piles, rules.redeals) == (stock, goal, piles, redeals)


@pytest.mark.parametrize("name", VARIANTS)
def test_with_stock_and_waste_empty_every_card_is_on_a_foundation(name: str) -> None:
    """So a race never comes to a redeal of nothing: it is won by then."""
    rules = VARIANTS[name].rules
    assert rules.goal == rules.stock + (rules.foundation_count if rules.starters else 0)


def test_rules_without_starters_have_all_their_cards_in_the_stock() -> None:
    assert Rules("bare", CLASSIC.foundations, starters=False).stock == 52


@pytest.mark.parametrize("count", [1, 8])
def test_rules_may_have_one_to_eight_foundations(count: int) -> None:
    assert Rules("few", (Foundation(1, 1, length=4),) + (Foundation(9, 1, length=1),) * (count - 1), decks=2).goal == (
        3 + count
    )


def test_a_variant_is_found_by_its_other_names() -> None:
    assert find_variant(" Piker ").rules.name == "classic"


def test_parameters_can_be_combined() -> None:
    rules = choose_rules("classic", piles=5, redeals=1)
    assert (rules.piles, rules.redeals) == (5, 1)


@pytest.mark.parametrize(
    ("name", "piles", "redeals", "sentence"),
    [
        ("colorado", None, None, "there is no variant 'colorado'; choose one of classic"),
        ("easy", 4, None, "easy is played with 5 or 6 piles, not 4; choose classic for that"),
        ("senior", 9, None, "senior is played with 4 to 8 piles, not 9"),
        ("betsy-ross", 4, None, "betsy-ross is played with 1 pile, not 4$"),
        ("redeal", None, 0, "redeal is played with 1 or 2 redeals, not 0; choose classic for that"),
    ],
)
def test_a_bad_combination_is_refused_with_a_hint(
    name: str, piles: int | None, redeals: int | None, sentence: str
) -> None:
    with pytest.raises(BadRules, match=sentence):
        choose_rules(name, piles, redeals)


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ({"decks": 3}, "bad: is for one deck or two, not 3"),
        ({"piles": 9}, "bad: has 1 to 8 waste piles, not 9"),
        ({"foundations": ()}, "bad: has 1 to 8 foundations, not 0"),
        ({"foundations": (Foundation(1, 1, length=1),) * 9}, "bad: has 1 to 8 foundations, not 9"),
        (
            {"foundations": RolledFoundations(4, 6), "starters": False},
            "bad: foundations that the deal decides have starters",
        ),
        (
            {"foundations": RolledFoundations(4, 6), "markers": (1,)},
            "bad: foundations that the deal decides have starters, and no markers$",
        ),
        ({"markers": (1,)}, "bad: needs 5 cards of rank 1, and there are 4"),
    ],
)
def test_rules_that_no_deck_can_play_are_refused(row: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadRules, match=sentence):
        Rules(**{"name": "bad", "foundations": CLASSIC.foundations, **row})


@pytest.mark.parametrize(
    ("start", "step", "length"), [(0, 1, 13), (14, 1, 13), (1, 13, 13), (1, 0, 5), (1, 1, 0), (1, 1, 14)]
)
def test_a_foundation_has_a_rank_to_start_with_and_each_rank_once_at_most(start: int, step: int, length: int) -> None:
    with pytest.raises(BadRules, match="a foundation cannot start at"):
        Foundation(start, step, length)


def test_only_the_table_knows_the_names_of_variants() -> None:
    """No code compares the name of a variant: variants differ in data only."""
    texts = {
        path: path.read_text()
        for folder in ("protocol", "server", "client_cli")
        for path in (ROOT / folder).rglob("*.py")
    }
    comparisons = [
        f"{path.name}:{node.lineno}"
        for path, text in texts.items()
        if any(name in text for name in VARIANTS)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, (ast.Compare, ast.MatchValue))
        for part in ast.walk(node)
        if isinstance(part, ast.Constant) and part.value in VARIANTS
    ]
    assert comparisons == []


@pytest.mark.parametrize(
    ("allowed", "noun", "words"),
    [
        (range(1), "redeal", "no redeal"),
        (range(1, 2), "pile", "1 pile"),
        (range(2, 3), "pile", "2 piles"),
        (range(2), "redeal", "0 or 1 redeal"),
        (range(5, 7), "pile", "5 or 6 piles"),
        (range(3), "redeal", "0 to 2 redeals"),
        (range(1, 9), "pile", "1 to 8 piles"),
    ],
)
def test_a_range_of_counts_is_told_in_words(allowed: range, noun: str, words: str) -> None:
    assert span(allowed, noun) == words


@pytest.mark.parametrize(
    ("name", "piles", "redeals", "sentence"),
    [
        ("easy", 4, 2, "easy is played with 5 or 6 piles, not 4; choose classic for that"),
        ("easy", 4, 3, "easy is played with 5 or 6 piles, not 4"),
        ("easy", 9, 0, "easy is played with 5 or 6 piles, not 9"),
        ("reverse", 9, 0, "reverse is played with 1 to 8 piles, not 9"),
        ("classic", 4, 3, "classic is played with 0 to 2 redeals, not 3"),
    ],
)
def test_another_variant_is_advised_if_it_is_the_same_game_with_these_parameters(
    name: str, piles: int, redeals: int, sentence: str
) -> None:
    with pytest.raises(BadRules, match=f"^{sentence}$"):
        choose_rules(name, piles, redeals)


@pytest.mark.parametrize(("step", "length"), [(1, 1), (12, 13), (-1, 13), (14, 13)])
def test_a_foundation_may_have_one_card_or_all_ranks(step: int, length: int) -> None:
    assert len(set(Foundation(13, step, length).sequence())) == length


@pytest.mark.parametrize("row", [{"decks": 2}, {"piles": 1}, {"piles": 8}, {"redeals": 9}])
def test_rules_at_their_bounds_can_be_played(row: dict[str, Any]) -> None:
    assert Rules(**{"name": "good", "foundations": CLASSIC.foundations, **row})
