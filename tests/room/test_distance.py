"""A room that credits distance: who wins, how long the round waits, and that nobody is shown that it waits."""

import pytest

from fairest_protocol.calculation.distance import uncertainty_ms
from fairest_protocol.calculation.race import Ending
from fairest_protocol.calculation.record import BadRecord, RecordedStop
from fairest_protocol.calculation.record_parser import read_record
from fairest_protocol.messages import entries
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_client import AskFinish, Leave
from fairest_protocol.messages.from_server import Refused
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.value import replace
from fairest_server.room import events
from fairest_server.room.checkpoint import make_checkpoint
from fairest_server.room.commands import ApplyPauses, CloseRoom, NoteRoundTrip, Pause, TakeSeat
from fairest_server.room.distance import LEAST_CHANGE_US, latest_before_pause_ms, since_start_ms, with_last_chance
from fairest_server.room.events import RoundTripMeasured
from fairest_server.room.projection import count_entries, project
from fairest_server.room.state import Clocks
from fairest_server.room.steps import LogEntry, fold
from fairest_server.room.view import placed, view
from fairest_server.store.log_entries import format_event, parse_event
from tests.support.races import Table
from tests.support.races_apart import OPTIONS, TableApart, outcome_of, race_apart, think_by
from tests.support.records import signed_record

SEED = 3


@pytest.fixture
def waiting() -> TableApart:
    """A race in which the near seat 1 has placed every card, and the far seat 0 may still be first."""
    table = TableApart(SEED)
    table.measure(0, 200_000)
    table.measure(1, 20_000)
    think = think_by(SEED)
    due = [200 + think(0), 20 + think(1)]
    while table.state.race is not None and not table.state.race.racers[1].ending:
        seat = min((0, 1), key=lambda each: due[each])
        table.play_at(seat, due[seat])
        due[seat] += (200, 20)[seat] + 60
    assert table.state.phase is Phase.RACING
    return table


def test_the_far_seat_wins_by_corrected_time_though_it_arrives_later() -> None:
    outcome = outcome_of(race_apart(SEED, (200, 20), lambda seat: (50, 60)[seat]))
    assert outcome.ledger is not None
    first, second = outcome.ledger
    assert (outcome.winner, (first.arrival_ms or 0) > (second.arrival_ms or 0)) == (0, True)


def test_both_seats_are_said_to_have_placed_every_card() -> None:
    outcome = outcome_of(race_apart(SEED, (200, 20), lambda seat: (50, 60)[seat]))
    assert [score.ending for score in outcome.scores] == [Ending.WON, Ending.WON]


def test_the_near_seat_wins_if_it_was_faster_than_its_distance_explains() -> None:
    outcome = outcome_of(race_apart(SEED, (200, 20), lambda seat: (90, 30)[seat]))
    assert (outcome.winner, outcome.scores[0].ending) == (1, Ending.ROUND_OVER)


def test_equal_races_are_a_dead_heat() -> None:
    outcome = outcome_of(race_apart(SEED, (200, 20), lambda _: 60))
    assert (outcome.winner, outcome.scores[0].ending, outcome.scores[1].ending) == (None, Ending.WON, Ending.WON)


def test_equal_races_far_apart_end_within_the_uncertainty() -> None:
    outcome = outcome_of(race_apart(SEED, (200, 20), lambda _: 60))
    assert outcome.ledger is not None
    first, second = outcome.ledger
    assert first.corrected_ms is not None and second.corrected_ms is not None
    assert abs(first.corrected_ms - second.corrected_ms) <= uncertainty_ms(first.credit_ms, second.credit_ms)


def test_without_the_option_the_first_to_arrive_wins_at_once() -> None:
    table = TableApart(SEED, OPTIONS.model_copy(update={"credit": None}))
    outcome = table.race_apart((200, 20), lambda seat: (50, 60)[seat])
    assert (outcome.winner, outcome.ledger) == (1, None)


def test_a_room_without_credit_keeps_no_round_trip() -> None:
    table = TableApart(SEED, OPTIONS.model_copy(update={"credit": None}))
    assert table.submit(NoteRoundTrip("link-0", 5_000)) == ()


def test_a_seat_that_was_never_measured_is_credited_with_nothing() -> None:
    table = TableApart(SEED)
    table.measure(1, 20_000)
    outcome = table.race_apart((200, 20), lambda seat: (50, 60)[seat])
    assert outcome.ledger is not None
    assert (outcome.winner, outcome.ledger[0].credit_ms) == (1, 0)


def test_a_round_trip_that_is_longer_than_the_known_one_changes_nothing() -> None:
    table = TableApart(SEED)
    table.measure(0, 20_000)
    assert table.submit(NoteRoundTrip("link-0", 250_000)) == ()


def test_a_round_trip_that_is_shorter_by_the_least_change_is_noted() -> None:
    table = TableApart(SEED)
    table.measure(0, 20_000)
    table.measure(0, 20_000 - LEAST_CHANGE_US)
    assert table.state.times[0].rtt_us == 20_000 - LEAST_CHANGE_US


def test_a_longer_round_trip_over_a_new_connection_in_a_race_changes_nothing() -> None:
    table = TableApart(SEED)
    table.measure(0, 20_000)
    table.disconnect(0)
    table.submit(TakeSeat("player-0", "ann", "link-2"))
    table.measure(0, 250_000)
    assert table.state.times[0].rtt_us == 20_000


def test_a_new_connection_between_races_is_measured_anew() -> None:
    table = Table(1, OPTIONS)
    table.seat_both()
    table.submit(NoteRoundTrip("link-0", 20_000))
    table.disconnect(0)
    table.submit(TakeSeat("player-0", "ann", "link-2"))
    table.submit(NoteRoundTrip("link-2", 250_000))
    assert table.state.times[0].rtt_us == 250_000


def test_a_connection_that_speaks_for_no_seat_measures_nothing() -> None:
    table = TableApart(SEED)
    assert table.submit(NoteRoundTrip("link-9", 20_000)) == ()


def test_the_round_trip_of_a_seat_that_has_finished_is_not_measured_any_more(waiting: TableApart) -> None:
    assert waiting.submit(NoteRoundTrip("link-1", 1_000)) == ()


def test_the_round_waits_no_longer_than_the_credit_that_could_matter(waiting: TableApart) -> None:
    deadline = waiting.state.next_deadline()
    arrival_ms = waiting.state.times[1].arrival_ms
    assert deadline is not None and arrival_ms is not None
    cards = len(waiting.state.times[0].answers) + 1
    assert deadline.at_ms - waiting.started_ms - arrival_ms <= cards * 202


def test_a_seat_whose_last_chance_is_over_is_stopped(waiting: TableApart) -> None:
    waiting.expire()
    assert [score.ending for score in outcome_of(waiting).scores] == [Ending.ROUND_OVER, Ending.WON]


def test_each_further_card_prolongs_the_wait_by_its_round_trip(waiting: TableApart) -> None:
    before = waiting.state.next_deadline()
    assert before is not None and waiting.state.race is not None
    board = waiting.state.race.racers[0].board
    move = next(move for move in board.legal_moves() if move.takes_turned and not move.places)
    waiting.play_at(0, waiting.now_ms - waiting.started_ms + 260, move)
    after = waiting.state.next_deadline()
    assert after is not None
    assert 199 <= after.at_ms - before.at_ms <= 203


def test_a_shorter_round_trip_found_while_the_round_waits_shortens_the_wait(waiting: TableApart) -> None:
    before = waiting.state.next_deadline()
    waiting.measure(0, 1_000)
    after = waiting.state.next_deadline()
    assert before is not None and after is not None and after.at_ms < before.at_ms


@pytest.mark.parametrize("viewer", [0, None])
def test_nobody_else_is_shown_that_a_seat_has_placed_every_card(waiting: TableApart, viewer: int | None) -> None:
    kinds = {type(entry) for entry in view(waiting.steps, viewer)}
    assert not kinds & {entries.Stopped, entries.RoundFinished}


@pytest.mark.parametrize("viewer", [0, None])
def test_the_wait_shows_no_entry_that_a_slower_winner_would_not_have_shown(
    waiting: TableApart, viewer: int | None
) -> None:
    before_last = waiting.steps[:-1]
    assert view(waiting.steps, viewer) == view(before_last, viewer)


def test_the_seat_that_has_placed_every_card_is_shown_its_last_move(waiting: TableApart) -> None:
    last = view(waiting.steps, 1)[-1]
    assert isinstance(last, entries.Moved) and last.seat == 1


def test_the_tick_does_not_count_the_last_card_while_the_round_waits(waiting: TableApart) -> None:
    assert waiting.state.race is not None
    counts = placed(waiting.state)
    assert counts is not None and counts[1] == waiting.state.race.racers[1].board.goal - 1


def test_asking_to_finish_would_show_that_the_round_waits_and_is_refused(waiting: TableApart) -> None:
    assert isinstance(waiting.submit(waiting.request(1, AskFinish())), Refused)


def test_entries_are_counted_as_they_are_projected(waiting: TableApart) -> None:
    waiting.expire()
    assert [count_entries(step) for step in waiting.steps] == [len(project(step).entries) for step in waiting.steps]


def test_a_winner_who_leaves_while_the_round_waits_keeps_its_cards(waiting: TableApart) -> None:
    waiting.submit(waiting.request(1, Leave()))
    waiting.expire()
    assert outcome_of(waiting).winner == 1


def test_the_seat_behind_that_resigns_ends_the_round(waiting: TableApart) -> None:
    waiting.play_at(0, waiting.now_ms - waiting.started_ms + 1, None)
    waiting.play(0, "resign")
    outcome = outcome_of(waiting)
    assert (outcome.winner, outcome.scores[0].ending) == (1, Ending.RESIGNED)


def test_the_operator_may_close_the_room_while_the_round_waits(waiting: TableApart) -> None:
    waiting.submit(CloseRoom("repairs"))
    assert waiting.state.phase is Phase.CLOSED


@pytest.mark.parametrize("seed", range(6))
def test_another_process_that_reads_the_log_decides_the_same(seed: int) -> None:
    table = race_apart(seed, (200, 20), think_by(seed))
    logged = [
        LogEntry(number, step.tag, step.at_ms, parse_event(format_event(step.event)))
        for number, step in enumerate(table.steps, 1)
    ]
    assert fold(logged)[-1].after == table.state


@pytest.mark.parametrize("seed", range(6))
def test_the_record_of_a_race_apart_is_one_of_a_possible_match(seed: int) -> None:
    table = race_apart(seed, (200, 20), think_by(seed))
    record = signed_record(table)
    assert read_record(list(record.lines())).rounds[0].outcome == outcome_of(table)


def test_a_record_whose_loser_was_stopped_too_soon_is_refused() -> None:
    table = race_apart(SEED, (200, 20), lambda seat: (90, 30)[seat])
    record = signed_record(table)
    played = record.rounds[0]
    *moves, stop = played.events
    assert isinstance(stop, RecordedStop) and moves[-1].at_ms is not None
    sooner = replace(stop, at_ms=moves[-1].at_ms)
    forged = replace(record, rounds=(replace(played, events=(*moves, sooner)),))
    with pytest.raises(BadRecord, match="not stopped by round_over"):
        read_record(list(forged.lines()))


@pytest.mark.parametrize("field", ["arrival_ms", "credit_ms", "corrected_ms"])
def test_a_record_with_another_ledger_is_refused(field: str) -> None:
    record = signed_record(race_apart(SEED, (200, 20), lambda seat: (50, 60)[seat]))
    played = record.rounds[0]
    assert played.outcome is not None and played.outcome.ledger is not None
    first, second = played.outcome.ledger
    wrong = replace(first, **{field: (getattr(first, field) or 0) + 1})
    forged = replace(record, rounds=(replace(played, outcome=replace(played.outcome, ledger=(wrong, second))),))
    with pytest.raises(BadRecord):
        read_record(list(forged.lines()))


def test_a_record_without_its_ledger_is_refused() -> None:
    record = signed_record(race_apart(SEED, (200, 20), lambda seat: (50, 60)[seat]))
    played = record.rounds[0]
    assert played.outcome is not None
    forged = replace(record, rounds=(replace(played, outcome=replace(played.outcome, ledger=None)),))
    with pytest.raises(BadRecord):
        read_record(list(forged.lines()))


def test_a_pause_while_the_round_waits_prolongs_the_wait_by_its_length(waiting: TableApart) -> None:
    before = waiting.state.next_deadline()
    start_ms = waiting.now_ms
    waiting.now_ms += 60_000
    waiting.submit(ApplyPauses((Pause(start_ms, waiting.now_ms),)))
    after = waiting.state.next_deadline()
    assert before is not None and after is not None and after.at_ms - before.at_ms == 60_000


@pytest.mark.parametrize("back_ms", [0, 40, 900, 5_000])
def test_a_race_with_a_pause_has_a_record_that_holds(back_ms: int) -> None:
    table = TableApart(SEED)
    table.measure(0, 200_000)
    table.measure(1, 20_000)
    for number in range(12):
        table.play_at(number % 2, 300 + 400 * number)
    start_ms = table.now_ms - back_ms
    table.now_ms = start_ms + 60_000
    table.submit(ApplyPauses((Pause(start_ms, table.now_ms),)))
    table.race_apart((200, 20), think_by(SEED))
    record = signed_record(table)
    assert read_record(list(record.lines())).rounds[0].outcome == outcome_of(table)


def test_a_log_with_credit_is_cut_without_its_times() -> None:
    table = race_apart(SEED, (200, 20), think_by(SEED))
    table.record_match()
    for seat in (0, 1):
        table.disconnect(seat)
        table.submit(table.request(seat, Leave()))
    checkpoint = make_checkpoint(table.steps, table.now_ms + 10**9)
    assert checkpoint is not None
    assert parse_event(format_event(checkpoint)) == checkpoint


def test_a_measurement_has_a_form_in_the_log() -> None:
    measured = RoundTripMeasured(seat=1, link="p-1", rtt_us=20_000)
    assert parse_event(format_event(measured)) == measured


@pytest.mark.parametrize("rtt_us", [-1, 10**9, 1.5, True, None])
def test_a_log_with_an_impossible_round_trip_is_not_read(rtt_us: object) -> None:
    with pytest.raises(ValueError, match="rtt_us"):
        events.RoundTripMeasured.model_validate({"seat": 0, "link": "p-1", "rtt_us": rtt_us})


@pytest.mark.parametrize("value", [0, 2, True, 1.0, "1"])
def test_an_unknown_procedure_is_no_option(value: object) -> None:
    with pytest.raises(ValueError, match="credit"):
        RoomOptions.model_validate({"credit": value})


@pytest.mark.parametrize(("shorter_us", "is_noted"), [(499, False), (500, True)])
def test_a_round_trip_is_noted_if_it_is_shorter_by_half_a_millisecond(shorter_us: int, is_noted: bool) -> None:
    table = TableApart(SEED)
    table.measure(0, 20_000)
    assert bool(table.submit(NoteRoundTrip("link-0", 20_000 - shorter_us))) is is_noted


def test_no_round_trip_is_noted_in_a_room_that_waits_for_a_player() -> None:
    assert Table(1, OPTIONS).submit(NoteRoundTrip("link-0", 20_000)) == ()


def test_the_round_does_not_wait_beyond_the_time_limit(waiting: TableApart) -> None:
    limited = replace(waiting.state, options=waiting.state.options.model_copy(update={"limit_seconds": 1}))
    assert with_last_chance(limited).clocks.phase_until_ms == waiting.started_ms + 1_000


@pytest.mark.parametrize(("started_at_ms", "at_ms", "since_ms"), [(None, 700, 0), (500, 700, 200), (700, 500, 0)])
def test_no_time_has_passed_before_the_start_of_a_race(started_at_ms: int | None, at_ms: int, since_ms: int) -> None:
    state = replace(Table(1).state, clocks=Clocks(started_at_ms=started_at_ms))
    assert since_start_ms(state, at_ms) == since_ms


@pytest.mark.parametrize(("start_ms", "latest_ms"), [(900, 0), (1_000, 0), (1_300, 300), (9_000, 1_500)])
def test_the_events_before_a_pause_are_no_later_than_its_start_and_than_its_event(
    start_ms: int, latest_ms: int
) -> None:
    state = replace(Table(1).state, clocks=Clocks(started_at_ms=1_000))
    pause = events.Paused(start_ms=start_ms, end_ms=9_500)
    assert latest_before_pause_ms(state, state, pause, 2_500) == latest_ms
