"""The state after an event: all of it, of a room in which every field says something."""

import pytest

from fairest_protocol.messages.codec import decode_from_server
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_client import Leave, Rematch
from fairest_protocol.messages.from_server import Snapshot
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.messages.rivals import RivalWish
from fairest_protocol.value import replace
from fairest_server.room import events
from fairest_server.room.catchup import make_catchup
from fairest_server.room.checkpoint import make_checkpoint
from fairest_server.room.evolve import evolve
from fairest_server.room.projection import StepHistory
from fairest_server.room.state import Clocks, SeatState
from fairest_server.room.view import ORIGIN
from tests.support.races import Table, raced, start_next_round

CLOCKS = Clocks(
    phase_until_ms=10_000,
    away_until_ms=(20_000, 30_000),
    idle_until_ms=40_000,
    started_at_ms=1_000,
    finished_at_ms=2_000,
    unseen_until_ms=50_000,
    paused_until_ms=500,
)


def marked(seat: SeatState | None) -> SeatState:
    """Return the state of a seat in which nothing is as in a new one."""
    assert seat is not None
    return replace(
        seat,
        entropy_hash=bytes(32),
        entropy=bytes(32),
        wins=2,
        matches_won=3,
        wants_rematch=True,
        has_asked_finish=True,
        moves=7,
        last_move="sa",
    )


def of_a_new_seat(seat: SeatState | None) -> SeatState:
    """Return the state that a seat has when its player has just connected."""
    assert seat is not None
    return SeatState(seat.player, seat.name, seat.connection_id)


def test_a_room_is_empty_until_its_idle_time_is_over_unless_its_first_player_sits_down() -> None:
    state = evolve(None, events.RoomCreated(options=RoomOptions(idle_seconds=510)), 7_000)
    assert state.clocks == Clocks(idle_until_ms=517_000, paused_until_ms=7_000)


def test_a_room_keeps_the_wish_for_a_rival() -> None:
    created = events.RoomCreated(options=RoomOptions(), rival_after_seconds=20, rival_level="club")
    assert evolve(None, created, 0).rival == RivalWish(20, "club")


def test_a_pause_delays_every_clock_but_those_of_what_has_happened() -> None:
    table = Table(1)
    table.start()
    after = evolve(replace(table.state, clocks=CLOCKS), events.Paused(start_ms=5_000, end_ms=8_000), 8_000)
    assert after.clocks == Clocks(
        phase_until_ms=13_000,
        away_until_ms=(23_000, 33_000),
        idle_until_ms=43_000,
        started_at_ms=4_000,
        finished_at_ms=2_000,
        unseen_until_ms=50_000,
        paused_until_ms=8_000,
    )


@pytest.mark.parametrize("leaves", [0, 1])
def test_the_player_who_stays_keeps_the_seat_and_nothing_of_the_match(leaves: int) -> None:
    table = raced(2)
    first, second = table.state.seats
    state = replace(table.state, seats=(marked(first), marked(second)))
    after = evolve(state, events.SeatFreed(seat=1 if leaves else 0, reason="left"), table.now_ms)
    stays = of_a_new_seat(state.seats[1 - leaves])
    assert after.seats == ((stays, None) if leaves else (None, stays))


@pytest.mark.parametrize("is_over", [True, False])
def test_of_the_last_round_the_next_one_keeps_the_wins_of_a_match_that_goes_on(is_over: bool) -> None:
    table = raced(2, RoomOptions(best_of=3))
    first, second = table.state.seats
    state = replace(table.state, seats=(marked(first), marked(second)), match_is_over=is_over)
    opened = events.RoundOpened(round=bytes(16), secret=bytes(32), signature=bytes(64))
    wins = 0 if is_over else 2
    kept = tuple(replace(of_a_new_seat(seat), wins=wins, matches_won=3) for seat in state.seats)
    assert evolve(state, opened, table.now_ms).seats == kept


@pytest.mark.parametrize("best_of", [1, 3, 5, 7, 9])
def test_a_match_is_over_as_soon_as_a_seat_has_won_more_than_half_of_its_rounds(best_of: int) -> None:
    table = Table(1, RoomOptions.model_validate({"best_of": best_of}))
    table.start()
    table.play(0, "resign")
    while not table.state.match_is_over:
        start_next_round(table)
        table.play(0, "resign")
    assert table.state.seat(1).wins == {1: 1, 3: 2, 5: 3, 7: 4, 9: 5}[best_of]


@pytest.mark.parametrize("best_of", [1, 3])
def test_a_match_of_draws_is_over_after_its_last_round(best_of: int) -> None:
    table = Table(1, RoomOptions.model_validate({"best_of": best_of}))
    table.start()
    stop_both(table)
    while not table.state.match_is_over:
        start_next_round(table)
        stop_both(table)
    assert table.state.round is not None and table.state.round.number == best_of


def matches_won(table: Table) -> list[int]:
    return [table.state.seat(seat).matches_won for seat in (0, 1)]


def race_again(table: Table) -> None:
    """Let both players of a match that is over race a rematch, until its race has started."""
    table.rematch()
    table.deal()
    table.let_time_pass()


def test_each_match_of_a_room_counts_for_the_seat_that_has_won_it() -> None:
    table = Table(1)
    table.start()
    for loser in (0, 0, 1):
        if table.state.match_is_over:
            race_again(table)
        table.play(loser, "resign")
    assert matches_won(table) == [1, 2]


def test_the_count_of_matches_begins_anew_when_a_player_leaves_and_sits_down_again() -> None:
    table = Table(1)
    table.start()
    table.play(1, "resign")
    table.submit(table.request(1, Leave()))
    table.seat_both()
    assert matches_won(table) == [0, 0]


def test_a_player_that_is_away_during_a_race_and_back_before_its_end_keeps_the_count_of_matches() -> None:
    table = Table(1)
    table.start()
    table.play(1, "resign")
    race_again(table)
    table.disconnect(1)
    table.let_time_pass()
    table.seat_both()
    table.play(0, "resign")
    assert matches_won(table)[0] == 1


def test_a_player_that_is_not_back_when_its_race_is_over_loses_the_count_of_matches() -> None:
    table = Table(1)
    table.start()
    table.play(1, "resign")
    race_again(table)
    table.disconnect(1)
    table.let_time_pass()
    table.play(0, "resign")
    table.let_time_pass()
    assert table.state.seats[1] is None
    assert table.state.seat(0).matches_won == 0


def test_a_round_that_does_not_end_its_match_counts_for_no_match() -> None:
    table = Table(1, RoomOptions(best_of=3))
    table.start()
    table.play(0, "resign")
    assert matches_won(table) == [0, 0]


def test_a_drawn_match_counts_for_nobody() -> None:
    table = Table(1)
    table.start()
    stop_both(table)
    assert matches_won(table) == [0, 0]


def test_a_spectator_that_comes_to_a_rematch_is_shown_the_matches_of_before() -> None:
    table = Table(1)
    table.start()
    table.play(0, "resign")
    race_again(table)
    snapshot = decode_from_server(make_catchup("a-b", StepHistory(table.steps), None, ORIGIN, 0).text)
    assert isinstance(snapshot, Snapshot)
    assert [seat.matches_won for seat in snapshot.scene.seats] == [0, 1]


def stop_both(table: Table) -> None:
    """End the round with a draw."""
    for seat in (0, 1):
        table.play(seat, "stop")


def test_a_match_that_broke_off_may_be_unseen_for_the_grace_period_to_the_millisecond() -> None:
    table = raced(1, RoomOptions(best_of=3, grace_seconds=70))
    table.submit(table.request(0, Leave()))
    assert table.state.clocks.unseen_until_ms == table.now_ms + 70_000


def test_a_match_that_is_over_may_be_unseen_for_the_grace_period_to_the_millisecond() -> None:
    table = raced(1, RoomOptions(grace_seconds=70))
    assert table.state.clocks.unseen_until_ms == table.now_ms + 70_000


def test_a_player_who_comes_next_has_not_seen_the_end_of_the_match_for_the_one_who_was_cut_off() -> None:
    table = raced(1)
    table.record_match()
    table.submit(table.request(1, Leave()))
    until_ms = table.state.clocks.unseen_until_ms
    table.seat_both()
    assert (table.state.phase, table.state.clocks.unseen_until_ms) == (Phase.READY, until_ms)
    assert until_ms is not None and make_checkpoint(table.steps, until_ms - 1) is None


def test_both_players_who_race_again_have_seen_the_end_of_the_match() -> None:
    table = raced(1)
    table.record_match()
    for seat in (0, 1):
        table.submit(table.request(seat, Rematch()))
    assert (table.state.phase, table.state.clocks.unseen_until_ms) == (Phase.READY, None)


def test_the_cards_of_a_race_that_goes_on_are_chased_in_a_room_with_credit_too() -> None:
    table = Table(1, RoomOptions(chase_seconds=130, credit=1))
    table.start()
    table.play(0, "stop")
    assert table.state.clocks.phase_until_ms == table.now_ms + 130_000
