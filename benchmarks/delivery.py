"""Spectators of the page's kind, some of which note when they are shown each move; and the delay of that.

A spectator and the opponent of a player may see its move at the same moment, by the same rule. So the delay of a move
is the time from its arrival at the opponent to its arrival at the spectator, by the clock of one process.
"""

import asyncio
import json
import random
import re
import time
from collections.abc import Iterable
from typing import Final

from fairest_server.load.clients import Racer, Spectator
from fairest_server.load.websocket_client import Target

CAPABILITIES: Final = ("certified",)
"""Those of the page."""
_MOVED: Final = re.compile(rb'"moved","seat":([01]),"number":([0-9]+)')

ShownAt = dict[tuple[int, int], float]
"""For the seat and the number of a move, the time at which a client was shown it."""


def note_moves(shown_at: ShownAt, payload: bytes) -> None:
    """Note the time for each move that a message shows."""
    now = time.perf_counter()
    for seat, number in _MOVED.findall(payload):
        shown_at.setdefault((int(seat), int(number)), now)


class PageSpectator(Spectator):
    """A spectator that greets as the page does, and may note when it is shown each move."""

    def __init__(
        self,
        target: Target,
        chance: random.Random,
        room: "asyncio.Future[str]",
        is_stalled: bool = False,
        is_timed: bool = False,
    ) -> None:
        super().__init__(target, chance, room, is_stalled)
        self.shown_at: ShownAt = {}
        self._is_timed = is_timed

    def on_open(self) -> None:
        """Send the hello of the page."""
        self.send(type="hello", token=None, name=None, client="fairest page", capabilities=CAPABILITIES)

    def on_text(self, payload: bytes) -> None:
        """Note the moves of a view, and count it."""
        if self._is_timed and self.is_ready.done():
            note_moves(self.shown_at, payload)
        super().on_text(payload)

    def on_refused(self, message: dict[str, object]) -> None:
        """Raise for an answer that is not the expected one."""
        raise AssertionError(json.dumps(message))


class TimedRacer(Racer):
    """A player that notes when it is shown each move of its opponent, once `is_timed` is set."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)  # type: ignore[arg-type]
        self.shown_at: ShownAt = {}
        self.is_timed = False
        self.received_bytes = 0

    def on_text(self, payload: bytes) -> None:
        """Count the bytes, and note the moves of a view."""
        self.received_bytes += len(payload)
        if self.is_timed:
            note_moves(self.shown_at, payload)
        super().on_text(payload)


def delays_ms(players: Iterable[TimedRacer], spectators: Iterable[PageSpectator]) -> list[float]:
    """Return the delays of all moves at all spectators that noted them, sorted."""
    opponents: dict[tuple[str, int], ShownAt] = {}
    for player in players:
        room = (player.other or player).room.result()
        opponents[room, 1 - player.seat] = player.shown_at
    return sorted(
        1000 * (at - opponents[spectator.room.result(), seat][seat, number])
        for spectator in spectators
        for (seat, number), at in spectator.shown_at.items()
        if (seat, number) in opponents[spectator.room.result(), seat]
    )
