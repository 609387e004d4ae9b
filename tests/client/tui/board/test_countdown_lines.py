"""The countdown: in the middle of every terminal, with large figures and every foundation."""

from collections.abc import Sequence
from itertools import product

import pytest

from fairest_cli.tui.board.card_style import CardStyle
from fairest_cli.tui.board.countdown_lines import countdown_lines
from fairest_cli.tui.board.large_ranks import large_number
from fairest_protocol.messages.options import RoomOptions
from tests.support import staged
from tests.support.races import Table

SIZES = [(50, 16), (60, 20), (80, 24), (120, 40), (200, 60)]
WORDS = ("zohib", "zodib", "ligid", "fuhuk")


def drawn(
    size: tuple[int, int], seconds: int | None = 3, rules: str = "classic", *, is_ascii: bool = False
) -> list[str]:
    table = Table(staged.SEED, RoomOptions(rules=rules))
    table.start()
    board = staged.StagedRoom(table).model().board
    return [line.plain for line in countdown_lines(seconds, WORDS, board, *size, CardStyle(is_ascii=is_ascii))]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("rules", ["classic", "senior"])
def test_everything_fits(size: tuple[int, int], rules: str) -> None:
    rows = drawn(size, rules=rules)
    assert len(rows) <= size[1]
    assert all(len(row.rstrip()) <= size[0] for row in rows)


@pytest.mark.parametrize("size", SIZES)
def test_the_seconds_are_large_in_the_middle(size: tuple[int, int]) -> None:
    rows = [row for row in drawn(size) if "██" in row]
    assert len(rows) >= 3
    edges: Sequence[int] = [len(row) - len(row.lstrip()) for row in rows]
    assert abs(min(edges) + 5 - size[0] // 2) <= 3


@pytest.mark.parametrize("size", SIZES)
def test_the_block_stands_in_the_middle_of_the_height(size: tuple[int, int]) -> None:
    rows = drawn(size)
    above = next(number for number, row in enumerate(rows) if row.strip())
    below = size[1] - len(rows)
    assert abs(above - below) <= 1


@pytest.mark.parametrize("size", SIZES)
def test_the_check_words_and_each_foundation_are_shown(size: tuple[int, int]) -> None:
    shown = "\n".join(drawn(size))
    assert " ".join(WORDS) in shown
    assert shown.count("►") >= 4


def test_seconds_of_two_figures_and_none_are_drawn() -> None:
    assert any("██" in row for row in drawn((80, 24), 10))
    assert not any("██" in row for row in drawn((80, 24), None))


def test_ascii_has_no_other_signs() -> None:
    assert "".join(drawn((80, 24), is_ascii=True)).replace("♣", "").replace("♦", "").isascii()


def is_fitting(rows: Sequence[str], columns: int, lines: int) -> bool:
    widths = {len(row) for row in rows}
    return 1 <= len(rows) <= lines and len(widths) == 1 and max(widths) <= columns


def test_a_number_fits_its_room() -> None:
    wrong = [
        (number, size)
        for number, size in product((0, 1, 9, 10, 59, 120), ((50, 5), (50, 3), (50, 1), (6, 5)))
        if not is_fitting(large_number(number, *size), *size)
    ]
    assert wrong == []
