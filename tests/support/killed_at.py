"""A server process that kills itself by SIGKILL at one point of the finish of a match.

Run it by `python -m tests.support.killed_at`, with the name of a point, `before` or `after`, and then the words of
`fairest-server`. A point is a call that Redis answers: `before` kills the process when it is about to send the command,
`after` when the reply has come.
"""

import os
import signal
import sys
from collections.abc import Awaitable, Callable
from typing import Any, Final

from fairest_server.commands.main import main
from fairest_server.store.matches import MatchList
from fairest_server.store.ratings import RatingStore
from fairest_server.store.records import RecordStore

POINTS: Final[dict[str, tuple[type, str]]] = {
    "store the record": (RecordStore, "keep_lines"),
    "list the match": (MatchList, "add"),
    "let the match be rated": (RatingStore, "add_waiting"),
    "read the tallies": (RatingStore, "read_before"),
    "rate the match": (RatingStore, "keep"),
    "end the wait": (RatingStore, "remove"),
}
"""In the order in which a finish passes them; the log is told between the third and the fourth, at any moment."""


def deadly(call: Callable[..., Awaitable[Any]], moment: str) -> Callable[..., Awaitable[Any]]:
    """Return `call` with the end of this process before it or behind it."""

    async def called(*arguments: Any) -> Any:
        if moment == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        reply = await call(*arguments)
        os.kill(os.getpid(), signal.SIGKILL)
        return reply

    return called


if __name__ == "__main__":
    of, name = POINTS[sys.argv[1]]
    setattr(of, name, deadly(getattr(of, name), sys.argv[2]))
    sys.argv[1:3] = []
    main()
