"""Values are compared by what they say, and nobody changes one."""

from typing import TYPE_CHECKING

import pytest

from fairest_protocol.calculation.moves import MOVES, STOP
from fairest_protocol.calculation.round import Ending, Score
from fairest_protocol.messages.codec import decode_from_client
from fairest_protocol.messages.fast_encoding import decode_entry, encode_moved
from fairest_protocol.messages.from_client import Play
from fairest_protocol.value import Value, replace

if TYPE_CHECKING:

    def change(pair: "Pair") -> None:
        """`make check` fails where mypy lets a value be changed: the comment would be one too many."""
        pair.first = 2  # type: ignore[misc]


class Pair(Value):
    """Two numbers."""

    first: int
    second: int = 0


def test_values_that_say_the_same_are_equal_and_have_one_place_in_a_set() -> None:
    assert len({Pair(1), Pair(1, 0), Pair(1, 1)}) == 2


def test_python_too_lets_nobody_change_a_value() -> None:
    with pytest.raises(AttributeError):
        setattr(Pair(1), "first", 2)  # noqa: B010  # mypy would see an assignment


def test_a_value_that_stands_in_messages_has_a_next_one_as_well() -> None:
    won = Score(52, 52, 3, 48, Ending.WON)
    assert replace(won, direct=4) == Score(52, 52, 4, 48, Ending.WON)


def test_the_next_value_leaves_the_one_before_as_it_was() -> None:
    pair = Pair(1)
    assert (replace(pair, first=2), pair) == (Pair(2), Pair(1))


def test_a_move_that_a_client_sends_is_the_very_object_that_the_rules_know() -> None:
    message = decode_from_client('{"type":"play","number":1,"move":"stop"}')
    assert isinstance(message, Play)
    assert message.move is STOP


def test_a_move_that_a_server_tells_is_the_very_object_that_the_rules_know() -> None:
    for move in MOVES.values():
        entry = decode_entry(encode_moved(0, 1, move, None))
        assert entry.type == "moved"
        assert entry.move is move
