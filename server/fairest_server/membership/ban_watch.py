"""Keeps the bans of this process up to date, and closes the connections that a new ban is about."""

from collections.abc import Callable, Coroutine
from typing import Any

import structlog
from redis.exceptions import RedisError

from fairest_server.live.room_server import RoomServer
from fairest_server.ops.events import Event
from fairest_server.ops.faults import contained
from fairest_server.ops.metrics import Part
from fairest_server.store.bans import BanStore

_LOG = structlog.get_logger(__name__)


class BanWatch:
    """Reads the bans again whenever a heartbeat says that they have another version."""

    def __init__(self, store: BanStore, rooms: RoomServer) -> None:
        self._store = store
        self._rooms = rooms
        self._version = ""
        self._is_reading = False

    async def read(self) -> None:
        """Read the bans, and close the connections of banned players and addresses. Raises RedisError."""
        version, bans = await self._store.read()
        self._rooms.bans.replace(bans)
        self._version = version
        for connection in self._rooms.connections:
            player = connection.player
            ban = self._rooms.bans.of_player(player.player_id) if player is not None else None
            ban = ban or self._rooms.bans.of_address(connection.address)
            if ban is not None:
                _LOG.info(Event.BAN_ENFORCED, link=connection.connection_id, subject=ban.subject)
                connection.banned(ban)

    def on_version(self, version: str, spawn: Callable[[Coroutine[Any, Any, None]], object]) -> None:
        """Read the bans in a task if this is another version; if that fails, the next heartbeat tries again."""
        if version == self._version or self._is_reading:
            return
        work = self._read()
        try:
            spawn(work)
        except RuntimeError:
            # This process stops.
            work.close()
        else:
            self._is_reading = True

    async def _read(self) -> None:
        try:
            with contained(Part.CONTROL):
                await self.read()
        except (RedisError, OSError) as reason:
            _LOG.warning(Event.BANS_NOT_READ, reason=str(reason))
        finally:
            self._is_reading = False
