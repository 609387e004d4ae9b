"""Appends of a test's own to a log."""

import asyncio

from server.store.lane import Answer, Append
from server.store.log import Log


class Once:
    """A writer of one append; `answered` is what became of it and when, in ms on Redis' clock."""

    def __init__(self, append: Append) -> None:
        self.append = append
        self.code = append.room
        self.answered: asyncio.Future[tuple[Answer, int]] = asyncio.get_running_loop().create_future()

    def next_append(self) -> Append:
        """The one."""
        return self.append

    def replied(self, answer: Answer, now_ms: int) -> None:
        """It was made, or not."""
        self.answered.set_result((answer, now_ms))


def begin_append(log: Log, append: Append) -> asyncio.Future[tuple[Answer, int]]:
    """Send it with the next batch."""
    once = Once(append)
    log.enqueue(once)
    return once.answered


async def append_once(log: Log, append: Append) -> Answer:
    """Send it, and wait for what becomes of it."""
    answer, _ = await begin_append(log, append)
    return answer
