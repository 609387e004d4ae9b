"""The terms of a room as one text, in one form only."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairest_protocol.calculation.rules import VARIANTS
from fairest_protocol.calculation.terms import CLOCKS, BadTerms, parse_terms
from fairest_protocol.messages.options import RoomOptions

TEXT = RoomOptions().resolved().terms()


def test_the_terms_hold_every_option_of_a_room() -> None:
    full = RoomOptions(certified=1, credit=1).resolved().terms()
    assert [pair.partition("=")[0] for pair in full.split(" ")] == list(RoomOptions.model_fields)


def test_the_terms_of_other_rooms_have_no_word_of_certified_deals() -> None:
    assert RoomOptions(certified=1).resolved().terms() == f"{TEXT} certified=1"


def test_the_terms_of_other_rooms_have_no_word_of_credit() -> None:
    assert RoomOptions(credit=1).resolved().terms() == f"{TEXT} credit=1"


@pytest.mark.parametrize("end", ["", " certified=1", " credit=1", " certified=1 credit=1"])
def test_each_choice_of_the_last_options_has_terms(end: str) -> None:
    terms = parse_terms(f"{TEXT}{end}")
    assert (terms.is_certified, terms.has_credit) == ("certified" in end, "credit" in end)


@pytest.mark.parametrize(
    ("end", "sentence"),
    [
        (" credit=0", "there is no procedure 0 for credit"),
        (" credit=2", "there is no procedure 2 for credit"),
        (" credit=true", "credit is not a number: 'true'"),
        (" credit=1 certified=1", "each once and in this order"),
        (" credit=1 credit=1", "each once and in this order"),
    ],
)
def test_other_terms_of_rooms_with_credit_are_refused(end: str, sentence: str) -> None:
    with pytest.raises(BadTerms, match=sentence):
        parse_terms(f"{TEXT}{end}")


@pytest.mark.parametrize(
    ("terms", "sentence"),
    [
        (f"{TEXT} certified=0", "there is no procedure 0 for certified"),
        (f"{TEXT} certified=2", "there is no procedure 2 for certified"),
        (f"{TEXT} certified=true", "certified is not a number: 'true'"),
        (f"certified=1 {TEXT}", "each once and in this order"),
        (f"{TEXT} certified=1 certified=1", "each once and in this order"),
        (f"{TEXT} certified=1".replace("piles=4", "piles=3"), "needs 4 piles and redeals together"),
    ],
)
def test_other_terms_of_certified_rooms_are_refused(terms: str, sentence: str) -> None:
    with pytest.raises(BadTerms, match=sentence):
        parse_terms(terms)


def test_the_terms_of_a_room_are_plain_text() -> None:
    assert TEXT == (
        "rules=classic piles=4 redeals=0 best_of=1 limit_seconds=1200 chase_seconds=180 grace_seconds=60 "
        "ready_seconds=300 reveal_seconds=10 idle_seconds=600 countdown_seconds=3 spectators=horizon "
        "direct_breaks_ties=false listed=false"
    )


@st.composite
def any_options(draw: st.DrawFn) -> dict[str, Any]:
    variant = VARIANTS[draw(st.sampled_from(sorted(VARIANTS)))]
    clocks = {key: draw(st.sampled_from((allowed[0], allowed[-1]))) for key, allowed in CLOCKS.items()}
    return {
        "rules": variant.rules.name,
        "piles": draw(st.sampled_from(variant.piles)),
        "redeals": draw(st.sampled_from(variant.redeals)),
        "best_of": draw(st.sampled_from((1, 3, 5, 7, 9))),
        **clocks,
        "spectators": draw(st.sampled_from(("horizon", "open", "closed"))),
        "direct_breaks_ties": draw(st.booleans()),
        "listed": draw(st.booleans()),
    }


@given(fields=any_options())
def test_the_options_of_every_room_are_read_from_its_terms(fields: dict[str, Any]) -> None:
    options = RoomOptions.model_validate(fields)
    terms = parse_terms(options.terms())
    assert terms.text == options.terms()
    assert (terms.rules, terms.best_of) == (options.chosen_rules(), options.best_of)
    assert terms.direct_breaks_ties is options.direct_breaks_ties


CHANGES = [
    (TEXT, "", "the terms are not the options"),
    (" listed=false", "", "the terms are not the options"),
    ("rules=classic piles=4", "piles=4 rules=classic", "the terms are not the options"),
    (" listed", "  listed", "the terms are not the options"),
    ("rules=classic", "rules=calculation", "the variant is written classic"),
    ("rules=classic", "rules=Classic", "the variant is written classic"),
    ("rules=classic", "rules=other", "there is no variant 'other'"),
    ("piles=4", "piles=9", "is played with 1 to 8 piles, not 9"),
    ("piles=4", "piles=04", "piles is not a number"),
    ("piles=4", "piles=\u0664", "piles is not a number"),
    ("piles=4", "piles=None", "piles is not a number"),
    ("redeals=0", "redeals=-0", "redeals is not a number"),
    ("best_of=1", "best_of=2", "best_of cannot be 2"),
    ("limit_seconds=1200", "limit_seconds=9", "limit_seconds cannot be 9"),
    ("limit_seconds=1200", "limit_seconds=7201", "limit_seconds cannot be 7201"),
    ("limit_seconds=1200", "limit_seconds=" + 5000 * "9", "limit_seconds is not a number"),
    ("spectators=horizon", "spectators=Spectators.HORIZON", "spectators cannot be"),
    ("direct_breaks_ties=false", "direct_breaks_ties=False", "neither true nor false"),
    ("listed=false", "listed=0", "neither true nor false"),
]


def error_of(terms: str) -> Exception | None:
    """Return the error that terms are refused with; None if they are read."""
    try:
        parse_terms(terms)
    except Exception as error:
        return error
    return None


def test_no_other_text_is_the_terms_of_a_room() -> None:
    found = [((old, new), error_of(TEXT.replace(old, new)), sentence) for old, new, sentence in CHANGES]
    wrong = {
        change: error
        for change, error, sentence in found
        if not isinstance(error, BadTerms) or sentence not in str(error)
    }
    assert wrong == {}


def test_the_same_terms_are_parsed_once() -> None:
    assert parse_terms(f"{TEXT} credit=1") is parse_terms(RoomOptions(credit=1).resolved().terms())
