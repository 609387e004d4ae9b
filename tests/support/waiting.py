"""Waiting for a condition that no event announces."""

import asyncio
from collections.abc import Awaitable, Callable

PATIENCE_SECONDS = 20.0
INTERVAL_SECONDS = 0.01


async def until(condition: Callable[[], Awaitable[object]], awaited: str, seconds: float = PATIENCE_SECONDS) -> None:
    """Evaluate `condition` again and again until it returns something true.

    A condition that does not hold yet returns something false or fails an assertion. Raises AssertionError after
    `seconds`, with `awaited`, the condition in words, and with what the condition returned or asserted last, so a
    condition that returns what it has read, or asserts about it, explains itself.
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
                    if seen:
                        return
                await asyncio.sleep(INTERVAL_SECONDS)
    except TimeoutError as reason:
        raise AssertionError(f"waited {seconds:g} s until {awaited}; last seen: {seen!r}") from reason
