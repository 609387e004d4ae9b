"""The rivals of a house that fill up tournaments which were started and wish for some."""

import asyncio
import random
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from fairest_cli.bots.faults import describe_fault
from fairest_cli.bots.levels import Level
from fairest_cli.bots.thinking import ThinkingFailed
from fairest_cli.bots.tournament_bot import play_tournament
from fairest_cli.model.cheated import Cheated
from fairest_cli.session.identity import Identity
from fairest_cli.session.tournament_connection import TournamentConnection
from fairest_cli.session.websocket import Rejected
from fairest_protocol.messages.tournaments import ListedTournament

AGAIN_SECONDS: Final = 5.0
"""Time after which a tournament is sent rivals again. The list may be older than the entry of those that were sent, and
a tournament that refuses rivals refuses the next ones too. A tournament is being filled for 15 seconds.
"""


class TournamentRivals:
    """The rivals in tournaments. Each is sent as many as it wants beyond those on their way, if the house has them.

    So a rival that ends before it was let in is replaced, and a tournament waits while the house has none left.
    """

    def __init__(
        self,
        server_url: str,
        new_name: Callable[[Level], str],
        print_line: Callable[[str], None],
        clock: Callable[[], float],
    ) -> None:
        """`new_name` returns a name that says the level, `clock` seconds."""
        self._server_url = server_url
        self._new_name = new_name
        self._print_line = print_line
        self._clock = clock
        self._served_until: dict[str, float] = {}
        """By its code, until when a tournament that was sent rivals is sent no others."""
        self._tasks: dict[asyncio.Task[None], tuple[str, TournamentConnection]] = {}

    def __len__(self) -> int:
        """The number of rivals that play in tournaments."""
        return len(self._tasks)

    def send(self, rows: Sequence[ListedTournament], level_of: Callable[[str | None], Level], most: int) -> None:
        """Send rivals into those of these tournaments that want some, `most` in all."""
        now = self._clock()
        self._served_until = {code: until for code, until in self._served_until.items() if until > now}
        for row in rows:
            count = min(row.wanted - self._count_on_way(row.code), most)
            if count <= 0 or row.code in self._served_until:
                continue
            self._served_until[row.code] = now + AGAIN_SECONDS
            most -= count
            for _ in range(count):
                self._send_one(row.code, level_of(row.rival_level))

    async def end(self) -> None:
        """End all rivals; the next round of their tournaments goes on without them."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _count_on_way(self, code: str) -> int:
        """Return how many rivals were sent into a tournament and have not been let in yet."""
        return sum(code == to and connection.known is None for to, connection in self._tasks.values())

    def _send_one(self, code: str, level: Level) -> None:
        name = self._new_name(level)
        connection = TournamentConnection(self._server_url, Identity(), name)
        task = asyncio.create_task(self._play(connection, code, level, name))
        self._tasks[task] = code, connection
        task.add_done_callback(partial(self._drop, code, name))

    def _drop(self, code: str, name: str, task: asyncio.Task[None]) -> None:
        """Count a rival that has ended no more. A fault is printed, and costs no other rival its place."""
        del self._tasks[task]
        fault = None if task.cancelled() else task.exception()
        if fault is not None:
            self._print_line(f"{name} ended by a fault in the tournament {code}: {describe_fault(fault)}")

    async def _play(self, connection: TournamentConnection, code: str, level: Level, name: str) -> None:
        self._print_line(f"{name} enters the tournament {code}.")
        try:
            shown = await play_tournament(connection, code, level, random.Random())
            self._print_line(f"{name} is done with the tournament {code}: {shown.phase}.")
        except (Rejected, Cheated, ThinkingFailed) as reason:
            self._print_line(f"{name} is gone from the tournament {code}: {reason}")
        finally:
            await connection.close()
