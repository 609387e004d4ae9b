"""The page folds the entries of a view into the same scene as our clients do, for every viewer."""

from typing import Any

import pytest
from pydantic_core import to_jsonable_python

from fairest_protocol.messages.scene import Scene
from fairest_server.room import view as seen
from tests.support.page_modules import ask_page
from tests.support.random_rooms import random_room

LATER: list[dict[str, Any]] = [{"type": "applause", "seat": 0}]
"""An entry of a later version: it changes nothing."""


def compare(seeds: range) -> None:
    questions, expected = [], []
    for seed in seeds:
        steps = random_room(seed).steps
        created = steps[0].after
        for viewer in (0, 1, None):
            entries = seen.view(steps, viewer)
            first = to_jsonable_python(Scene(options=created.options))
            questions.append({"ask": "fold", "scene": first, "entries": [*to_jsonable_python(entries), *LATER]})
            expected.append(to_jsonable_python(seen.scene(created, entries)))
    assert ask_page(questions) == expected


def test_every_viewer_of_a_random_room_has_the_same_scene() -> None:
    compare(range(8))


@pytest.mark.long
@pytest.mark.parametrize("first", range(0, 1000, 100))
def test_every_viewer_of_a_thousand_random_rooms_has_the_same_scene(first: int) -> None:
    compare(range(first, first + 100))
