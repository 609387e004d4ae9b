"""The sentence that says what is wrong with a frame, for each kind of error that pydantic finds."""

from typing import Any

import pytest
from pydantic_core import ErrorDetails

from fairest_protocol.messages.explanation import explain


def error(kind: str, value: Any = 5, place: tuple[int | str, ...] = ("play", "number"), **context: Any) -> ErrorDetails:
    return {"type": kind, "loc": place, "msg": "", "input": value, "ctx": context}


KINDS: dict[str, tuple[dict[str, Any], str]] = {
    "dict_type": ({}, "an object"),
    "model_type": ({}, "an object"),
    "dataclass_type": ({}, "an object"),
    "tuple_type": ({}, "a list"),
    "string_type": ({}, "text"),
    "string_pattern_mismatch": ({"pattern": "^a$"}, "text of the form ^a$"),
    "string_too_short": ({"min_length": 2}, "text of at least 2 characters"),
    "string_too_long": ({"max_length": 9}, "text of at most 9 characters"),
    "int_type": ({}, "an integer, written without fraction and exponent"),
    "bool_type": ({}, "true or false"),
    "greater_than_equal": ({"ge": 6}, "at least 6"),
    "less_than_equal": ({"le": 4}, "at most 4"),
    "less_than": ({"lt": 5}, "less than 5"),
    "literal_error": ({"expected": "1, 3 or 7"}, "1, 3 or 7"),
    "enum": ({"expected": "'open' or 'closed'"}, "'open' or 'closed'"),
    "bytes_type": ({}, "hexadecimal text"),
    "bytes_invalid_encoding": ({}, "hexadecimal text"),
    "bytes_too_short": ({"min_length": 16}, "hexadecimal text of 16 bytes, two digits each"),
    "bytes_too_long": ({"max_length": 32}, "hexadecimal text of 32 bytes, two digits each"),
    "too_short": ({"min_length": 2}, "a list of at least 2"),
    "too_long": ({"max_length": 16}, "a list of at most 16"),
}
"""The context of an error of each kind, and what is allowed then."""


def test_each_kind_of_error_says_what_is_allowed() -> None:
    found = {kind: explain(error(kind, **context)) for kind, (context, _) in KINDS.items()}
    assert found == {kind: f"play.number is 5; it must be {allowed}." for kind, (_, allowed) in KINDS.items()}


ERRORS = [
    (error("union_tag_not_found"), "play.number has no type; it must have one, as text."),
    (
        error("union_tag_invalid", {"type": "bow"}, expected_tags="'play', 'leave'"),
        'the type of play.number is "bow"; it must be one of play, leave.',
    ),
    (error("missing"), "play.number is missing; it must be there."),
    (error("extra_forbidden"), "play.number is no field of this message; leave it out."),
    (error("value_error", error="not a move"), "play.number is 5: not a move."),
    (error("value_error", "abc", ("token",), error="odd"), "token is wrong: odd."),
    (error("a_kind_of_later"), "play.number is 5, which is no value of this field."),
    (error("json_invalid", error="broken"), "play.number is not JSON; a message is one JSON object."),
    (
        error("json_invalid", error="broken at line 2 column 31"),
        "play.number is not JSON from line 2, column 31 on; a message is one JSON object.",
    ),
    (error("string_type", place=()), "the frame is 5; it must be text."),
    (error("string_type", place=("entries", 7, "card")), "entries.7.card is 5; it must be text."),
]


def test_an_error_has_a_sentence_of_its_own() -> None:
    assert {sentence: found for wrong, sentence in ERRORS if (found := explain(wrong)) != sentence} == {}


@pytest.mark.parametrize("field", ["token", "secret", "entropy"])
def test_the_value_of_a_secret_is_not_repeated(field: str) -> None:
    assert explain(error("string_type", "abc", ("hello", field))) == f"hello.{field} is wrong; it must be text."


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("a" * 40, f'"{"a" * 40}"'),
        ("a" * 41, f'"{"a" * 40}"...'),
        ("\u00e9", '"\u00e9"'),
        ([1], "a list"),
        ((1,), "a list"),
        ({"a": 1}, "an object"),
        (None, "null"),
        (True, "true"),
        (int("9" * 40), "9" * 40),
        (int("9" * 41), "9" * 40 + "..."),
    ],
)
def test_a_value_is_shown_as_json_of_up_to_forty_letters(value: Any, shown: str) -> None:
    assert explain(error("string_type", value)) == f"play.number is {shown}; it must be text."


def test_each_part_of_a_place_has_up_to_forty_letters() -> None:
    assert explain(error("missing", place=("a" * 41, "b"))) == f"{'a' * 40}.b is missing; it must be there."
