"""A fold written from the page agrees with ours, whatever happens in a room."""

import random
from collections.abc import Sequence
from typing import Any

import pytest
from pydantic_core import to_jsonable_python

from fairest_protocol.messages.entries import Entry
from fairest_protocol.messages.fast_encoding import decode_entry
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.scene import Scene
from fairest_server.room import view as seen
from fairest_server.room.projection import project
from tests.support import page_fold
from tests.support.long_tests import parametrize_with_long
from tests.support.random_rooms import random_room


def as_json(value: Any) -> Any:
    return to_jsonable_python(value)


def fold_by_the_page(options: Any, entries: Sequence[Entry]) -> page_fold.Json:
    scene = page_fold.empty_scene(as_json(options))
    for entry in entries:
        scene = page_fold.after(scene, as_json(entry))
    return scene


def check(seed: int) -> None:
    """Compare the folds of everything that each viewer is shown, and of two beginnings of it."""
    steps = random_room(seed).steps
    created = steps[0].after
    for viewer in (0, 1, None):
        entries = seen.view(steps, viewer)
        for count in (*random.Random(seed).choices(range(len(entries) + 1), k=2), len(entries)):
            shown = entries[:count]
            assert fold_by_the_page(created.options, shown) == as_json(seen.scene(created, shown)), viewer


@pytest.mark.parametrize("viewer", [0, 1, None])
@parametrize_with_long("seed", range(10), quick=3)
def test_every_viewer_knows_when_a_phase_ends_by_itself(seed: int, viewer: int | None) -> None:
    """A room with a result counts no time: the next round comes within seconds."""
    steps = random_room(seed).steps
    view, scene = seen.views_of(steps[0].after)[viewer], Scene(options=steps[0].after.options)
    for step in steps:
        for text in view.reveal(project(step)):
            scene = scene.after(decode_entry(text))
        state = step.after
        ends_at_ms = None if state.phase is Phase.FINISHED else state.clocks.phase_until_ms
        assert (state.phase, scene.until_ms) == (state.phase, ends_at_ms)


@parametrize_with_long("seed", range(40), quick=6)
def test_a_fold_written_from_the_page_agrees_with_ours_for_every_viewer(seed: int) -> None:
    check(seed)


@pytest.mark.long
@pytest.mark.parametrize("first", range(0, 1000, 100))
def test_a_fold_written_from_the_page_agrees_with_ours_in_a_thousand_rooms(first: int) -> None:
    for seed in range(first, first + 100):
        check(seed)


@pytest.mark.long
def test_the_random_rooms_hold_every_type_of_entry() -> None:
    types = {entry.type for seed in range(40) for entry in seen.view(random_room(seed).steps, None)}
    assert types == set(page_fold.TYPES)
