"""Draining the public port: no new connections, and none that is not needed for a race; then the process ends."""

import asyncio
from typing import Final

from fairest_server.edge.server import Server
from fairest_server.live.client_connections import ClientConnections
from fairest_server.live.drain import Drain
from fairest_server.live.subscribers import DropReason

CHECK_SECONDS: Final = 0.1
"""A connection whose race has ended is sent elsewhere at most this long afterwards."""
LEAVE_SECONDS: Final = 1.0
"""The time that the last connections get for their closing handshakes."""


async def drain_when_asked(drain: Drain, server: Server, connections: ClientConnections, *, is_shared: bool) -> None:
    """Wait until the drain is requested, then send clients elsewhere as their races end, and end the process.

    A port that other processes share is closed, so that the system gives them all new connections. Any other port stays
    open for the health pages, and admission turns connections away.
    """
    await drain.requested.wait()
    if is_shared:
        server.stop_listening()
    while True:
        connections.send_away_others()
        if drain.is_overdue or not connections.races():
            break
        await asyncio.sleep(CHECK_SECONDS)
    for connection in connections:
        connection.sent_away(DropReason.DRAINING)
    for _ in range(int(LEAVE_SECONDS / CHECK_SECONDS)):
        if not len(connections):
            break
        await asyncio.sleep(CHECK_SECONDS)
    drain.finish()
