"""Players: each has a token that only its client knows, and a name that no other player uses at the moment."""

import hashlib
import secrets
from collections.abc import Callable
from typing import Any, Final, cast

from redis.asyncio import Redis

from fairest_protocol.value import Value, replace
from fairest_server.store import keys
from fairest_server.store.redis.scripts import Script

RENAMED: Final = "renamed:"
"""Stands before a player's id under a name that the operator has taken from it, so that nobody can claim the name."""
GIVEN_UP: Final = "given_up:"
"""Stands before a player's id under a name that it has changed for another one: the name is free, and `find` finds the
player by it for NAME_SECONDS, so that nobody escapes a ban by a new name.
"""


class Player(Value):
    """A player. Its id is the hash of its first token; tokens are stored in no other form.

    `token_hash` is that of the token with which a client has said hello, and `capabilities` are those of this client;
    they belong to one connection.
    """

    player_id: str
    name: str
    token_hash: str = ""
    capabilities: tuple[str, ...] = ()


class UnknownToken(Exception):
    """No player of this deployment has this token."""


class TokenTaken(Exception):
    """Another player has this token, so it was not drawn at random."""


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
        player_id = hash_token(token)
        if name is None:
            name = await self._claim_any(player_id)
        else:
            await self._claim(name, player_id)
        await self._store(player_id, name, keys.NEW_PLAYER_SECONDS)
        return Player(player_id, name, player_id), token

    async def recognise(self, token: str, name: str | None, may_rename: Callable[[], bool] = _allow) -> Player:
        """Return the player with this token, and rename it to `name` if one is given.

        `may_rename` is asked before another name is taken. Raises `UnknownToken`; `NameTaken` when another player uses
        the name, and `TooManyNames`: the player then keeps its old one.
        """
        token_hash = hash_token(token)
        player_id, known = await self._find_by_token(token_hash)
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
        return Player(player_id, name or known, token_hash)

    async def renew(self, player: Player, token: str) -> Player:
        """Let this player be known by `token` alone from now on, and no more by the one that it said hello with.

        Safe to call again after any failure. Raises `UnknownToken` if the player has taken another token since its
        hello, and `TokenTaken`.
        """
        token_hash = hash_token(token)
        current = await self._token_of(player.player_id)
        if current == token_hash:
            return replace(player, token_hash=token_hash)
        if current != player.token_hash:
            raise UnknownToken
        holder = await self._holder(token_hash)
        if holder not in (None, player.player_id):
            raise TokenTaken
        # First the way from the new token to the player, which leads nowhere until the player has that token.
        pipeline = self._redis.pipeline(transaction=False)
        pipeline.hset(keys.player(token_hash), "player", player.player_id)
        pipeline.expire(keys.player(token_hash), keys.PLAYER_SECONDS)
        await pipeline.execute()
        await cast("Any", self._redis.hset(keys.player(player.player_id), "token", token_hash))
        if current != player.player_id:
            await self._redis.delete(keys.player(current))
        return replace(player, token_hash=token_hash)

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

    async def _find_by_token(self, token_hash: str) -> tuple[str, str]:
        """Return the id and the name of the player with this token, and keep it for longer. Raises `UnknownToken`."""
        name, current, holder = await self._read(token_hash)
        player_id = holder.decode() if holder is not None else token_hash
        if holder is not None:
            name, current, _ = await self._read(player_id)
        if name is None or (current.decode() if current is not None else player_id) != token_hash:
            raise UnknownToken
        return player_id, name.decode()

    async def _read(self, token_hash: str) -> list[bytes | None]:
        """Return a player's name and token, or else the player that has taken this token; keep it for longer.

        It is one key, so on a Cluster no node but that of the key has to be there.
        """
        pipeline = self._redis.pipeline(transaction=False)
        pipeline.hmget(keys.player(token_hash), "name", "token", "player")
        pipeline.expire(keys.player(token_hash), keys.PLAYER_SECONDS)
        found, _ = cast("tuple[list[bytes | None], bool]", await pipeline.execute())
        return found

    async def _token_of(self, player_id: str) -> str:
        """Return the hash of the token that a player has now."""
        current = cast("bytes | None", await cast("Any", self._redis.hget(keys.player(player_id), "token")))
        return current.decode() if current is not None else player_id

    async def _holder(self, token_hash: str) -> str | None:
        """Return the player that has, or had, or is about to take, the token of this hash."""
        name, _, holder = await self._read(token_hash)
        return holder.decode() if holder is not None else None if name is None else token_hash

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


def hash_token(token: str) -> str:
    """Return the hash that stands for a token wherever one is stored."""
    return hashlib.sha256(token.encode()).hexdigest()
