"""Bans: players and networks that may not connect, for a time or for good."""

from contextlib import suppress
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Any, Final, cast

from pydantic import ValidationError
from redis.asyncio import Redis

from fairest_protocol.messages.fields import Message, Name, PlainText, TimeMs
from fairest_server.store import keys
from fairest_server.store.redis.clock import read_clock

Network = IPv4Network | IPv6Network
SHORTEST_PREFIX: Final = 8
"""A network with a shorter prefix is refused: it would ban a large part of everybody."""
IPV6_PREFIX: Final = 64
"""Addresses of IPv6 count by their networks of 64 bits, as for all limits."""
_IPV4_IN_IPV6: Final = IPv6Network("::ffff:0:0/96")
_VERSION: Final = b"version"


class Ban(Message):
    """A ban of a player, by its id and the name that it had, or else of a network. `until_ms` of None is for good."""

    player: str | None = None
    name: Name | None = None
    network: str | None = None
    since_ms: TimeMs
    until_ms: TimeMs | None
    reason: PlainText | None

    @property
    def subject(self) -> str:
        """The name or the network that the operator has banned."""
        return self.name or self.network or ""

    @property
    def field(self) -> str:
        """The field of the hash that holds this ban."""
        return f"player:{self.player}" if self.player else f"network:{self.network}"

    def holds(self, now_ms: int) -> bool:
        """Return whether the ban is not over yet."""
        return self.until_ms is None or now_ms < self.until_ms


class BadNetwork(ValueError):
    """A text that is not a network that can be banned; the text of the error says why."""


def parse_network(text: str) -> Network:
    """Parse an address or a network; an address of IPv6 becomes its network of 64 bits. Raises `BadNetwork`.

    Addresses of IPv4 in the notation of IPv6 are those of IPv4, as the addresses of clients are.
    """
    try:
        network = ip_network(text, strict=False)
    except ValueError as reason:
        raise BadNetwork(str(reason)) from None
    if isinstance(network, IPv6Network) and network.subnet_of(_IPV4_IN_IPV6):
        plain = int(network.network_address) - int(_IPV4_IN_IPV6.network_address)
        network = IPv4Network((plain, network.prefixlen - _IPV4_IN_IPV6.prefixlen))
    if network.prefixlen > IPV6_PREFIX:  # which no network of IPv4 has
        network = network.supernet(new_prefix=IPV6_PREFIX)
    if network.prefixlen < SHORTEST_PREFIX:
        raise BadNetwork(f"{network} is too large a network to ban; name one of /{SHORTEST_PREFIX} or smaller")
    return network


class BanStore:
    """The bans of a deployment in Redis. Every method raises RedisError when Redis is away."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def read(self) -> tuple[str, list[Ban]]:
        """Return the version of the bans, and all bans, those included that are over. Others' entries are left out."""
        stored = cast("dict[bytes, bytes]", await cast("Any", self._redis.hgetall(keys.BANS)))
        version = stored.pop(_VERSION, b"").decode()
        bans = []
        for text in stored.values():
            try:
                bans.append(Ban.model_validate_json(text))
            except ValidationError:
                continue
        return version, sorted(bans, key=lambda ban: ban.since_ms)

    async def now_ms(self) -> int:
        """Return Redis' clock in ms."""
        return await read_clock(self._redis)

    async def put(self, ban: Ban) -> None:
        """Store a ban, in the place of an earlier one of the same player or network; remove those that are over."""
        _, known = await self.read()
        now_ms = await self.now_ms()
        await self._change([each.field for each in known if not each.holds(now_ms)], ban)

    async def remove(self, subject: str) -> list[Ban]:
        """Remove the bans of this name, whatever its case, or this network; return them."""
        _, known = await self.read()
        named = {subject.lower()}
        with suppress(BadNetwork):
            named.add(str(parse_network(subject)))
        found = [each for each in known if each.subject.lower() in named]
        if found:
            await self._change([each.field for each in found], None)
        return found

    async def _change(self, removed: list[str], added: Ban | None) -> None:
        pipeline = self._redis.pipeline(transaction=False)
        if removed:
            pipeline.hdel(keys.BANS, *removed)
        if added is not None:
            pipeline.hset(keys.BANS, mapping={added.field: added.model_dump_json()})
        pipeline.hincrby(keys.BANS, _VERSION.decode(), 1)
        await pipeline.execute()
