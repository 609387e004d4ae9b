"""A log that was cut at a checkpoint says the same as the whole log, from the checkpoint on.

The oracle is the log that was not cut: the same events, with the same checkpoint in their middle.
"""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from fairest_protocol.calculation.match_rules import MAX_CALLED_OFF
from fairest_protocol.calculation.sliced import finish
from fairest_protocol.messages.codec import decode_from_server
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_client import Leave, Play, Rematch
from fairest_protocol.messages.from_server import Accepted, Refused, Snapshot, View
from fairest_protocol.messages.options import RoomOptions, Spectators
from fairest_protocol.messages.refusals import Refusal
from fairest_server.room.catchup import make_catchup
from fairest_server.room.checkpoint import make_checkpoint
from fairest_server.room.commands import MarkRecorded, TakeSeat
from fairest_server.room.events import Checkpoint
from fairest_server.room.match_record import MatchFold, record_matches
from fairest_server.room.projection import StepHistory, project
from fairest_server.room.steps import LogEntry, Step, fold, from_checkpoint
from fairest_server.room.view import ORIGIN, ViewCursor, scene, view, views_of
from fairest_server.store.log_entries import format_event, parse_event
from tests.support.races import Table, choose_any, raced
from tests.support.random_rooms import random_log

ROOM = "quiet-amber-otter"
LATER_MS = 10**12
"""So late that nobody can come back who missed the end of a match."""
seeds = st.integers(min_value=0, max_value=2**32)
viewers = st.sampled_from([0, 1, None])
any_options = st.sampled_from(
    [
        RoomOptions(best_of=3),
        RoomOptions(spectators=Spectators.OPEN),
        RoomOptions(rules="redeal", redeals=2),
        RoomOptions(rules="betsy-ross", limit_seconds=60),
    ]
)


def checkpoint_after(steps: list[Step]) -> Checkpoint:
    """Return the checkpoint that may follow these steps, as it is read from a log."""
    made = make_checkpoint(steps, LATER_MS)
    assert made is not None, "the log may be cut here"
    parsed = parse_event(format_event(made))
    assert isinstance(parsed, Checkpoint)
    return parsed


def with_checkpoint(steps: list[Step], place: int) -> tuple[list[Step], list[Step]]:
    """Return the log with a checkpoint after `place` steps: the whole of it, and from the checkpoint on."""
    entries = [LogEntry(number, step.tag, step.at_ms, step.event) for number, step in enumerate(steps, 1)]
    cut = LogEntry(place + 1, "cut", steps[place - 1].at_ms, checkpoint_after(steps[:place]))
    later = [LogEntry(each.index + 1, each.tag, each.at_ms, each.event) for each in entries[place:]]
    whole = [*entries[:place], cut, *later]
    return fold(whole), fold(from_checkpoint(whole))


def cut_somewhere(seed: int, options: RoomOptions) -> tuple[list[Step], list[Step], int]:
    """Return a random log with a checkpoint, whole and from there on, and how many steps of it are before."""
    steps = random_log(seed, options)
    places = [place for place, step in enumerate(steps, 1) if step.after.can_be_cut(LATER_MS) and place < len(steps)]
    # The first places are in a room that waits for its second player.
    late = [place for place in places if place > 20]
    assume(late)
    place = late[seed % len(late)]
    return *with_checkpoint(steps, place), place


@given(seeds, any_options)
def test_the_states_after_a_checkpoint_are_those_of_the_whole_log(seed: int, options: RoomOptions) -> None:
    whole, cut, place = cut_somewhere(seed, options)
    assert [step.after for step in cut] == [step.after for step in whole[place:]]


@given(seeds, any_options)
def test_a_checkpoint_changes_nothing_but_that_the_finished_race_is_not_kept(seed: int, options: RoomOptions) -> None:
    whole, _, place = cut_somewhere(seed, options)
    before, after = whole[place].before, whole[place].after
    assert before is not None
    assert (after.phase, after.clocks, after.matches, after.options) == (
        before.phase,
        before.clocks,
        before.matches,
        before.options,
    )
    assert [seat and (seat.player, seat.connection_id, seat.wins) for seat in after.seats] == [
        seat and (seat.player, seat.connection_id, seat.wins) for seat in before.seats
    ]


@given(seeds, any_options, viewers)
def test_a_viewer_is_shown_the_same_under_the_same_positions(
    seed: int, options: RoomOptions, viewer: int | None
) -> None:
    whole, cut, place = cut_somewhere(seed, options)
    stayed = views_of(whole[0].after)[viewer]
    stayed.reveal(*map(project, whole[: place + 1]))
    came = make_catchup(ROOM, StepHistory(cut[:1]), viewer, ORIGIN, 0).view
    for step in cut[1:]:
        projected = project(step)
        assert (came.reveal(projected), came.cursor) == (stayed.reveal(projected), stayed.cursor)


@pytest.mark.long
@given(seeds, any_options, viewers)
def test_a_snapshot_of_a_cut_log_is_the_fold_of_all_that_was_shown_since_the_beginning(
    seed: int, options: RoomOptions, viewer: int | None
) -> None:
    whole, cut, place = cut_somewhere(seed, options)
    for end in range(1, len(cut), 17):
        snapshot = decode_from_server(make_catchup(ROOM, StepHistory(cut[:end]), viewer, ORIGIN, 0).text)
        assert isinstance(snapshot, Snapshot)
        shown = view(whole[: place + end], viewer)
        assert (snapshot.position, snapshot.scene) == (len(shown), scene(whole[0].after, shown))


@pytest.mark.long
@given(seeds, any_options, viewers)
def test_a_viewer_that_saw_all_before_the_checkpoint_goes_on_where_it_stood(
    seed: int, options: RoomOptions, viewer: int | None
) -> None:
    whole, cut, place = cut_somewhere(seed, options)
    seen = views_of(whole[0].after)[viewer]
    seen.reveal(*map(project, whole[: place + 1]))
    for number, step in enumerate(cut):
        if number:
            seen.reveal(project(step))
        if number % 13 == 0:
            texts = [make_catchup(ROOM, StepHistory(log), viewer, seen.cursor, 0).text for log in (cut, whole)]
            assert isinstance(decode_from_server(texts[0]), View)
            assert texts[0] == texts[1]


@pytest.mark.long
@given(seeds, any_options, viewers)
def test_a_viewer_from_before_the_checkpoint_gets_a_snapshot(
    seed: int, options: RoomOptions, viewer: int | None
) -> None:
    whole, cut, place = cut_somewhere(seed, options)
    seen = views_of(whole[0].after)[viewer]
    cursors = [seen.cursor for step in whole[:place] if seen.reveal(project(step))]
    for cursor in cursors[:-1:7]:
        later = make_catchup(ROOM, StepHistory(cut), viewer, cursor, 0)
        # Steps of one append share a tag; a cursor among them may be the last one before the checkpoint.
        if cursor.tag != cursors[-1].tag:
            assert isinstance(decode_from_server(later.text), Snapshot)


@given(seeds, any_options)
def test_the_matches_after_a_checkpoint_have_the_records_of_the_whole_log(seed: int, options: RoomOptions) -> None:
    whole, cut, _ = cut_somewhere(seed, options)
    later = record_matches(ROOM, cut)
    records = record_matches(ROOM, whole)
    assert later == records[len(records) - len(later) :]


@given(seeds, any_options)
def test_an_open_room_that_forgets_what_is_stored_records_what_its_log_does(seed: int, options: RoomOptions) -> None:
    """With a checkpoint in the log, and each time that a match is over."""
    whole, _, _ = cut_somewhere(seed, options)
    live = MatchFold()
    for number, step in enumerate(whole, 1):
        live.add(step)
        if not step.after.unrecorded_match:
            live.forget_stored()
        if step.before is None or step.after.unrecorded_match != step.before.unrecorded_match:
            read = MatchFold()
            finish(read.adding(whole[:number]))
            recorded = [list(each.recording(ROOM, only_unstored=True)) for each in (live, read)]
            assert recorded[0] == recorded[1]
            assert all(live.players[each.match_id] == read.players[each.match_id] for each in recorded[0])


@given(seeds, any_options)
def test_the_newest_record_is_known_from_a_cut_log(seed: int, options: RoomOptions) -> None:
    whole, cut, _ = cut_somewhere(seed, options)
    known = []
    for log in (whole, cut):
        matches = MatchFold()
        finish(matches.adding(log))
        known.append(matches.newest_over)
    assert known[0] == known[1]


@given(seeds, any_options)
def test_a_second_checkpoint_may_follow_the_first(seed: int, options: RoomOptions) -> None:
    whole, cut, _ = cut_somewhere(seed, options)
    for end in range(len(cut), 0, -1):
        if cut[end - 1].after.can_be_cut(LATER_MS):
            before = whole[: len(whole) - len(cut) + end]
            assert make_checkpoint(cut[:end], LATER_MS) == make_checkpoint(before, LATER_MS)
            return


def test_a_race_under_way_cannot_be_cut() -> None:
    table = Table(1)
    table.start()
    assert make_checkpoint(table.steps, table.now_ms) is None


def test_a_match_without_a_stored_record_cannot_be_cut() -> None:
    assert make_checkpoint(raced(1).steps, LATER_MS) is None


def test_a_log_is_not_cut_while_a_player_may_come_back_who_missed_the_end_of_the_match() -> None:
    table = raced(1)
    finished_ms = table.now_ms
    table.record_match()
    until_ms = finished_ms + table.state.options.grace_seconds * 1000
    assert make_checkpoint(table.steps, until_ms - 1) is None
    assert make_checkpoint(table.steps, until_ms) is not None


def test_a_log_is_not_cut_while_a_player_may_come_back_to_a_match_that_broke_off() -> None:
    table = raced(1, RoomOptions(best_of=3))
    table.submit(table.request(0, Leave()))
    table.record_match()
    assert make_checkpoint(table.steps, table.now_ms) is None
    assert make_checkpoint(table.steps, table.now_ms + table.state.options.grace_seconds * 1000) is not None


def test_a_log_may_be_cut_as_soon_as_both_players_have_seen_the_end_and_want_a_rematch() -> None:
    table = raced(1)
    table.rematch()
    assert make_checkpoint(table.steps, table.now_ms) is not None


def test_a_match_of_several_rounds_cannot_be_cut_between_them() -> None:
    table = raced(1, RoomOptions(best_of=3))
    assert make_checkpoint(table.steps, table.now_ms) is None
    table.let_time_pass()
    assert table.state.phase is Phase.READY
    assert make_checkpoint(table.steps, table.now_ms) is None


def test_a_checkpoint_says_when_the_room_was_created() -> None:
    table = raced(1)
    table.record_match()
    assert checkpoint_after(table.steps).created_ms == table.steps[0].at_ms


def test_an_empty_log_cannot_be_cut() -> None:
    assert make_checkpoint([], LATER_MS) is None


@pytest.fixture
def cut_table() -> Table:
    """A match that is over and recorded, behind a checkpoint."""
    table = raced(1)
    table.submit(MarkRecorded(1))
    table.steps = with_checkpoint(table.steps, len(table.steps))[1]
    return table


def test_the_last_move_of_a_finished_race_is_acknowledged_again_after_a_checkpoint(cut_table: Table) -> None:
    last = raced(1).state.race
    assert last is not None
    racer = last.racers[0]
    assert racer.last_move is not None
    answer = cut_table.submit(cut_table.request(0, Play(number=racer.moves, move=racer.last_move)))
    assert answer == Accepted(number=racer.moves)


def test_another_move_in_a_finished_race_is_refused_after_a_checkpoint_as_before(cut_table: Table) -> None:
    play = Play(number=999, move="sa")  # type: ignore[arg-type]  # parsed
    before = raced(1)
    refused = cut_table.submit(cut_table.request(0, play))
    assert isinstance(refused, Refused)
    assert refused.code is Refusal.RACE_OVER
    assert refused == before.submit(before.request(0, play))


def test_a_rematch_after_a_checkpoint_is_played_to_its_end(cut_table: Table) -> None:
    for seat in (0, 1):
        cut_table.submit(cut_table.request(seat, Rematch()))
    cut_table.deal()
    cut_table.let_time_pass()
    cut_table.race(choose_any)
    assert (cut_table.state.phase, cut_table.state.matches) == (Phase.FINISHED, 2)


def test_a_record_holds_the_newest_rounds_that_were_called_off() -> None:
    table = Table(1)
    for _ in range(MAX_CALLED_OFF + 5):
        table.submit(TakeSeat("player-1", "bob", "link-1"))
        table.submit(table.request(1, Leave()))
    table.start()
    table.race(choose_any)
    (record,) = record_matches(ROOM, table.steps)
    assert len(record.rounds) == MAX_CALLED_OFF + 1


@pytest.mark.long
def test_a_checkpoint_among_rounds_that_are_called_off_is_of_bounded_size() -> None:
    sizes = []
    for called_off in (MAX_CALLED_OFF + 5, MAX_CALLED_OFF + 50):
        table = Table(1)
        for _ in range(called_off):
            table.submit(TakeSeat("player-1", "bob", "link-1"))
            table.submit(table.request(1, Leave()))
        sizes.append(len(checkpoint_after(table.steps).called_off))
    assert sizes[0] == sizes[1]


def test_a_cursor_at_the_beginning_is_not_that_of_a_checkpoint(cut_table: Table) -> None:
    text = make_catchup(ROOM, StepHistory(cut_table.steps), 0, ViewCursor(0, ""), 0).text
    assert isinstance(decode_from_server(text), Snapshot)
