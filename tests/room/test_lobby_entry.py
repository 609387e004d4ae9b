"""The row of a listed room in the lobby, and the steps that change it."""

import pytest

from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_client import Leave, Rematch
from fairest_protocol.messages.options import RoomOptions
from fairest_server.room.events import Started
from fairest_server.room.lobby_entry import changes_listing, list_room
from tests.support.races import Table

ROOM = "quiet-amber-otter"
LISTED = RoomOptions(listed=True)


def changed(table: Table) -> bool:
    """Whether the last step of the room changed its row."""
    step = table.steps[-1]
    return changes_listing(step.before, step.after)


@pytest.fixture
def racing() -> Table:
    table = Table(1, LISTED)
    table.start()
    return table


def test_the_row_of_a_room_has_the_names_and_wins_of_its_seats_in_order(racing: Table) -> None:
    racing.play(0, "resign")
    row = list_room(ROOM, racing.state, 7)
    assert row is not None
    assert (row.room, row.phase, row.names, row.wins, row.since_ms) == (ROOM, Phase.FINISHED, ("ann", "bob"), (0, 1), 7)


def test_the_start_of_a_race_changes_the_row_while_the_seats_stay_as_they_are(racing: Table) -> None:
    step = next(step for step in racing.steps if isinstance(step.event, Started))
    assert step.before is not None and step.before.seats is step.after.seats
    assert changes_listing(step.before, step.after)


def test_the_row_of_a_room_has_its_rules() -> None:
    table = Table(1, RoomOptions(listed=True, rules="redeal", piles=5, redeals=2, best_of=3))
    row = list_room(ROOM, table.state, 0)
    assert row is not None
    assert (row.rules, row.piles, row.redeals, row.best_of) == ("redeal", 5, 2, 3)


def test_a_free_seat_has_no_name_in_the_row() -> None:
    row = list_room(ROOM, Table(1, LISTED).state, 0)
    assert row is not None
    assert (row.names, row.wins) == (("ann", None), (0, 0))


def test_a_first_seat_that_its_player_left_has_neither_name_nor_wins_in_the_row() -> None:
    table = Table(1, LISTED)
    table.start()
    table.play(0, "resign")
    table.submit(table.request(0, Leave()))
    row = list_room(ROOM, table.state, 0)
    assert row is not None
    assert (row.names, row.wins) == ((None, "bob"), (0, 0))


def test_a_room_that_is_not_listed_has_no_row() -> None:
    assert list_room(ROOM, Table(1).state, 0) is None


def test_a_room_without_a_log_has_no_row() -> None:
    assert list_room(ROOM, None, 0) is None


def test_a_room_that_everybody_left_has_no_row() -> None:
    table = Table(1, LISTED)
    table.submit(table.request(0, Leave()))
    assert list_room(ROOM, table.state, 0) is None


def test_a_closed_room_has_no_row() -> None:
    table = Table(1, LISTED)
    table.disconnect(0)
    table.let_time_pass()
    table.let_time_pass()
    assert table.state.phase is Phase.CLOSED
    assert list_room(ROOM, table.state, 0) is None


def test_a_new_room_changes_its_row() -> None:
    assert changes_listing(None, Table(1, LISTED).state)


def test_a_room_that_is_not_listed_never_changes_a_row() -> None:
    table = Table(1)
    table.seat_both()
    assert not any(changes_listing(step.before, step.after) for step in table.steps)


def test_a_player_who_takes_or_frees_a_seat_changes_the_row() -> None:
    table = Table(1, LISTED)
    table.seat_both()
    assert [changes_listing(step.before, step.after) for step in table.steps[-3:]] == [True, False, True]
    table.submit(table.request(0, Leave()))
    assert changed(table)


def test_a_move_does_not_change_the_row_unless_it_ends_the_round(racing: Table) -> None:
    racing.play(0, "sa")
    assert not changed(racing)
    racing.play(0, "resign")
    assert changed(racing)


def test_a_lost_connection_does_not_change_the_row(racing: Table) -> None:
    racing.disconnect(0)
    assert not changed(racing)


def test_asking_for_a_rematch_does_not_change_the_row(racing: Table) -> None:
    racing.play(0, "resign")
    racing.submit(racing.request(1, Rematch()))
    assert not changed(racing)
