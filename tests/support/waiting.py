"""Waiting for a condition that no event announces."""

import asyncio
from collections.abc import Awaitable, Callable

PATIENCE_SECONDS = 40.0
"""How long a test waits for anything: long enough for a machine with ten times as much to do as it has cores."""
INTERVAL_SECONDS = 0.01


async def until(condition: Callable[[], Awaitable[object]], awaited: str, seconds: float = PATIENCE_SECONDS) -> None:
    """Evaluate `condition` again and again until it holds.

    A condition either returns whether it holds, or asserts it and returns nothing. Raises AssertionError after
    `seconds`, with `awaited`, the condition in words, and with the last value or failed assertion. An assertion says
    more, since pytest writes into it what was compared.
    """
    seen: object = "nothing: the condition was never evaluated to its end"
    try:
        async with asyncio.timeout(seconds):
            while True:
                try:
                    seen = await condition()
                except AssertionError as unmet:
                    seen = unmet
                else:
                    if seen is None or seen:
                        return
                await asyncio.sleep(INTERVAL_SECONDS)
    except TimeoutError as reason:
        raise AssertionError(f"waited {seconds:g} s until {awaited}; last seen: {seen!r}") from reason
