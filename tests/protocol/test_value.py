"""Values are compared by content, and cannot be changed."""

from typing import TYPE_CHECKING

import pytest

from fairest_protocol.calculation.moves import MOVES, STOP
from fairest_protocol.calculation.race import Ending, Outcome, Score
from fairest_protocol.messages.codec import decode_from_client
from fairest_protocol.messages.fast_encoding import decode_entry, encode_moved
from fairest_protocol.messages.from_client import Play
from fairest_protocol.value import Value, fields_of, replace, replace_in_pair

if TYPE_CHECKING:

    def change(pair: "Pair") -> None:
        """If mypy let a value be changed, `make check` would fail here: the ignore comment would be unused."""
        pair.first = 2  # type: ignore[misc]


class Pair(Value):
    """Two numbers."""

    first: int
    second: int = 0


def test_values_with_equal_fields_are_equal_and_have_equal_hashes() -> None:
    assert len({Pair(1), Pair(1, 0), Pair(1, 1)}) == 2


def test_python_refuses_to_change_a_value() -> None:
    with pytest.raises(AttributeError):
        setattr(Pair(1), "first", 2)  # noqa: B010  # mypy would see an assignment


def test_replace_copies_a_message_dataclass() -> None:
    won = Score(52, 52, 3, 48, Ending.WON)
    assert replace(won, direct=4) == Score(52, 52, 4, 48, Ending.WON)


def test_replace_does_not_change_the_value_it_copies() -> None:
    pair = Pair(1)
    assert (replace(pair, first=2), pair) == (Pair(2), Pair(1))


@pytest.mark.parametrize(("seat", "pair"), [(0, ("new", "second")), (1, ("first", "new"))])
def test_a_pair_is_replaced_at_one_seat(seat: int, pair: tuple[str, str]) -> None:
    assert replace_in_pair(("first", "second"), seat, "new") == pair


def test_a_move_decoded_from_a_client_is_the_object_of_the_rules() -> None:
    message = decode_from_client('{"type":"play","number":1,"move":"stop"}')
    assert isinstance(message, Play)
    assert message.move is STOP


def test_a_move_decoded_from_an_entry_is_the_object_of_the_rules() -> None:
    for move in MOVES.values():
        entry = decode_entry(encode_moved(0, 1, move, None))
        assert entry.type == "moved"
        assert entry.move is move


def test_the_fields_of_a_value_have_those_of_the_values_in_it() -> None:
    score = {"placed": 4, "goal": 52, "direct": 0, "cards_turned": 1, "ending": "away"}
    outcome = fields_of(Outcome(None, (Score(4, 52, 0, 1, Ending.AWAY),)))
    assert outcome == {"winner": None, "scores": (score,), "ledger": None}
    assert type(outcome["scores"][0]["ending"]) is str
