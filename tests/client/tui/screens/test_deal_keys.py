"""The keys that lead from a match that is over to its deal, and through the turning points of its replay."""

from pathlib import Path

import pytest

from fairest_cli.records.files import records_folder
from fairest_cli.tui.board.turning_points import Turn
from fairest_cli.tui.launch import AtHome, AtReplay
from fairest_cli.tui.screens.history import HistoryScreen
from fairest_cli.tui.screens.practice import PracticeScreen
from fairest_cli.tui.screens.replay import ReplayScreen
from fairest_cli.tui.screens.result import ResultScreen
from fairest_cli.tui.widgets.timeline_view import TimelineView
from tests.support import staged
from tests.support.full_screen import terminal
from tests.support.records import make_record, text_of
from tests.support.screens import SCREENS

TURNING = 16
"""The seed of a match in which the lead changes three times, and two foundations become complete."""

pytestmark = pytest.mark.usefixtures("home")


async def test_p_on_the_result_practises_the_deal_of_the_round(home: Path) -> None:
    async with terminal(AtHome(), home) as player:
        await SCREENS["result"](player)
        await player.press("p")
        screen = await player.is_on(PracticeScreen)
        assert screen.game.seed == staged.finished().record().rounds[0].seed.hex()


async def test_p_on_the_result_does_nothing_before_the_record_is_there(home: Path) -> None:
    async with terminal(AtHome(), home) as player:
        await SCREENS["result"](player)
        player.session.record = None
        await player.press("p")
        await player.is_on(ResultScreen)


async def test_p_in_the_history_practises_the_deal_of_the_match(home: Path) -> None:
    record = make_record(1)
    records_folder().mkdir(parents=True)
    (records_folder() / "race.jsonl").write_text(text_of(record))
    async with terminal(AtHome(), home) as player:
        await player.press("m")
        await player.is_on(HistoryScreen)
        await player.sees("ann against bob")
        await player.press("p")
        screen = await player.is_on(PracticeScreen)
        assert screen.game.seed == record.rounds[0].seed.hex()


@pytest.mark.parametrize(("key", "back", "kind"), [("n", "N", Turn.LEAD), ("f", "F", Turn.FOUNDATION)])
async def test_a_replay_goes_from_one_turning_point_to_the_next_and_back(
    home: Path, key: str, back: str, kind: Turn
) -> None:
    async with terminal(AtReplay(make_record(TURNING)), home) as player:
        view = (await player.is_on(ReplayScreen)).query_one(TimelineView)
        places = [point.index for point in view.turning_points if point.kind is kind]
        assert len(places) >= 2
        await player.press(key)
        assert view.timeline.index == places[0]
        await player.press(key)
        assert view.timeline.index == places[1]
        await player.press(back)
        assert view.timeline.index == places[0]
        await player.press("end", key)
        assert player.read("label").endswith("after this.")
