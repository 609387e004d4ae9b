"""Players: each has a token that only its client knows, and a name that no other player uses at the moment."""

import hashlib
import secrets
from collections.abc import Callable
from typing import Any, Final, cast

from redis.asyncio import Redis

from fairest_protocol.value import Value
from fairest_server.store import keys
from fairest_server.store.redis.scripts import Script

RENAMED: Final = "renamed:"
"""Stands before a player's id under a name that the operator has taken from it, so that nobody can claim the name."""
GIVEN_UP: Final = "given_up:"
"""Stands before a player's id under a name that it has changed for another one: the name is free, and `find` finds the
player by it for NAME_SECONDS, so that nobody escapes a ban by a new name.
"""


class Player(Value):
    """A player. Its id is the hash of its token, which is the only form in which the token is stored.

    `capabilities` are those of its client on one connection; they are not stored.
    """

    player_id: str
    name: str
    capabilities: tuple[str, ...] = ()


class UnknownToken(Exception):
    """No player of this deployment has this token."""


class NameTaken(Exception):
    """Another player uses this name at the moment."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the name {name} is taken")
        self.name = name


class TooManyNames(Exception):
    """A player may not take another name now."""


def _allow() -> bool:
    return True


def draw_guest_name() -> str:
    """Return a random name for a player that gave none."""
    return f"guest-{secrets.token_hex(3)}"


class Players:
    """The players of this deployment. Every method raises RedisError when Redis is away."""

    def __init__(self, redis: Redis, draw_name: Callable[[], str] = draw_guest_name) -> None:
        """`draw_name` returns a name for a player that gave none; it is called again when the name is taken."""
        self._redis = redis
        self._draw_name = draw_name
        self._claim_name = Script("claim_name.lua")
        self._release_name = Script("release_name.lua")

    async def enroll(self, name: str | None) -> tuple[Player, str]:
        """Create a player and return it with its token, which is not stored. Raises `NameTaken`."""
        token = secrets.token_urlsafe(32)
        player_id = _hash(token)
        if name is None:
            name = await self._claim_any(player_id)
        else:
            await self._claim(name, player_id)
        await self._store(player_id, name, keys.NEW_PLAYER_SECONDS)
        return Player(player_id, name), token

    async def recognise(self, token: str, name: str | None, may_rename: Callable[[], bool] = _allow) -> Player:
        """Return the player with this token, and rename it to `name` if one is given.

        `may_rename` is asked before another name is taken. Raises `UnknownToken`; `NameTaken` when another player uses
        the name, and `TooManyNames`: the player then keeps its old one.
        """
        player_id = _hash(token)
        pipeline = self._redis.pipeline(transaction=False)
        pipeline.hget(keys.player(player_id), "name")
        pipeline.expire(keys.player(player_id), keys.PLAYER_SECONDS)
        stored, _ = cast("tuple[bytes | None, bool]", await pipeline.execute())
        if stored is None:
            raise UnknownToken
        known = stored.decode()
        if name and name.lower() != known.lower():
            if await self._is_taken_from(name, player_id):
                name = None
            elif not may_rename():
                raise TooManyNames
        await self._claim(name or known, player_id)
        if name and name != known:
            if name.lower() != known.lower():
                await self._release_name.run(self._redis, [keys.name(known)], [player_id, keys.NAME_SECONDS, GIVEN_UP])
            await self._store(player_id, name, keys.PLAYER_SECONDS)
        return Player(player_id, name or known)

    async def find(self, name: str) -> str | None:
        """Return the id of the player that used this name last, whatever its case; None for a name long unused."""
        holder = cast("bytes | None", await self._redis.get(keys.name(name)))
        return holder.decode().removeprefix(RENAMED).removeprefix(GIVEN_UP) if holder is not None else None

    async def rename(self, name: str, new_name: str) -> bool:
        """Give the player that uses `name` another name, and keep `name` from everybody for RENAMED_SECONDS.

        Return False if nobody uses `name`. Raises `NameTaken` if another player uses `new_name`; then nothing changes.
        Safe to call again.
        """
        player_id = await self.find(name)
        stored = await self._name_of(player_id) if player_id is not None else None
        if player_id is None or stored not in (name.lower(), new_name.lower()):
            return False
        await self._claim(new_name, player_id)
        await self._store(player_id, new_name, keys.PLAYER_SECONDS)
        if name.lower() != new_name.lower():
            await self._redis.set(keys.name(name), RENAMED + player_id, ex=keys.RENAMED_SECONDS)
        return True

    async def _name_of(self, player_id: str) -> str | None:
        """Return the name of a player, in lower case; None for a player that is not known any more."""
        stored = cast("bytes | None", await cast("Any", self._redis.hget(keys.player(player_id), "name")))
        return stored.decode().lower() if stored is not None else None

    async def _is_taken_from(self, name: str, player_id: str) -> bool:
        """Return whether the operator has taken this name from this player, whose client may still ask for it."""
        return bool(await self._redis.get(keys.name(name)) == (RENAMED + player_id).encode())

    async def _claim_any(self, player_id: str) -> str:
        while True:
            name = self._draw_name()
            try:
                await self._claim(name, player_id)
            except NameTaken:
                continue
            return name

    async def _claim(self, name: str, player_id: str) -> None:
        if not await self._claim_name.run(self._redis, [keys.name(name)], [player_id, keys.NAME_SECONDS, GIVEN_UP]):
            raise NameTaken(name)

    async def _store(self, player_id: str, name: str, seconds: int) -> None:
        pipeline = self._redis.pipeline(transaction=False)
        pipeline.hset(keys.player(player_id), mapping={"name": name})
        pipeline.expire(keys.player(player_id), seconds)
        await pipeline.execute()


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
