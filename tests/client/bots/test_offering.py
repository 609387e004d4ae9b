"""The level that is offered after results against rivals."""

from pathlib import Path

import pytest

from fairest_cli.bots.levels import DEFAULT_LEVEL, Level
from fairest_cli.bots.offering import RivalResult, level_at_home, offer_at_home, offer_level
from fairest_protocol.value import replace
from tests.support.records import make_record, text_of


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
    assert offer_level(results(before)).level is offered


def test_a_player_without_records_is_offered_the_level_for_a_newcomer(tmp_path: Path) -> None:
    assert level_at_home(tmp_path / "none") is DEFAULT_LEVEL


@pytest.mark.parametrize(
    ("before", "reason"),
    [
        ("", "to begin with"),
        ("club+", "as in your last match against a bot"),
        ("club+ club+", "after two wins against club"),
        ("club- club-", "after two matches without a win against club"),
    ],
)
def test_the_reason_of_an_offer_is_said(before: str, reason: str) -> None:
    assert offer_level(results(before)).reason == reason


def test_the_records_of_this_machine_decide(tmp_path: Path) -> None:
    for number in (1, 2):
        # In both, the player in the second seat wins.
        save_against("bot-club-0815", number, tmp_path)
    assert offer_at_home(tmp_path).level is Level.STRONG


def save_against(rival: str, number: int, folder: Path) -> None:
    """Store a record of a match between a rival in the first seat and a person in the second one."""
    record = replace(make_record(number), names=(rival, "you"))
    (folder / f"{number}.jsonl").write_text(text_of(record))
