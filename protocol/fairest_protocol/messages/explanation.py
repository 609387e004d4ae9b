"""The sentence that says what is wrong with a frame: the field, its value, cut short, and what is allowed there.

Field and value come from the peer, so they are cut short and made printable before they reach a log or a screen.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from pydantic_core import ErrorDetails

MOST_LETTERS: Final = 40
"""Most letters of a key or of a value that a sentence repeats."""
SECRET_FIELDS: Final = frozenset({"token", "secret", "entropy"})
"""Fields whose value no sentence repeats: it may end up in a log."""

_ALLOWED: Final = {
    "dict_type": "an object",
    "model_type": "an object",
    "dataclass_type": "an object",
    "tuple_type": "a list",
    "string_type": "text",
    "string_pattern_mismatch": "text of the form {pattern}",
    "string_too_short": "text of at least {min_length} characters",
    "string_too_long": "text of at most {max_length} characters",
    "int_type": "an integer, written without fraction and exponent",
    "bool_type": "true or false",
    "greater_than_equal": "at least {ge}",
    "less_than_equal": "at most {le}",
    "less_than": "less than {lt}",
    "literal_error": "{expected}",
    "enum": "{expected}",
    "bytes_type": "hexadecimal text",
    "bytes_invalid_encoding": "hexadecimal text",
    "bytes_too_short": "hexadecimal text of {min_length} bytes, two digits each",
    "bytes_too_long": "hexadecimal text of {max_length} bytes, two digits each",
    "too_short": "a list of at least {min_length}",
    "too_long": "a list of at most {max_length}",
}
"""The values that are allowed where pydantic has found an error of this type, with the values of its context."""


def explain(error: ErrorDetails) -> str:
    """Return the sentence for an error that pydantic has found in a frame, in printable text."""
    place = ".".join(str(part)[:MOST_LETTERS] for part in error["loc"]) or "the frame"
    sentence = _explain(error["type"], place, error["input"], error.get("ctx", {}))
    if sentence.isprintable():
        return sentence
    return "".join(letter if letter.isprintable() else "?" for letter in sentence)


def _explain(kind: str, place: str, value: Any, context: Mapping[str, Any]) -> str:
    match kind:
        case "json_invalid":
            found = re.search(r"line \d+ column \d+$", str(context["error"]))
            where = f" from {found[0].replace(' column', ', column')} on" if found else ""
            return f"{place} is not JSON{where}; a message is one JSON object."
        case "union_tag_not_found":
            return f"{place} has no type; it must have one, as text."
        case "union_tag_invalid":
            types = str(context["expected_tags"]).replace("'", "")
            return f"the type of {place} is {_show(value['type'])}; it must be one of {types}."
        case "missing":
            return f"{place} is missing; it must be there."
        case "extra_forbidden":
            return f"{place} is no field of this message; leave it out."
    is_secret = place.rpartition(".")[2] in SECRET_FIELDS
    shown = "is wrong" if is_secret else f"is {_show(value)}"
    if kind == "value_error":
        return f"{place} {shown}: {context['error']}."
    allowed = _ALLOWED.get(kind)
    if allowed is None:
        return f"{place} {shown}, which is no value of this field."
    return f"{place} {shown}; it must be {allowed.format_map(context)}."


def _show(value: Any) -> str:
    """Return a value of a frame as JSON, cut short; of a list or an object only that it is one."""
    match value:
        case str():
            # A control character takes six letters.
            letters = MOST_LETTERS if value.isprintable() else MOST_LETTERS // 6
            return json.dumps(value[:letters], ensure_ascii=False) + "..." * (len(value) > letters)
        case list() | tuple():
            return "a list"
        case dict():
            return "an object"
    text = json.dumps(value)
    return text if len(text) <= MOST_LETTERS else f"{text[:MOST_LETTERS]}..."
