"""A real Chromium without a window, and the page of a Fairest server in it."""

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

from playwright.async_api import ConsoleMessage, Page, async_playwright

PROGRAM: Final = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
"""The browser on the PATH, or None: then the tests of the page in a browser are skipped."""
# As root in a container there is no sandbox; the others keep it from calling its maker.
OPTIONS: Final = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update")
PATIENCE_MS: Final = 40_000
WATCH_VIOLATIONS: Final = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) => violations.push(event.violatedDirective));
"""


class Browser:
    """A browser whose pages are watched: `faults` are errors of scripts, of the console and of the security policy."""

    def __init__(self, context: Any) -> None:
        self._context = context
        self.faults: list[str] = []

    async def open(self, url: str, path: str = "/") -> Page:
        """Open a path of the server whose WebSocket has this URL."""
        page: Page = await self.blank()
        await page.goto(url.replace("ws", "http", 1).rstrip("/") + path)
        return page

    async def blank(self) -> Page:
        """Return a new page that is watched."""
        page: Page = await self._context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("console", self._note)
        await page.add_init_script(WATCH_VIOLATIONS)
        return page

    async def check(self, page: Page) -> None:
        """Raise AssertionError if a script of the page failed, or the page asked for what its policy forbids."""
        assert self.faults == []
        assert await page.evaluate("violations") == []

    def _note(self, message: ConsoleMessage) -> None:
        # A server that is away is no fault of the page; the browser writes that into the console by itself.
        if message.type == "error" and "ERR_CONNECTION" not in message.text:
            self.faults.append(message.text)


@asynccontextmanager
async def open_browser(**options: Any) -> AsyncIterator[Browser]:
    """Start a browser with these options of Playwright's `new_context`, such as `has_touch`."""
    async with async_playwright() as playwright:
        chromium = await playwright.chromium.launch(executable_path=PROGRAM, args=list(OPTIONS))
        try:
            yield Browser(await chromium.new_context(**options))
        finally:
            await chromium.close()
