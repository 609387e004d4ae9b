"""Players: each has a token that only its client knows, and a name that no other player uses at the moment."""

import hashlib
import secrets
from collections.abc import Callable
from typing import cast

from redis.asyncio import Redis

from fairest_protocol.value import Value
from fairest_server.store import keys
from fairest_server.store.redis.scripts import Script


class Player(Value):
    """A player. Its id is the hash of its token, which is the only form in which the token is stored."""

    player_id: str
    name: str


class UnknownToken(Exception):
    """No player of this deployment has this token."""


class NameTaken(Exception):
    """Another player uses this name at the moment."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the name {name} is taken")
        self.name = name


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

    async def recognise(self, token: str, name: str | None) -> Player:
        """Return the player with this token, and rename it to `name` if one is given.

        Raises `UnknownToken`, and `NameTaken` when another player uses the name; the player then keeps its old one.
        """
        player_id = _hash(token)
        pipeline = self._redis.pipeline(transaction=False)
        pipeline.hget(keys.player(player_id), "name")
        pipeline.expire(keys.player(player_id), keys.PLAYER_SECONDS)
        stored, _ = cast("tuple[bytes | None, bool]", await pipeline.execute())
        if stored is None:
            raise UnknownToken
        known = stored.decode()
        await self._claim(name or known, player_id)
        if name and name != known:
            if name.lower() != known.lower():
                await self._release_name.run(self._redis, [keys.name(known)], [player_id])
            await self._store(player_id, name, keys.PLAYER_SECONDS)
        return Player(player_id, name or known)

    async def may_open_room(self, player_id: str, most: int) -> bool:
        """Count a room that the player wants to open; return whether it has opened at most `most` in OPENED_SECONDS."""
        pipeline = self._redis.pipeline(transaction=False)
        pipeline.set(keys.opened(player_id), 0, nx=True, ex=keys.OPENED_SECONDS)
        pipeline.incr(keys.opened(player_id))
        _, count = await pipeline.execute()
        return cast("int", count) <= most

    async def _claim_any(self, player_id: str) -> str:
        while True:
            name = self._draw_name()
            try:
                await self._claim(name, player_id)
            except NameTaken:
                continue
            return name

    async def _claim(self, name: str, player_id: str) -> None:
        if not await self._claim_name.run(self._redis, [keys.name(name)], [player_id, keys.NAME_SECONDS]):
            raise NameTaken(name)

    async def _store(self, player_id: str, name: str, seconds: int) -> None:
        pipeline = self._redis.pipeline(transaction=False)
        pipeline.hset(keys.player(player_id), mapping={"name": name})
        pipeline.expire(keys.player(player_id), seconds)
        await pipeline.execute()


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
