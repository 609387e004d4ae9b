"""How often the computations over a whole log let the event loop go on, for logs of every length."""

from collections.abc import Callable

import pytest

from fairest_protocol.calculation.sliced import Sliced
from fairest_server.room.catchup import catching_up, showing_scene
from fairest_server.room.events import Started
from fairest_server.room.match_record import MatchFold
from fairest_server.room.projection import StepHistory, project
from fairest_server.room.steps import LogEntry, Step, folding
from fairest_server.room.view import ViewCursor, views_of
from tests.support.races import raced

STEPS = raced(3).steps
OPENED = StepHistory(STEPS).newest_start()
"""The index of the step from which the scene is folded."""
SEEN = next(index for index, step in enumerate(STEPS) if isinstance(step.event, Started))
"""The index of the last step that the viewer who comes back has seen."""


def fold_entries(steps: list[Step]) -> Sliced[object]:
    return folding([LogEntry(number, step.tag, step.at_ms, step.event) for number, step in enumerate(steps, 1)])


def add_to_matches(steps: list[Step]) -> Sliced[object]:
    return MatchFold().adding(steps)


def count_entries(steps: list[Step]) -> Sliced[object]:
    return StepHistory(list(steps)).counting()


def show_scene(steps: list[Step]) -> Sliced[object]:
    return showing_scene(StepHistory(list(steps)), None)


def come_back(steps: list[Step]) -> Sliced[object]:
    return catching_up("a-room", StepHistory(list(steps)), 0, cursor_at(SEEN), lambda: 0)


def cursor_at(index: int) -> ViewCursor:
    """Return the cursor of the first seat after the step with this index."""
    seen = views_of(STEPS[0].after)[0]
    seen.reveal(*map(project, STEPS[: index + 1]))
    return seen.cursor


@pytest.mark.parametrize(
    ("compute", "lengths", "expected"),
    [
        (fold_entries, range(len(STEPS)), lambda length: length // 32),
        (add_to_matches, range(len(STEPS)), lambda length: length // 32),
        (count_entries, range(len(STEPS)), lambda length: -(-length // 64)),
        (show_scene, range(OPENED + 1, OPENED + 30), lambda length: (length - 1) // 8 - OPENED // 8),
        (come_back, range(SEEN + 1, SEEN + 60, 7), lambda length: -(-length // 64) + (length - 1) // 8 - SEEN // 8),
    ],
)
def test_a_computation_over_a_log_goes_on_in_slices(
    compute: Callable[[list[Step]], Sliced[object]], lengths: range, expected: Callable[[int], int]
) -> None:
    slices = [sum(1 for _ in compute(STEPS[:length])) for length in lengths]
    assert slices == [expected(length) for length in lengths]
