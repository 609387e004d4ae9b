"""The level that is offered after results against rivals."""

from pathlib import Path

import pytest

from fairest_cli.bots.levels import DEFAULT_LEVEL, Level
from fairest_cli.bots.offering import RivalResult, level_at_home, offered_level


def results(text: str) -> list[RivalResult]:
    """Read results such as `club+ club-`: a win, then a loss."""
    return [RivalResult(Level(word[:-1]), word.endswith("+")) for word in text.split()]


@pytest.mark.parametrize(
    ("before", "offered"),
    [
        ("", DEFAULT_LEVEL),
        ("club+", Level.CLUB),
        ("club-", Level.CLUB),
        ("club+ club+", Level.STRONG),
        ("club- club-", Level.LEARNER),
        ("club+ club-", Level.CLUB),
        ("learner+ club+", Level.CLUB),
        ("expert+ expert+", Level.EXPERT),
        ("careless- careless-", Level.CARELESS),
    ],
)
def test_two_equal_results_in_a_row_change_the_offered_level(before: str, offered: Level) -> None:
    assert offered_level(results(before)) is offered


def test_a_player_without_records_is_offered_the_level_for_a_newcomer(tmp_path: Path) -> None:
    assert level_at_home(tmp_path / "none") is DEFAULT_LEVEL
