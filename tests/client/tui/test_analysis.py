"""The analysis on the full screen: opened by a key, computed in a process of its own, given up when it is left."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from fairest_cli.analysis.judging import Effort
from fairest_cli.text.analysis_process import PROGRESS, analyse_all, analyse_in_process
from fairest_cli.tui.board.winning_line_timeline import winning_line_timeline
from fairest_cli.tui.launch import AtReplay
from fairest_cli.tui.screens.analysis import AnalysisScreen
from fairest_cli.tui.screens.replay import ReplayScreen
from fairest_cli.tui.screens.solution import SolutionScreen
from tests.support.full_screen import terminal
from tests.support.long_tests import parametrize_with_long
from tests.support.records import make_record

RECORD = make_record(3)


async def test_the_analysis_opens_from_the_replay_and_shows_its_progress(tmp_path: Path) -> None:
    async with terminal(AtReplay(RECORD), tmp_path) as player:
        await player.is_on(ReplayScreen)
        await player.press("a")
        await player.is_on(AnalysisScreen)
        await player.sees("% analysed")


@pytest.mark.long
async def test_an_analysis_under_way_says_what_is_computed(tmp_path: Path) -> None:
    async with terminal(AtReplay(RECORD), tmp_path) as player:
        await player.is_on(ReplayScreen)
        await player.press("a")
        await player.is_on(AnalysisScreen)
        await player.sees("a simple player finishes sampled games")


@pytest.mark.long
async def test_an_analysis_that_is_left_returns_to_the_replay(tmp_path: Path) -> None:
    async with terminal(AtReplay(RECORD), tmp_path) as player:
        await player.is_on(ReplayScreen)
        await player.press("a")
        await player.is_on(AnalysisScreen)
        await player.press("escape")
        await player.is_on(ReplayScreen)


@pytest.mark.long
async def test_a_line_that_wins_is_stepped_through(tmp_path: Path) -> None:
    async with terminal(AtReplay(RECORD), tmp_path) as player:
        await player.is_on(ReplayScreen)
        await player.press("a")
        await player.is_on(AnalysisScreen)
        await player.press("s")
        await player.is_on(SolutionScreen)
        await player.press("right")
        await player.sees("1. lay A of diamonds on pile a (sa)")


async def test_the_line_that_wins_ends_with_every_card_placed() -> None:
    timeline = await winning_line_timeline(RECORD)
    assert timeline is not None
    assert timeline.moments[-1].counts[0] == 52


@pytest.mark.long
async def test_the_process_is_killed_when_its_reader_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[asyncio.subprocess.Process] = []
    start = asyncio.create_subprocess_exec

    async def note_process(*arguments: Any, **options: Any) -> asyncio.subprocess.Process:
        started.append(await start(*arguments, **options))
        return started[-1]

    monkeypatch.setattr(asyncio, "create_subprocess_exec", note_process)
    analysis = analyse_in_process(RECORD)
    assert await anext(analysis) == 0
    await analysis.aclose()
    assert started[0].returncode


async def test_the_process_ends_with_the_lines_of_the_analysis(
    capsys: pytest.CaptureFixture[str],
) -> None:
    analyse_all(RECORD, Effort(roll_outs=2, close_look=2, club_games=0))
    lines = capsys.readouterr().out.splitlines()
    progress = [int(line) for line in lines if line.startswith(PROGRESS)]
    assert (progress[-1], sorted(progress)) == (100, progress)
    assert "Round 1" in lines


@parametrize_with_long("size", [(50, 16), (80, 24)], quick=1, ids=str)
async def test_a_line_that_wins_has_the_whole_width_and_no_lead(tmp_path: Path, size: tuple[int, int]) -> None:
    timeline = await winning_line_timeline(RECORD)
    assert timeline is not None
    async with terminal(AtReplay(RECORD), tmp_path, columns=size[0], lines=size[1]) as player:
        await player.is_on(ReplayScreen)
        await player.app.push_screen(SolutionScreen(timeline.sought(0.5)))
        await player.sees("the line 2")
        assert "leads" not in player.text
        assert player.app.screen.query_one("#side-0").size.width == size[0]
        assert not player.app.screen.query("#side-1")
