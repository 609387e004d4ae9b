"""The deadlines of a room: which option sets each of them, to the millisecond."""

from collections.abc import Callable

import pytest

from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_client import Leave
from fairest_protocol.messages.options import RoomOptions
from fairest_server.room.state import Deadline, DeadlineKind
from tests.support.races import Table

OPTIONS = RoomOptions(
    best_of=3,
    limit_seconds=1100,
    chase_seconds=130,
    grace_seconds=70,
    ready_seconds=250,
    reveal_seconds=17,
    idle_seconds=510,
    countdown_seconds=7,
)


def seat_both(table: Table) -> None:
    table.seat_both()


def get_ready(table: Table) -> None:
    table.seat_both()
    table.get_ready(0, 1)


def deal(table: Table) -> None:
    table.seat_both()
    table.deal()


def finish(table: Table) -> None:
    table.start()
    table.play(0, "resign")


def stop_first(table: Table) -> None:
    table.start()
    table.play(0, "stop")


@pytest.mark.parametrize(
    ("prepare", "phase", "seconds"),
    [
        (seat_both, Phase.READY, 250),
        (get_ready, Phase.DEALING, 17),
        (deal, Phase.COUNTDOWN, 7),
        (Table.start, Phase.RACING, 1100),
        (stop_first, Phase.RACING, 130),
        (finish, Phase.FINISHED, 5),
    ],
)
def test_a_phase_ends_after_the_seconds_of_its_option(
    prepare: Callable[[Table], None], phase: Phase, seconds: int
) -> None:
    table = Table(1, OPTIONS)
    prepare(table)
    assert table.state.phase is phase
    assert table.state.next_deadline() == Deadline(table.now_ms + seconds * 1000, DeadlineKind.PHASE)


def test_a_race_that_one_seat_has_missed_is_limited_to_the_chase_time() -> None:
    table = Table(1, RoomOptions(limit_seconds=1100, chase_seconds=130, grace_seconds=1, countdown_seconds=10))
    table.seat_both()
    table.deal()
    table.disconnect(0)
    table.let_time_pass()
    table.let_time_pass()
    assert table.state.phase is Phase.RACING
    assert table.state.clocks.phase_until_ms == table.now_ms + 130_000


def test_a_chase_time_beyond_the_limit_leaves_the_limit() -> None:
    table = Table(1, RoomOptions(limit_seconds=100, chase_seconds=130))
    table.start()
    until_ms = table.state.clocks.phase_until_ms
    table.play(0, "stop")
    assert table.state.clocks.phase_until_ms == until_ms


@pytest.mark.parametrize("seat", [0, 1])
def test_an_absent_player_keeps_the_seat_for_the_grace_period(seat: int) -> None:
    table = Table(1, OPTIONS)
    table.start()
    table.disconnect(seat)
    assert table.state.next_deadline() == Deadline(table.now_ms + 70_000, DeadlineKind.SEAT, seat)


def test_a_room_that_keeps_a_seat_for_an_absent_player_is_not_idle() -> None:
    table = Table(1, OPTIONS)
    table.disconnect(0)
    assert [deadline.kind for deadline in table.state.deadlines()] == [DeadlineKind.SEAT]


def test_a_room_that_its_last_player_leaves_after_a_race_is_idle_from_then_on() -> None:
    table = Table(1, OPTIONS)
    finish(table)
    for seat in (0, 1):
        table.submit(table.request(seat, Leave()))
    assert table.state.next_deadline() == Deadline(table.now_ms + 510_000, DeadlineKind.IDLE)


def test_a_finished_room_is_not_closed_while_a_player_may_still_come_back() -> None:
    table = Table(1, RoomOptions(idle_seconds=5, grace_seconds=60))
    finish(table)
    table.disconnect(0)
    table.now_ms += 30_000
    table.disconnect(1)
    back_until_ms = table.now_ms + 60_000
    while (deadline := table.state.next_deadline()) is not None and deadline.at_ms < back_until_ms:
        table.let_time_pass()
    assert table.state.next_deadline() == Deadline(back_until_ms, DeadlineKind.SEAT, 1)


def leave(table: Table) -> None:
    table.submit(table.request(0, Leave()))


def lose_creator(table: Table) -> None:
    table.disconnect(0)
    table.let_time_pass()


def lose_both_before_the_race(table: Table) -> None:
    table.seat_both()
    for seat in (0, 1):
        table.submit(table.request(seat, Leave()))


@pytest.mark.parametrize("abandon", [leave, lose_creator, lose_both_before_the_race])
def test_an_empty_room_in_which_nobody_has_raced_is_closed_within_a_minute(abandon: Callable[[Table], None]) -> None:
    table = Table(1, OPTIONS)
    abandon(table)
    assert table.state.next_deadline() == Deadline(table.now_ms + 50_000, DeadlineKind.IDLE)


def test_a_room_may_ask_to_be_closed_sooner() -> None:
    table = Table(1, RoomOptions(idle_seconds=5))
    leave(table)
    assert table.state.next_deadline() == Deadline(table.now_ms + 5_000, DeadlineKind.IDLE)


def test_a_room_with_a_connected_player_is_not_idle() -> None:
    table = Table(1, OPTIONS)
    table.seat_both()
    table.submit(table.request(1, Leave()))
    assert table.state.next_deadline() is None


def test_a_match_that_is_over_waits_for_its_players_without_a_deadline() -> None:
    table = Table(1)
    finish(table)
    assert table.state.next_deadline() is None


def test_a_seat_that_misses_the_start_does_not_bring_the_start_forward() -> None:
    table = Table(1, RoomOptions(chase_seconds=5, grace_seconds=1, countdown_seconds=10))
    table.seat_both()
    table.deal()
    starts_at_ms = table.state.clocks.phase_until_ms
    table.disconnect(0)
    table.let_time_pass()
    assert (table.state.phase, table.state.clocks.phase_until_ms) == (Phase.COUNTDOWN, starts_at_ms)


def test_only_the_end_of_the_phase_counts_while_entropies_are_revealed() -> None:
    table = Table(1, OPTIONS)
    get_ready(table)
    table.disconnect(0)
    assert [deadline.kind for deadline in table.state.deadlines()] == [DeadlineKind.PHASE]


def test_a_room_is_checked_at_its_next_deadline() -> None:
    table = Table(1, OPTIONS)
    seat_both(table)
    assert table.state.next_check_ms() == table.now_ms + 250_000
