"""The names of Textual that tui/crash.py relies on and that the library does not document."""

from collections.abc import Callable

import pytest
from rich.console import RenderableType
from textual.app import App, ComposeResult
from textual.timer import Timer
from textual.widgets import Label
from textual.worker import WorkerFailed

from fairest_cli.tui.crash import PRIVATE_NAMES, Crash


class Shown(Exception):
    """An exception that Rich can render, as `Crash` is."""

    def __rich__(self) -> str:
        return ""


class Watched(App[None]):
    """Does with an error what `CrashReportingApp` does, and notes it."""

    def __init__(self) -> None:
        super().__init__()
        self.errors: list[Exception] = []
        self.panics: list[RenderableType] = []

    def compose(self) -> ComposeResult:
        yield Label("here")

    def _handle_exception(self, error: Exception) -> None:
        self.errors.append(error)
        super()._handle_exception(Shown())

    def panic(self, *renderables: RenderableType) -> None:
        self.panics.extend(renderables)
        super().panic(*renderables)


def fail() -> None:
    raise ZeroDivisionError


async def fail_in_worker() -> None:
    fail()


def in_a_callback(app: Watched) -> object:
    return app.call_later(fail)


def in_a_timer(app: Watched) -> Timer:
    return app.set_timer(0.001, fail)


def in_a_widget(app: Watched) -> object:
    return app.query_one(Label).call_later(fail)


def in_a_worker(app: Watched) -> object:
    return app.run_worker(fail_in_worker())


@pytest.mark.parametrize("name", PRIVATE_NAMES)
def test_textual_still_has_the_private_names_that_the_driver_overrides(name: str) -> None:
    assert callable(getattr(App, name))


async def run(app: Watched, start: Callable[[Watched], object]) -> None:
    async with app.run_test() as pilot:
        start(app)
        while not app.errors:
            await pilot.pause()


@pytest.mark.parametrize("start", [in_a_callback, in_a_timer, in_a_widget, in_a_worker])
async def test_an_uncaught_error_reaches_the_hook(start: Callable[[Watched], object]) -> None:
    app = Watched()
    with pytest.raises(Shown):
        await run(app, start)
    [error] = app.errors
    assert isinstance(error.error if isinstance(error, WorkerFailed) else error, ZeroDivisionError)


async def test_an_error_that_rich_can_render_goes_to_panic_in_place_of_a_traceback() -> None:
    app = Watched()
    with pytest.raises(Shown):
        await run(app, in_a_callback)
    assert [type(shown) for shown in app.panics] == [Shown]


async def test_an_app_that_panics_has_the_exit_code_of_a_failure() -> None:
    app = Watched()
    with pytest.raises(Shown):
        await run(app, in_a_callback)
    assert app.return_code == 1


def test_a_crash_prints_nothing_by_itself() -> None:
    app = App[None]()
    assert list(app.console.render(Crash(""))) == []


async def test_the_compositor_gives_the_text_that_the_tests_of_screens_read() -> None:
    app = Watched()
    async with app.run_test() as pilot:
        await pilot.pause()
        assert app.screen._compositor.render_strips()[0].text.rstrip() == "here"
