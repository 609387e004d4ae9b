"""A real Chromium without a window, and the page of a Fairest server in it."""

import asyncio
import logging
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

from playwright.async_api import ConsoleMessage, Error, Page, async_playwright

from tests.support.waiting import until

LOG: Final = logging.getLogger(__name__)
PROGRAM: Final = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
"""The browser on the PATH, or None: then the tests of the page in a browser are skipped."""
# As root in a container there is no sandbox; the others keep it from calling its maker.
OPTIONS: Final = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update")
PATIENCE_MS: Final = 40_000
ANSWER_SECONDS: Final = 5
WATCH_VIOLATIONS: Final = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) => violations.push(event.violatedDirective));
"""


class Browser:
    """A browser whose pages are watched: `faults` are errors of scripts, of the console and of the security policy."""

    def __init__(self, context: Any) -> None:
        self._context = context
        self.faults: list[str] = []

    async def texts(self) -> list[str]:
        """Return what each open page shows now, or why it does not tell."""
        return [await _text(page) for page in self._context.pages]

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


async def get_ready(page: Page) -> None:
    """Press Enter when the page offers it, until our player is ready or races.

    A key that is pressed just as the connection drops is lost, and the page offers it again.
    """

    async def is_ready() -> bool:
        if await page.query_selector("button.main >> text=Ready"):
            await page.keyboard.press("Enter")
        return bool(await page.query_selector("text=You are ready") or await page.query_selector("button.slot.stock"))

    await until(is_ready, "the player of the page is ready")


async def _text(page: Page) -> str:
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            return f"{page.url} shows:\n{await page.evaluate('document.body.innerText')}"
    except (Error, TimeoutError) as fault:
        return f"{page.url} does not tell what it shows: {fault!r}"


@asynccontextmanager
async def open_browser(**options: Any) -> AsyncIterator[Browser]:
    """Start a browser with these options of Playwright's `new_context`, such as `has_touch`."""
    async with async_playwright() as playwright:
        chromium = await playwright.chromium.launch(executable_path=PROGRAM, args=list(OPTIONS))
        browser = Browser(await chromium.new_context(**options))
        try:
            yield browser
        finally:
            # Pytest shows this below a test that failed.
            for text in await browser.texts():
                LOG.warning(text)
            await chromium.close()
