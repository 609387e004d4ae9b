"""The moving picture: each element once, shown at the times of its screenshots."""

import re

import pytest

from docs.moving_picture import join_screenshots
from docs.screenshots import DOCS, draw_pictures

SHOT = """<svg><style>
.terminal-1-r1 {{ fill: {color} }}
</style>
<g transform="translate(9, 41)" clip-path="url(#terminal-1-clip-terminal)">
<rect fill="#000" x="0" y="1" width="9" height="9" shape-rendering="crispEdges"/>
<text class="terminal-1-r1" x="0" y="1" clip-path="url(#terminal-1-line-0)">{text}</text>
</g></svg>"""


def joined(*texts: str) -> str:
    return join_screenshots([SHOT.format(text=text, color="#fff") for text in texts], 1.0, 2.0)


def test_an_element_of_all_screenshots_is_written_once_and_does_not_move() -> None:
    assert "<animate" not in joined("same", "same")


def test_an_element_is_shown_at_the_time_of_its_screenshot() -> None:
    assert 'values="hidden;visible;hidden" keyTimes="0;0.25;0.5"' in joined("one", "two", "three")


def test_the_last_screenshot_is_shown_by_a_viewer_without_animations() -> None:
    assert re.findall(r'<g visibility="visible">.*?>(\w+)</text>', joined("one", "two")) == ["two"]


def test_styles_of_the_same_name_in_two_screenshots_are_kept_apart() -> None:
    shots = [SHOT.format(text="text", color=color) for color in ("#111", "#222")]
    assert {"fill: #111", "fill: #222"} <= set(re.findall(r"fill: #\d+", join_screenshots(shots, 1.0, 2.0)))


def test_another_form_of_screenshot_is_refused() -> None:
    with pytest.raises(ValueError, match="Rich 15"):
        join_screenshots(["<svg></svg>"], 1.0, 2.0)


@pytest.mark.long
@pytest.mark.timeout(240)
async def test_the_pictures_of_the_docs_are_those_of_the_screens() -> None:
    stale = [name for name, svg in (await draw_pictures()).items() if (DOCS / name).read_text("utf-8") != svg]
    assert stale == [], "run `make screenshots`"


def test_the_moving_picture_is_small_enough_for_a_page() -> None:
    assert (DOCS / "race-moving.svg").stat().st_size < 400_000
