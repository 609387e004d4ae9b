"""A state as JSON: written, read back, and refused if it is none."""

import json
from typing import Any

import pytest

from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.options import RoomOptions, Spectators
from fairest_protocol.messages.rivals import RivalWish
from fairest_protocol.value import replace
from fairest_server.room.saved_state import restore_state, save_state, without_race
from tests.support.races import Table


def finished() -> Table:
    """Return a room in which the first seat has made one move, and the other one none."""
    table = Table(1, RoomOptions(spectators=Spectators.OPEN, rules="redeal", best_of=3))
    table.start()
    table.play(0, "stop")
    table.let_time_pass()
    assert table.state.phase is Phase.FINISHED
    return table


def test_a_state_that_was_saved_is_restored() -> None:
    state = replace(without_race(finished().state), rival=RivalWish(20, "club"))
    assert restore_state(json.loads(json.dumps(save_state(state)))) == state


def test_of_a_race_the_last_move_of_each_seat_is_kept() -> None:
    kept = without_race(finished().state)
    assert [(seat.moves, seat.last_move) for seat in kept.seats if seat] == [(1, MOVES["stop"].text), (0, "")]


def test_the_rules_are_not_saved_since_they_follow_from_the_options() -> None:
    assert "rules" not in save_state(Table(1).state)


def test_a_state_without_a_race_is_saved_as_it_is() -> None:
    state = Table(1).state
    assert without_race(state) is state


@pytest.mark.parametrize("saved", [None, [], "state"])
def test_a_value_that_is_not_an_object_is_no_saved_state(saved: object) -> None:
    with pytest.raises(ValueError, match=r"^a saved state is an object$"):
        restore_state(saved)


def test_an_object_of_another_form_is_no_saved_state() -> None:
    with pytest.raises(ValueError, match=r"^not a saved state: "):
        restore_state(save_state(Table(1).state) | {"phase": "nowhere"})


def test_a_value_without_a_form_is_not_saved() -> None:
    rival: Any = object()
    with pytest.raises(NotImplementedError, match=r"^a state holds no object$"):
        save_state(replace(Table(1).state, rival=rival))
