"""A viewer that comes back is sent exactly the entries that it has missed, without replaying the whole log.

The oracle is a viewer that never left: its view went through every step of the log.
"""

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairest_protocol.messages.codec import decode_from_server
from fairest_protocol.messages.fast_encoding import encode_view
from fairest_protocol.messages.from_client import Leave
from fairest_protocol.messages.from_server import Snapshot
from fairest_protocol.messages.options import RoomOptions, Spectators
from fairest_server.room.catchup import MAX_MISSED_BYTES, make_catchup
from fairest_server.room.projection import StepHistory, count_entries, project
from fairest_server.room.view import ORIGIN, ViewCursor, views_of
from tests.support.races import Table, raced
from tests.support.random_rooms import random_log

seeds = st.integers(min_value=0, max_value=2**32)
viewers = st.sampled_from([0, 1, None])
any_options = st.sampled_from(
    [
        RoomOptions(best_of=3),
        RoomOptions(best_of=3, spectators=Spectators.OPEN),
        RoomOptions(rules="redeal", redeals=2),
        RoomOptions(rules="betsy-ross"),
    ]
)


@given(seeds, any_options)
def test_the_counted_entries_of_a_step_are_as_many_as_the_projected_ones(seed: int, options: RoomOptions) -> None:
    for step in random_log(seed, options):
        assert count_entries(step) == len(project(step).entries), step.event


@given(seeds, any_options, viewers)
def test_a_viewer_that_comes_back_sees_what_it_would_have_seen_had_it_stayed(
    seed: int, options: RoomOptions, viewer: int | None
) -> None:
    steps = random_log(seed, options)
    stayed = views_of(steps[0].after)[viewer]
    shown: list[bytes] = []
    cursors: list[ViewCursor] = []
    upto: list[int] = []
    for step in steps:
        shown += stayed.reveal(project(step))
        cursors.append(stayed.cursor)
        upto.append(len(shown))
    for gone in range(1 + seed % 5, len(steps), 23):
        back = min(gone + seed % 40, len(steps) - 1)
        came = make_catchup("a-b", StepHistory(steps[: back + 1]), viewer, cursors[gone], 0)
        missed = shown[cursors[gone].position : upto[back]]
        assert came.text == encode_view(cursors[back].position, missed, cursors[back].tag)
        assert came.view.cursor == cursors[back]
        later = [text for step in steps[back + 1 :] for text in came.view.reveal(project(step))]
        assert later == shown[upto[back] :]


@given(seeds, any_options, viewers)
def test_a_cursor_has_the_tag_of_the_step_that_showed_its_last_entry(
    seed: int, options: RoomOptions, viewer: int | None
) -> None:
    steps = random_log(seed, options)
    stayed = views_of(steps[0].after)[viewer]
    tag = ""
    for step in steps:
        if stayed.reveal(project(step)):
            tag = step.tag
        assert stayed.cursor.tag == tag


@given(seeds, any_options, viewers)
def test_steps_revealed_together_show_the_same_as_one_after_the_other(
    seed: int, options: RoomOptions, viewer: int | None
) -> None:
    projected = [project(step) for step in random_log(seed, options)]
    together, apart = (views_of(projected[0].step.after)[viewer] for _ in range(2))
    for first in range(0, len(projected), 1 + seed % 5):
        batch = projected[first : first + 1 + seed % 5]
        shown = [text for each in batch for text in apart.reveal(each)]
        assert (together.reveal(*batch), together.cursor) == (shown, apart.cursor)


@given(seeds, viewers)
def test_a_cursor_that_this_log_does_not_hold_is_answered_with_a_snapshot(seed: int, viewer: int | None) -> None:
    steps = raced(seed).steps
    seen = views_of(steps[0].after)[viewer]
    for step in steps[: len(steps) // 2]:
        seen.reveal(project(step))
    for cursor in (
        seen.cursor._replace(tag="ffffffff"),
        seen.cursor._replace(position=seen.position + 1),
        seen.cursor._replace(position=seen.position - 1),
    ):
        text = make_catchup("a-b", StepHistory(steps), viewer, cursor, 0).text
        assert isinstance(decode_from_server(text), Snapshot)


@pytest.mark.parametrize("viewer", [0, 1, None])
def test_a_snapshot_names_the_room_the_time_and_the_seat_of_its_viewer(viewer: int | None) -> None:
    snapshot = decode_from_server(make_catchup("a-b", StepHistory(raced(1).steps), viewer, ORIGIN, 7).text)
    assert isinstance(snapshot, Snapshot)
    assert (snapshot.room, snapshot.now_ms, snapshot.seat) == ("a-b", 7, viewer)


@pytest.mark.long
def test_the_rooms_of_these_tests_have_every_kind_of_event() -> None:
    """Otherwise the properties above would prove little."""
    happened: Counter[str] = Counter()
    for seed in range(36):
        steps = random_log(seed, RoomOptions(best_of=3))
        happened.update(type(step.event).__name__ for step in steps)
        happened["shown in pieces"] += any(earlier.tag == later.tag for earlier, later in pairwise(steps))
        happened["rematch"] += steps[-1].after.matches > 1
    wanted = [
        "SeatFreed",
        "Detached",
        "Attached",
        "Paused",
        "Revealed",
        "Started",
        "Played",
        "SeatsStopped",
        "RematchAsked",
        "FinishAsked",
    ]
    assert min(happened[name] for name in [*wanted, "shown in pieces", "rematch"]) >= 3, happened


def test_a_viewer_that_has_seen_nothing_is_at_position_0_without_a_tag() -> None:
    assert ViewCursor(0, "") == ORIGIN


def test_a_viewer_at_position_0_is_answered_with_a_snapshot_even_if_the_log_has_its_tag() -> None:
    steps = raced(1).steps
    text = make_catchup("a-b", StepHistory(steps), 0, ViewCursor(0, steps[0].tag), 0).text
    assert isinstance(decode_from_server(text), Snapshot)


def test_a_viewer_that_comes_back_is_shown_at_the_end_what_was_held_back_in_the_order_in_which_it_was_made() -> None:
    table = Table(1)
    table.start()
    for _ in range(30):
        table.play(0, "sa")
    stayed = views_of(table.state)[None]
    stayed.reveal(*map(project, table.steps))
    came = make_catchup("a-b", StepHistory(list(table.steps)), None, stayed.cursor, 0).view
    table.play(1, "resign")
    last = project(table.steps[-1])
    assert came.reveal(last) == stayed.reveal(last)


@pytest.mark.long
def test_a_viewer_that_has_missed_too_much_is_answered_with_a_snapshot() -> None:
    """A guest comes and goes, and each time a round is opened and called off."""
    table = Table(1)
    stayed = views_of(table.state)[0]
    for step in table.steps:
        stayed.reveal(project(step))
    size = 0
    while size <= MAX_MISSED_BYTES:
        count = len(table.steps)
        table.seat_both()
        table.submit(table.request(1, Leave()))
        size += sum(len(entry.text) for step in table.steps[count:] for entry in project(step).entries)
    came = make_catchup("a-b", StepHistory(table.steps), 0, stayed.cursor, 0)
    assert isinstance(decode_from_server(came.text), Snapshot)
