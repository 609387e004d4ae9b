"""How much a viewer that comes back may have missed, to the byte, and what it costs if that was too much."""

import pytest

from fairest_protocol.messages.codec import decode_from_server
from fairest_protocol.messages.fields import PLAIN_TEXT_LENGTH
from fairest_protocol.messages.from_server import Snapshot, View
from fairest_protocol.messages.options import RoomOptions
from fairest_server.room import events
from fairest_server.room.catchup import catching_up, make_catchup
from fairest_server.room.projection import StepHistory, project
from fairest_server.room.steps import Step
from fairest_server.room.view import ORIGIN, ViewCursor, views_of
from tests.support.races import Table

MOST_BYTES = 2 * 1024 * 1024


@pytest.fixture(scope="module")
def dealt() -> list[Step]:
    """A log whose last step deals three passes of cards, and so has 10 KB of entries."""
    table = Table(1, RoomOptions(rules="redeal", redeals=2))
    table.seat_both()
    table.deal()
    return table.steps


def cursor_of(steps: list[Step]) -> ViewCursor:
    seen = views_of(steps[0].after)[None]
    seen.reveal(*map(project, steps))
    return seen.cursor


def size_of(step: Step) -> int:
    return sum(len(entry.text) for entry in project(step).entries)


def closed(step: Step, length: int) -> Step:
    """Return a step after `step` with a reason of this length."""
    return Step(step.after, events.RoomClosed(reason="x" * length), step.at_ms, step.after, step.tag)


def steps_of(size: int, dealt: list[Step]) -> list[Step]:
    """Return steps that show entries of this size, and at their end a round that is opened."""
    deal, opened = dealt[-1], next(step for step in dealt if isinstance(step.event, events.RoundOpened))
    least = size_of(closed(deal, 1))
    rest = size - size_of(opened)
    steps = [deal] * (rest // size_of(deal) - 1)
    rest -= len(steps) * size_of(deal)
    while rest > 2 * (least + PLAIN_TEXT_LENGTH):
        steps.append(closed(deal, PLAIN_TEXT_LENGTH))
        rest -= size_of(steps[-1])
    halves = (rest // 2, rest - rest // 2)
    return [*steps, *(closed(deal, 1 + half - least) for half in halves), opened]


def answer(dealt: list[Step], missed: list[Step]) -> object:
    """Return the first message to a spectator that has seen the deal and missed these steps."""
    return decode_from_server(make_catchup("a-b", StepHistory([*dealt, *missed]), None, cursor_of(dealt), 0).text)


def test_a_viewer_that_has_missed_two_mebibytes_is_sent_them(dealt: list[Step]) -> None:
    assert isinstance(answer(dealt, steps_of(MOST_BYTES, dealt)), View)


def test_a_viewer_that_has_missed_a_byte_more_is_shown_the_scene(dealt: list[Step]) -> None:
    assert isinstance(answer(dealt, steps_of(MOST_BYTES + 1, dealt)), Snapshot)


def test_a_viewer_that_has_missed_an_entry_after_two_mebibytes_is_shown_the_scene(dealt: list[Step]) -> None:
    missed = steps_of(MOST_BYTES, dealt)
    assert isinstance(answer(dealt, [*missed, missed[-1]]), Snapshot)


def test_no_more_entries_are_made_for_a_viewer_once_it_has_missed_too_much(dealt: list[Step]) -> None:
    missed = steps_of(MOST_BYTES + 1, dealt)
    steps = [*dealt, *missed, *[missed[-1]] * 800]
    slices = [
        sum(1 for _ in catching_up("a-b", StepHistory(list(steps)), None, cursor, lambda: 0))
        for cursor in (cursor_of(dealt), ORIGIN)
    ]
    assert slices[0] - slices[1] == (len(dealt) + len(missed) - 1) // 8 - (len(dealt) - 1) // 8
