"""The rivals of a house that fill up tournaments which were started and wish for some."""

import asyncio
import random
from collections.abc import Callable, Sequence
from functools import partial

from fairest_cli.bots.faults import describe_fault
from fairest_cli.bots.levels import Level
from fairest_cli.bots.thinking import ThinkingFailed
from fairest_cli.bots.tournament_bot import play_tournament
from fairest_cli.model.cheated import Cheated
from fairest_cli.session.identity import Identity
from fairest_cli.session.tournament_connection import TournamentConnection
from fairest_cli.session.websocket import Rejected
from fairest_protocol.messages.tournaments import ListedTournament


class TournamentRivals:
    """The rivals in tournaments. Each tournament is sent rivals once, as many as it wants and the house has left.

    While the house has none left, a tournament waits for them.
    """

    def __init__(self, server_url: str, new_name: Callable[[Level], str], print_line: Callable[[str], None]) -> None:
        """`new_name` returns a name that says the level."""
        self._server_url = server_url
        self._new_name = new_name
        self._print_line = print_line
        self._served: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        """The number of rivals that play in tournaments."""
        return len(self._tasks)

    def send(self, rows: Sequence[ListedTournament], level_of: Callable[[str | None], Level], most: int) -> None:
        """Send rivals into those of these tournaments that want some, `most` in all."""
        self._served &= {row.code for row in rows}
        for row in rows:
            if not row.wanted or most <= 0 or row.code in self._served:
                continue
            self._served.add(row.code)
            for _ in range(min(row.wanted, most)):
                most -= 1
                self._send_one(row.code, level_of(row.rival_level))

    async def end(self) -> None:
        """End all rivals; the next round of their tournaments goes on without them."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _send_one(self, code: str, level: Level) -> None:
        name = self._new_name(level)
        task = asyncio.create_task(self._play(code, level, name))
        self._tasks.add(task)
        task.add_done_callback(partial(self._drop, code, name))

    def _drop(self, code: str, name: str, task: asyncio.Task[None]) -> None:
        """Count a rival that has ended no more. A fault is printed, and costs no other rival its place."""
        self._tasks.discard(task)
        fault = None if task.cancelled() else task.exception()
        if fault is not None:
            self._print_line(f"{name} ended by a fault in the tournament {code}: {describe_fault(fault)}")

    async def _play(self, code: str, level: Level, name: str) -> None:
        connection = TournamentConnection(self._server_url, Identity(), name)
        self._print_line(f"{name} enters the tournament {code}.")
        try:
            shown = await play_tournament(connection, code, level, random.Random())
            self._print_line(f"{name} is done with the tournament {code}: {shown.phase}.")
        except (Rejected, Cheated, ThinkingFailed) as reason:
            self._print_line(f"{name} is gone from the tournament {code}: {reason}")
        finally:
            await connection.close()
