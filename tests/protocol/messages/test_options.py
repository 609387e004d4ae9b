"""Options that a client asks for: a value that is not allowed has the right type, and is refused by the room alone."""

import json

import pytest

from fairest_protocol.messages.codec import ProtocolViolation, decode_from_client
from fairest_protocol.messages.from_client import Create
from fairest_protocol.messages.options import UnplayableOptions


def decode_options(options: object) -> object:
    message = decode_from_client(json.dumps({"type": "create", "options": options}))
    assert isinstance(message, Create)
    return message.options


@pytest.mark.parametrize(
    "options",
    [
        {"limit_seconds": 9},
        {"countdown_seconds": 11},
        {"rules": "any game"},
        {"spectators": "all"},
        {"best_of": 2},
    ],
)
def test_options_that_no_room_can_have_are_kept_with_their_problem(options: object) -> None:
    assert isinstance(decode_options(options), UnplayableOptions)


@pytest.mark.parametrize(
    "options", [{"limit_seconds": "9"}, {"rules": 9}, {"spectators": 9}, {"spectators": None}, {"unheard_of": 1}, []]
)
def test_options_of_a_wrong_type_break_the_protocol(options: object) -> None:
    with pytest.raises(ProtocolViolation):
        decode_options(options)
