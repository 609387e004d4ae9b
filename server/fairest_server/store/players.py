"""Who a player is: a token that only its client knows, and a name that nobody else uses at the moment."""

import hashlib
import secrets
from collections.abc import Callable
from typing import cast

from redis.asyncio import Redis

from fairest_protocol.value import Value
from fairest_server.store import keys
from fairest_server.store.redis.scripts import Script


class Player(Value):
    """A player by the hash of its token, which is the only form in which the token is ever stored."""

    player_id: str
    name: str


class UnknownToken(Exception):
    """No player has this token: it was made up, or belongs to another server."""


class NameTaken(Exception):
    """Another player uses this name at the moment."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the name {name} is taken")
        self.name = name


def draw_guest_name() -> str:
    """A name for a player who said none."""
    return f"guest-{secrets.token_hex(3)}"


class Players:
    """The players that this deployment knows. Every method raises RedisError when Redis is away."""

    def __init__(self, redis: Redis, draw_name: Callable[[], str] = draw_guest_name) -> None:
        """`draw_name` is asked for a name for who has none, again when that one is taken."""
        self._redis = redis
        self._draw_name = draw_name
        self._claims = Script("claim_name.lua")
        self._disown = Script("release_name.lua")

    async def enroll(self, name: str | None) -> tuple[Player, str]:
        """A new player and its token, which is told once and not kept. Raises `NameTaken`."""
        token = secrets.token_urlsafe(32)
        player_id = _hash(token)
        if name is None:
            name = await self._claim_any(player_id)
        else:
            await self._claim(name, player_id)
        await self._store(player_id, name, keys.NEW_PLAYER_SECONDS)
        return Player(player_id, name), token

    async def recognise(self, token: str, name: str | None) -> Player:
        """The player with this token, from now on under this name if one is given.

        Raises `UnknownToken`, and `NameTaken` when the name is another player's; then the old one stays.
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
                await self._disown.run(self._redis, [keys.name(known)], [player_id])
            await self._store(player_id, name, keys.PLAYER_SECONDS)
        return Player(player_id, name or known)

    async def may_open_room(self, player_id: str, most: int) -> bool:
        """Count a room that this player wants to open; whether it may, with so many in OPENED_SECONDS at most."""
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
        if not await self._claims.run(self._redis, [keys.name(name)], [player_id, keys.NAME_SECONDS]):
            raise NameTaken(name)

    async def _store(self, player_id: str, name: str, seconds: int) -> None:
        pipeline = self._redis.pipeline(transaction=False)
        pipeline.hset(keys.player(player_id), mapping={"name": name})
        pipeline.expire(keys.player(player_id), seconds)
        await pipeline.execute()


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
