"""The state of a room as a value."""

from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.value import replace
from fairest_server.room.state import Clocks, RoomState
from tests.support.races import Table, raced


def unlike_a_new_room() -> RoomState:
    """A state of which no field has its default, and no two fields are equal."""
    table = raced(2, RoomOptions(best_of=3))
    return replace(
        table.state,
        phase=Phase.RACING,
        clocks=Clocks(phase_until_ms=7),
        matches=5,
        match_is_over=True,
        unarchived_match=4,
    )


def test_a_state_with_another_race_is_the_same_state_otherwise() -> None:
    state = unlike_a_new_room()
    table = Table(1)
    table.start()
    race = table.state.race
    assert race is not None
    assert race != state.race
    assert state.with_race(race) == replace(state, race=race)
