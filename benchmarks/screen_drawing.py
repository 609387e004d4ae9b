"""CPU time that the client takes to draw a whole race on a large terminal.

The program runs in this process with a driver that takes what a terminal would be sent. Its race screen is switched
between two boards of which nearly every card differs. CPU time of the thread is measured, not time: between the change
and the frame, Textual waits for its next frame, and other processes run.
"""

import asyncio
import tempfile
import time
from pathlib import Path
from typing import Any, ClassVar, Final

from textual import events
from textual.app import App
from textual.driver import Driver
from textual.geometry import Size

from fairest_cli.session.room_session import RoomSession
from fairest_cli.tui.app import FairestApp
from fairest_cli.tui.launch import AtHome
from fairest_cli.tui.screens.race import RaceScreen
from tests.support import staged

SIZE: Final = (200, 60)
"""Columns and lines."""
TIMEOUT_SECONDS: Final = 20.0
SMALLEST_BYTES: Final = 2_000
"""A frame with fewer bytes has drawn only the clock."""


class CountingDriver(Driver):
    """Takes what is written, and says when a frame has ended and how many bytes it had."""

    newest: ClassVar["CountingDriver | None"] = None
    """The driver of the program that was started last."""

    def __init__(
        self, app: App[Any], *, debug: bool = False, mouse: bool = True, size: tuple[int, int] | None = None
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        type(self).newest = self
        self.is_starting = True
        """While it starts, the program must not look for a terminal: there is none."""
        self.written = 0
        self.has_frame = asyncio.Event()

    @property
    def is_headless(self) -> bool:
        """Whether nothing is written."""
        return self.is_starting

    def write(self, data: str) -> None:
        """Count the bytes of `data`."""
        self.written += len(data.encode())

    def flush(self) -> None:
        """End a frame."""
        self.has_frame.set()

    def start_application_mode(self) -> None:
        """Report the size of the terminal."""
        self.send_message(events.Resize(Size(*SIZE), Size(*SIZE)))

    def disable_input(self) -> None:
        """Do nothing: there is no input."""

    def stop_application_mode(self) -> None:
        """Do nothing: there is no terminal to restore."""


async def drawing_times_ms() -> list[float]:
    """Return the CPU time of each drawing of a race at `SIZE`, in milliseconds. Raises TimeoutError."""
    # Each board is drawn once, so that no drawing finds its lines in a cache.
    turns = [each for few in range(4, 24) for each in ((few, 48 - few), (48 - few, few))]
    with tempfile.TemporaryDirectory() as folder:
        app = FairestApp(AtHome(), settings_file=Path(folder) / "settings.json", crash_folder=Path(folder))
        app.driver_class = CountingDriver
        screen = RaceScreen(staged.racing().session())
        async with app.run_test(headless=False, size=SIZE) as pilot:
            driver = CountingDriver.newest
            assert driver is not None, "the program has started"
            driver.is_starting = False
            await app.push_screen(screen)
            await pilot.pause()
            return [await _draw(screen, staged.racing(each).session(), driver) for each in turns]


async def _draw(screen: RaceScreen, session: RoomSession, driver: CountingDriver) -> float:
    """Draw `session` and return the CPU time up to the end of its frame, in milliseconds."""
    driver.written = 0
    since = time.thread_time()
    screen.session = session
    screen.draw()
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while driver.written < SMALLEST_BYTES:
            driver.has_frame.clear()
            await driver.has_frame.wait()
    return (time.thread_time() - since) * 1000
