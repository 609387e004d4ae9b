"""The patterns of docs/record.json: just the numbers of a range, the terms of every room, and the order of lines."""

import json
import re
from itertools import product
from typing import Any

import pytest

from docs.record_data import make_record_data, number_pattern
from fairest_protocol.calculation.rules import VARIANTS
from fairest_protocol.calculation.terms import CLOCKS
from fairest_protocol.messages.options import RoomOptions
from tests.support.forging import sound_records

DATA: dict[str, Any] = json.loads(make_record_data())
ROOM = re.compile("|".join(DATA["rooms"]))
ORDER = re.compile(DATA["order"])
RANGES = [*CLOCKS.values(), range(1), range(1, 2), range(9, 10), range(99, 1002), range(1000), range(5, 10_000)]


def matched(allowed: range, texts: list[str]) -> list[int]:
    """Return the numbers that the pattern of a range matches."""
    pattern = re.compile(number_pattern(allowed))
    return [int(text) for text in texts if pattern.fullmatch(text)]


def test_the_pattern_of_a_range_matches_its_numbers_alone() -> None:
    texts = [str(number) for number in range(-2, 12_000)]
    assert {allowed for allowed in RANGES if matched(allowed, texts) != list(allowed)} == set()


@pytest.mark.parametrize("text", ["05", "", "5.0", "+5", " 5", "5e0"])
def test_the_pattern_of_a_range_matches_no_other_spelling(text: str) -> None:
    assert not re.fullmatch(number_pattern(range(10)), text)


@pytest.mark.parametrize("name", VARIANTS)
def test_the_terms_of_every_room_match(name: str) -> None:
    variant = VARIANTS[name]
    rooms = [
        RoomOptions(rules=name, piles=piles, redeals=redeals)
        for piles, redeals in product(variant.piles, variant.redeals)
    ]
    assert [room for room in rooms if not ROOM.fullmatch(room.resolved().terms())] == []


@pytest.mark.parametrize("name", VARIANTS)
def test_just_the_terms_of_rooms_that_can_be_certified_match_as_such(name: str) -> None:
    variant = VARIANTS[name]
    for piles, redeals in product(variant.piles, variant.redeals):
        terms = RoomOptions(rules=name, piles=piles, redeals=redeals).resolved().terms()
        assert bool(ROOM.fullmatch(f"{terms} certified=1")) == (piles + redeals >= 4)


@pytest.mark.parametrize(
    ("was", "changed"),
    [
        ("rules=classic", "rules=patience"),
        ("piles=4", "piles=9"),
        ("piles=4", "piles=04"),
        ("best_of=1", "best_of=2"),
        ("limit_seconds=1200", "limit_seconds=7201"),
        ("spectators=horizon", "spectators=all"),
        (" listed=false", ""),
        ("listed=false", "listed=false certified=0"),
        ("listed=false", "listed=false certified=2"),
        ("listed=false", "listed=false listed=false"),
    ],
)
def test_terms_that_no_room_has_do_not_match(was: str, changed: str) -> None:
    terms = RoomOptions().resolved().terms()
    assert was in terms
    assert not ROOM.fullmatch(terms.replace(was, changed))


def test_the_lines_of_every_sound_record_are_in_the_order() -> None:
    types = [" ".join(line["type"] for line in lines) for lines in sound_records()]
    assert [each for each in types if not ORDER.fullmatch(each)] == []


@pytest.mark.parametrize(
    "types",
    [
        "match seal",
        "round seal",
        "match round",
        "match move seal",
        "match round result move seal",
        "match round seal seal",
    ],
)
def test_lines_in_another_order_do_not_match(types: str) -> None:
    assert not ORDER.fullmatch(types)
