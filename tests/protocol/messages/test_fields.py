"""The field types that messages share, and what holds for all messages."""

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Any, get_args

from pydantic import TypeAdapter, ValidationError

import fairest_protocol.messages as package
from fairest_protocol.messages import fields
from fairest_protocol.messages.fields import Message, as_seat


def find_messages() -> Iterator[type[Message]]:
    """Yield every class of messages."""
    for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        for value in vars(importlib.import_module(module.name)).values():
            if isinstance(value, type) and issubclass(value, Message) and value.__module__ == module.name:
                yield value


MESSAGES = list(find_messages())
TYPED = [each for each in MESSAGES if "type" in each.model_fields and not each.model_fields["type"].is_required()]


def test_the_type_of_each_message_is_the_only_one_that_its_field_may_have() -> None:
    kinds = {message: message.model_fields["type"] for message in TYPED}
    assert kinds
    allowed = {message: get_args(field.annotation) for message, field in kinds.items()}
    assert allowed == {message: (field.default,) for message, field in kinds.items()}


def is_careful(message: type[Message]) -> bool:
    config = message.model_config
    return (config.get("frozen"), config.get("strict"), config.get("hide_input_in_errors")) == (True, True, True)


def test_each_message_is_frozen_and_strict_and_hides_what_is_wrong() -> None:
    assert {message for message in MESSAGES if not is_careful(message)} == set()


BOUNDS: dict[str, tuple[list[Any], list[Any]]] = {
    "ChosenId": (["a", "aZ_9-", "a" * 40], ["", "a" * 41, "a b", "\u00e9"]),
    "Name": (["ab", "aZ_9-", "a" * 20], ["a", "a" * 21, "a b"]),
    "PlainText": (["a", "a" * 500, "\u00e9 b"], ["", "a" * 501, " a", "a ", "a\nb", "\x1b[2J"]),
    "MatchId": (["0" * 32, "af" * 16], ["0" * 31, "0" * 33, "A" * 32]),
    "RoomCode": (["a-b", "a-b-c-d-e-f", "a" * 58 + "-b"], ["a", "a-b-c-d-e-f-g", "a" * 59 + "-b", "A-b"]),
    "RulesName": (["a", "aZ9-", "a" * 40], ["", "a" * 41, "a_b"]),
    "Token": (["A" * 43, "aZ_9-" * 8 + "abc"], ["A" * 42, "A" * 44, "A" * 42 + "="]),
    "Code": (["a", "a_9" + "b" * 37], ["", "_a", "9a", "A", "a" * 41]),
    "Capability": (["a", "a_9" + "b" * 37], ["", "_a", "9a", "A", "a" * 41]),
    "Version": (["0", "0.2.0a1.dev3+g12-x!", "1" * 60], ["", "1" * 61, "1 2"]),
    "LogTag": (["0" * 8, "abcdef09"], ["0" * 7, "0" * 9, "ABCDEF09"]),
    "Hash": ([bytes(32)], [bytes(31), bytes(33)]),
    "Secret": ([bytes(32)], [bytes(31), bytes(33)]),
    "RoundId": ([bytes(16)], [bytes(15), bytes(17)]),
    "Signature": ([bytes(64)], [bytes(63), bytes(65)]),
    "PublicKey": ([bytes(32)], [bytes(31), bytes(33)]),
    "Seat": ([0, 1], [-1, 2]),
    "TimeMs": ([0, 2**53 - 1], [-1, 2**53]),
    "PlayerRooms": ([("a-b",) * 16], [("a-b",) * 17, ("a",)]),
    "Capabilities": ([("a",) * 64], [("a",) * 65, ("A",)]),
}
"""Values that each field may have, and values that it may not have."""


def valid_values(name: str, values: list[Any]) -> list[Any]:
    """Return those of the values that the field of this name may have."""
    adapter = TypeAdapter[Any](getattr(fields, name))
    return [value for value in values if is_valid(adapter, value)]


def is_valid(adapter: TypeAdapter[Any], value: object) -> bool:
    try:
        adapter.validate_python(value)
    except ValidationError:
        return False
    return True


def test_each_field_may_have_the_values_within_its_bounds() -> None:
    found = {name: valid_values(name, right) for name, (right, _) in BOUNDS.items()}
    assert found == {name: right for name, (right, _) in BOUNDS.items()}


def test_no_field_may_have_a_value_beyond_its_bounds() -> None:
    assert {name: found for name, (_, wrong) in BOUNDS.items() if (found := valid_values(name, wrong))} == {}


def test_the_numbers_of_the_wire_are_those_that_are_published() -> None:
    numbers = (fields.SUBPROTOCOL, fields.MAX_SERVER_MESSAGE_BYTES, fields.TICK_SECONDS, fields.PLAIN_TEXT_LENGTH)
    assert numbers == ("fairest.v1", 4 * 1024 * 1024, 3.0, 500)


def test_a_seat_is_the_number_that_it_is_made_of() -> None:
    assert [as_seat(0), as_seat(1)] == [0, 1]
