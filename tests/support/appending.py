"""Appends of a test's own to a log."""

import asyncio

from fairest_server.store.appends import Answer, Append, Reply
from fairest_server.store.keys import of_room
from fairest_server.store.log import Log


class Once:
    """A writer of one append. `answered` gets the reply to it."""

    def __init__(self, append: Append) -> None:
        self.append = append
        self.code = append.room
        self.keys = of_room(append.room)
        self.answered: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()

    def build_append(self) -> Append:
        """Return the append."""
        return self.append

    def on_append_result(self, reply: Reply) -> None:
        """Pass the reply on to `answered`."""
        self.answered.set_result(reply)


def begin_append(log: Log, append: Append) -> asyncio.Future[Reply]:
    """Enqueue `append`; return the future of its reply."""
    once = Once(append)
    log.enqueue(once)
    return once.answered


async def append_once(log: Log, append: Append) -> Answer:
    """Send `append`, wait for the reply, and return its answer."""
    return (await begin_append(log, append)).answer
