"""Work of a screen in the background, which may outlive the widgets that it shows."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from textual.app import ComposeResult
from textual.css.query import NoMatches
from textual.dom import NoScreen
from textual.widget import Widget

from fairest_cli.tui.crash import Crash
from fairest_cli.tui.launch import AtHome
from fairest_cli.tui.screens.base import FairestScreen
from fairest_cli.tui.screens.home import HomeScreen
from fairest_cli.tui.widgets.text_lines import TextLines
from tests.support.full_screen import terminal
from tests.support.ports import free_port

pytestmark = pytest.mark.usefixtures("home")


LONG = 100_000
"""Turns of the event loop in which a screen is closed."""


class Lingering(Widget):
    """A widget that is removed only when the work of its screen has ended."""

    def __init__(self, has_ended: asyncio.Event) -> None:
        super().__init__()
        self._has_ended = has_ended

    async def on_unmount(self) -> None:
        await self._has_ended.wait()


class LateScreen(FairestScreen):
    """Shows an answer when the widget for it is gone, as a fetch does that ends while its screen is closed."""

    def __init__(self, look: Callable[[FairestScreen, Widget], object]) -> None:
        super().__init__()
        self.has_ended = asyncio.Event()
        self.found: NoMatches | NoScreen | None = None
        self._look = look

    def compose_body(self) -> ComposeResult:
        yield TextLines(id="answer")
        yield Lingering(self.has_ended)

    def on_mount(self) -> None:
        self.run_in_background(self._show)

    async def _show(self) -> None:
        answer = self.query_one("#answer")
        try:
            for _ in range(LONG):
                self._look(self, answer)
                await asyncio.sleep(0)
        except (NoMatches, NoScreen) as reason:
            self.found = reason
            raise
        finally:
            self.has_ended.set()


class WrongScreen(FairestScreen):
    """Looks for a widget that it never had."""

    def on_mount(self) -> None:
        self.run_in_background(self._show)

    async def _show(self) -> None:
        self.query_one("#answer")


def find_widget(screen: FairestScreen, _: Widget) -> object:
    return screen.query_one("#answer")


def find_screen(_: FairestScreen, widget: Widget) -> object:
    return widget.screen


@pytest.mark.parametrize("look", [find_widget, find_screen])
async def test_an_answer_that_comes_while_its_screen_is_closed_is_no_crash(
    tmp_path: Path, look: Callable[[FairestScreen, Widget], object]
) -> None:
    async with terminal(AtHome(f"ws://127.0.0.1:{free_port()}", "ann"), tmp_path) as player:
        await player.is_on(HomeScreen)
        late = LateScreen(look)
        await player.app.push_screen(late)
        await player.app.pop_screen()
        assert late.found is not None
        await player.is_on(HomeScreen)
        await player.press("question_mark")
        assert not player.app.last_words


async def open_wrong_screen(folder: Path) -> None:
    async with terminal(AtHome(f"ws://127.0.0.1:{free_port()}", "ann"), folder) as player:
        await player.is_on(HomeScreen)
        await player.app.push_screen(WrongScreen())
        await player.until(lambda: not player.app.is_running)


async def test_a_widget_that_an_open_screen_lacks_is_a_crash(tmp_path: Path) -> None:
    with pytest.raises(Crash, match="No nodes match"):
        await open_wrong_screen(tmp_path)
