"""The pictures of all screens: each look shows what a terminal of that kind would."""

import re

from docs.pictures import ALL, LOOKS, draw, in_16_colours, without_colour
from tests.support.screens import SCREENS

PICTURE = '<svg><rect fill="#0e2a22"/><text fill="#f2c14e">A</text></svg>'


def colours_of(svg: str) -> list[str]:
    return re.findall(r"#([0-9a-f]{6})", svg)


def test_every_screen_of_the_snapshots_has_pictures() -> None:
    assert set(SCREENS) <= set(ALL)


def test_a_picture_in_16_colours_has_those_of_the_terminal() -> None:
    assert colours_of(in_16_colours(PICTURE)) == ["000000", "ffff00"]


def test_a_picture_without_colour_has_only_greys() -> None:
    assert all(colour[:2] == colour[2:4] == colour[4:] for colour in colours_of(without_colour(PICTURE)))


async def test_a_picture_in_ascii_is_ascii() -> None:
    shows_unicode, change = LOOKS["ASCII"]
    svg = await draw(ALL["home"], 80, 24, shows_unicode=shows_unicode)
    assert change(svg).isascii() and ">AS<" in svg.replace("&#160;", "")
