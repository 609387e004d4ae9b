"""Options that a client asks for: a value that is not allowed has the right type, and is refused by the room alone."""

import json

import pytest

from fairest_protocol.calculation.rules import BadRules
from fairest_protocol.calculation.terms import CLOCKS
from fairest_protocol.messages.codec import ProtocolViolation, decode_from_client
from fairest_protocol.messages.from_client import Create
from fairest_protocol.messages.options import RoomOptions, UnplayableOptions


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


def test_the_first_of_several_problems_is_the_one_that_is_named() -> None:
    options = decode_options({"limit_seconds": 9, "countdown_seconds": 11})
    assert isinstance(options, UnplayableOptions)
    assert options.problem == "a room cannot have these options: limit_seconds is 9; it must be at least 10"


def test_options_that_no_room_can_have_are_refused_with_their_problem() -> None:
    options = decode_options({"best_of": 2})
    assert isinstance(options, UnplayableOptions)
    with pytest.raises(
        BadRules, match=r"^a room cannot have these options: .*best_of is 2; it must be 1, 3, 5, 7 or 9$"
    ):
        options.resolved()


@pytest.mark.parametrize("clock", CLOCKS)
def test_a_clock_has_the_bounds_that_its_terms_have(clock: str) -> None:
    least, most = CLOCKS[clock][0], CLOCKS[clock][-1]
    found = [type(decode_options({clock: seconds})) for seconds in (least - 1, least, most, most + 1)]
    assert found == [UnplayableOptions, RoomOptions, RoomOptions, UnplayableOptions]
