"""The parts of a page's path and query: what each of them takes, and what it refuses."""

from collections.abc import Callable

import pytest

from fairest_server.edge.http_pages import PageRefused, PageRequest
from fairest_server.edge.page_parameters import (
    CHAIN_PAGE_PATTERN,
    day_name,
    id_in_path,
    page_number,
    player_name,
    variant_name,
)

NOON_MS = 1_795_521_600_000


def asking(name: str = "", **params: str) -> PageRequest:
    return PageRequest("203.0.113.5", name, params)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (lambda: page_number(asking()), 0),
        (lambda: page_number(asking(page="17")), 17),
        (lambda: page_number(asking(page="123456789012"), CHAIN_PAGE_PATTERN), 123_456_789_012),
        (lambda: variant_name(asking()), "classic"),
        (lambda: variant_name(asking(rules="GIANT")), "senior"),
        (lambda: day_name(asking(), NOON_MS), "2026-11-24"),
        (lambda: day_name(asking(day="2026-11-30"), NOON_MS), "2026-11-30"),
        (lambda: player_name("Ann_1"), "Ann_1"),
        (lambda: id_in_path(asking("0f" * 16), "A match"), "0f" * 16),
    ],
)
def test_a_right_parameter_is_taken(found: Callable[[], object], expected: object) -> None:
    assert found() == expected


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda: page_number(asking(page="1234567")), "page is a number from 0, not '1234567'."),
        (lambda: page_number(asking(page="\u0661")), "page is a number from 0, not '\\u0661'."),
        (lambda: day_name(asking(day="2026-13-01"), NOON_MS), "day is a day such as 2026-11-24, not '2026-13-01'."),
        (lambda: player_name("a"), "A name has 2 to 20 letters, digits, _ or -; 'a' is none."),
        (lambda: id_in_path(asking("0F" * 16), "A match"), f"A match is 32 digits of 0-9 and a-f, not '{'0F' * 16}'."),
    ],
)
def test_a_wrong_parameter_is_refused_with_a_sentence(ask: Callable[[], object], sentence: str) -> None:
    with pytest.raises(PageRefused) as refused:
        ask()
    assert (refused.value.page.status, str(refused.value)) == (400, sentence)


def test_the_name_of_a_variant_is_repeated_without_its_control_characters() -> None:
    with pytest.raises(PageRefused) as refused:
        variant_name(asking(rules="\x1b[31m\nwhist"))
    assert str(refused.value).isprintable()
