"""The history checker finds each kind of fault that it exists for."""

from collections.abc import Callable

import pytest

from fairest_protocol.messages.codec import decode_from_server
from fairest_protocol.messages.fast_encoding import encode_view
from fairest_protocol.messages.from_server import Accepted, FromServer, Snapshot
from fairest_protocol.value import replace
from fairest_server.room import view as seen
from fairest_server.room.catchup import make_catchup
from fairest_server.room.events import Played
from fairest_server.room.projection import StepHistory, project
from fairest_server.room.steps import LogEntry, Step
from tests.support.history import ViewerTranscript, check_history
from tests.support.races import raced

ROOM = "one-two-three"


def logged(steps: list[Step]) -> list[LogEntry]:
    return [LogEntry(index, step.tag, step.at_ms, step.event) for index, step in enumerate(steps, 1)]


def transcript(steps: list[Step], seat: int | None) -> ViewerTranscript:
    """Return everything that an honest server sends this viewer: a snapshot, then view after view."""
    view = seen.views_of(steps[0].after)[seat]
    for step in steps[:4]:
        view.reveal(project(step))
    received = [decode_from_server(make_catchup(ROOM, StepHistory(steps[:4]), seat, seen.ORIGIN, 0).text)]
    for step in steps[4:]:
        entries = view.reveal(project(step))
        if entries:
            received.append(decode_from_server(encode_view(view.cursor.position, entries, view.cursor.tag)))
    return ViewerTranscript(seat, received)


STEPS = raced(3).steps
TRANSCRIPTS = [transcript(STEPS, seat) for seat in (0, 1, None)]


def test_an_honest_history_has_no_problems() -> None:
    assert check_history(ROOM, logged(STEPS), TRANSCRIPTS) == []


def test_transcripts_that_end_before_the_log_have_no_problems() -> None:
    cut = [ViewerTranscript(each.seat, each.received[: len(each.received) // 2]) for each in TRANSCRIPTS]
    assert check_history(ROOM, logged(STEPS), cut) == []


def test_an_acknowledged_move_that_the_log_has_lost_is_found() -> None:
    assert check_history(ROOM, logged(STEPS[: len(STEPS) // 2]), TRANSCRIPTS)


def test_a_move_that_is_logged_twice_is_found() -> None:
    place = next(place for place, step in enumerate(STEPS) if isinstance(step.event, Played))
    doubled = [*STEPS[: place + 1], STEPS[place], *STEPS[place + 1 :]]
    assert check_history(ROOM, logged(doubled), TRANSCRIPTS)


def test_an_answer_for_a_move_that_is_not_logged_is_found() -> None:
    with_answer = ViewerTranscript(0, [*TRANSCRIPTS[0].received, Accepted(number=999)])
    assert check_history(ROOM, logged(STEPS), [with_answer])


def test_time_that_goes_back_is_found() -> None:
    late = [*STEPS[:-1], replace(STEPS[-1], at_ms=STEPS[0].at_ms - 1)]
    assert check_history(ROOM, logged(late), [])


def drop(views: list[FromServer]) -> list[FromServer]:
    return [*views[:5], *views[6:]]


def swap(views: list[FromServer]) -> list[FromServer]:
    return [*views[:5], views[6], views[5], *views[7:]]


def leak(_: list[FromServer]) -> list[FromServer]:
    """Return the messages to the other seat."""
    return TRANSCRIPTS[1].received


@pytest.mark.parametrize("spoil", [drop, swap, leak])
def test_a_view_with_lost_swapped_or_foreign_messages_is_found(
    spoil: Callable[[list[FromServer]], list[FromServer]],
) -> None:
    assert check_history(ROOM, logged(STEPS), [ViewerTranscript(0, spoil(TRANSCRIPTS[0].received))])


def test_a_snapshot_of_another_moment_is_found() -> None:
    first = TRANSCRIPTS[0].received[0]
    assert isinstance(first, Snapshot)
    wrong = first.model_copy(update={"scene": seen.scene(STEPS[0].after, seen.view(STEPS[:3], 0))})
    assert check_history(ROOM, logged(STEPS), [ViewerTranscript(0, [wrong])])
