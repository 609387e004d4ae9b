"""A real Firefox without a window, driven by WebDriver BiDi, the protocol that it speaks by itself.

Playwright drives a Firefox of its own only, and not Debian's.
"""

import asyncio
import itertools
import json
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from websockets.asyncio.client import ClientConnection, connect

from tests.support.browser import WATCH_VIOLATIONS
from tests.support.waiting import until

PROGRAM: Final = shutil.which("firefox-esr") or shutil.which("firefox")
"""The browser on the PATH, or None: then the tests in it are skipped."""
LISTENING: Final = "WebDriver BiDi listening on "
PATIENCE_SECONDS: Final = 40.0
KEYS: Final = {"Enter": "\ue007", "Shift": "\ue008", "Home": "\ue011"}


class Firefox:
    """One tab of a Firefox; `faults` are the errors in its console."""

    def __init__(self, socket: ClientConnection) -> None:
        self.faults: list[str] = []
        self._socket = socket
        self._numbers = itertools.count(1)
        self._context = ""

    async def start(self) -> None:
        """Take the first tab, and watch its console and its security policy."""
        await self._ask("session.new", capabilities={})
        tree = await self._ask("browsingContext.getTree")
        self._context = tree["contexts"][0]["context"]
        await self._ask("session.subscribe", events=["log.entryAdded"])
        await self._ask("script.addPreloadScript", functionDeclaration=f"() => {{ {WATCH_VIOLATIONS} }}")

    async def open(self, url: str, path: str = "/") -> None:
        """Open a path of the server whose WebSocket has this URL."""
        address = url.replace("ws", "http", 1).rstrip("/") + path
        await self._ask("browsingContext.navigate", context=self._context, url=address, wait="complete")

    async def evaluate(self, expression: str) -> Any:
        """Return the value of an expression of JavaScript in the page."""
        asked = await self._ask(
            "script.evaluate",
            expression=f"JSON.stringify({expression})",
            target={"context": self._context},
            awaitPromise=False,
        )
        assert asked["type"] == "success", asked
        return json.loads(asked["result"].get("value", "null"))

    async def wait_for(self, expression: str) -> None:
        """Wait until an expression is true; raise AssertionError with the text of the page if it never is."""

        async def is_true() -> bool:
            return bool(await self.evaluate(f"Boolean({expression})"))

        try:
            await until(is_true, expression)
        except AssertionError as reason:
            text = await self.evaluate("document.body.innerText")
            raise AssertionError(f"waited in vain for {expression}; the page shows:\n{text}") from reason

    async def press(self, key: str) -> None:
        """Press and release a key, such as `a` or `Enter`."""
        value = KEYS.get(key, key)
        actions = [{"type": kind, "value": value} for kind in ("keyDown", "keyUp")]
        await self._act({"type": "key", "id": "keyboard", "actions": actions})

    async def click(self, selector: str) -> None:
        """Click the middle of the first element that a selector finds, as a mouse does."""
        await self.evaluate(f"document.querySelector({selector!r}).scrollIntoView({{ block: 'center' }}) ?? null")
        middle = await self.evaluate(
            f"(({{ x, y, width, height }}) => [x + width / 2, y + height / 2].map(Math.round))"
            f"(document.querySelector({selector!r}).getBoundingClientRect())"
        )
        moves = [{"type": "pointerMove", "x": middle[0], "y": middle[1]}]
        buttons = [{"type": kind, "button": 0} for kind in ("pointerDown", "pointerUp")]
        await self._act({"type": "pointer", "id": "mouse", "actions": [*moves, *buttons]})

    async def type(self, selector: str, text: str) -> None:
        """Click a field and type a text into it."""
        await self.click(selector)
        for letter in text:
            await self.press(letter)

    async def wait_for_text(self, text: str) -> None:
        """Wait until the page shows a text."""
        await self.wait_for(f"document.body.innerText.includes({text!r})")

    async def check(self) -> None:
        """Raise AssertionError if a script of the page failed, or the page asked for what its policy forbids."""
        assert await self.evaluate("violations") == []
        assert self.faults == []

    async def close(self) -> None:
        """End the browser."""
        await self._ask("browser.close")

    async def _act(self, actions: dict[str, Any]) -> None:
        await self._ask("input.performActions", context=self._context, actions=[actions])

    async def _ask(self, method: str, **params: Any) -> Any:
        number = next(self._numbers)
        await self._socket.send(json.dumps({"id": number, "method": method, "params": params}))
        async with asyncio.timeout(PATIENCE_SECONDS):
            while True:
                message = json.loads(await self._socket.recv())
                if message.get("method") == "log.entryAdded" and message["params"]["level"] == "error":
                    self.faults.append(str(message["params"]["text"]))
                if message.get("id") == number:
                    assert message["type"] == "success", message
                    return message["result"]


def found(selector: str) -> str:
    """Return the expression for the first element that a selector finds."""
    return f"document.querySelector({selector!r})"


@asynccontextmanager
async def open_firefox(folder: Path) -> AsyncIterator[Firefox]:
    """Start a Firefox whose profile is in this folder, which is empty."""
    assert PROGRAM is not None, "there is a Firefox on the PATH"
    options = ("--headless", "--no-remote", "--profile", str(folder), "--remote-debugging-port", "0")
    process = await asyncio.create_subprocess_exec(
        PROGRAM, *options, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE
    )
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            url = await _listening_at(process)
        draining = asyncio.create_task(_drain(process))
        async with connect(f"{url}/session", max_size=None) as socket:
            firefox = Firefox(socket)
            await firefox.start()
            try:
                yield firefox
            finally:
                await firefox.close()
        async with asyncio.timeout(PATIENCE_SECONDS):
            await process.wait()
        await draining
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def _listening_at(process: asyncio.subprocess.Process) -> str:
    """Return the URL that the browser names on standard error."""
    assert process.stderr is not None, "it is a pipe"
    async for line in process.stderr:
        if LISTENING.encode() in line:
            return line.decode().split()[-1]
    raise AssertionError("Firefox ended before it listened")


async def _drain(process: asyncio.subprocess.Process) -> None:
    assert process.stderr is not None, "it is a pipe"
    async for _ in process.stderr:
        pass
