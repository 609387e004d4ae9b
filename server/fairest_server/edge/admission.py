"""Admission control: a request is checked before its WebSocket opens, so that a refused one costs next to nothing."""

import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from http import HTTPStatus
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Final
from urllib.parse import urlsplit

import structlog
from websockets.asyncio.server import ServerConnection
from websockets.http11 import Request

from fairest_server.edge.close_errors import describe_ban
from fairest_server.edge.rate_limit import TokenBucket
from fairest_server.live.bans import Bans
from fairest_server.live.drain import Drain
from fairest_server.ops import metrics
from fairest_server.ops.events import Event
from fairest_server.ops.metrics import TurnedAway
from fairest_server.settings import Settings

_ENROLLMENT_SECONDS: Final = 3_600
"""An address may have `players_per_address` new players in this time."""
BUCKETS_PER_SWEEP: Final = 1_000
"""Full buckets of new players are dropped whenever this many more addresses are known."""
CACHED_ADDRESSES: Final = 1_000
"""Number of addresses whose parsed form is cached: each is needed twice for a connection, and again when its client
reconnects.
"""
_LOG = structlog.get_logger(__name__)


class ConnectionRefused(Exception):
    """A request that may not become a connection. The text tells the client why; `reason` is the metric's label."""

    def __init__(self, status: HTTPStatus, reason: metrics.TurnedAway, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status
        self.reason = reason


_WITH_PORT: Final = re.compile(r"([0-9.]+):[0-9]+|\[([^]]*)\](?::[0-9]+)?")


class Admission:
    """The limits of one process on connections and new players. An IPv6 address counts as its network of 64 bits."""

    def __init__(
        self, settings: Settings, drain: Drain, bans: Bans, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._settings = settings
        self._drain = drain
        self._bans = bans
        self._monotonic = monotonic
        self._open: Counter[str] = Counter()
        self._count = 0
        """The sum of `_open`, which may hold thousands of addresses: too many to add up for each request."""
        self._new_players: dict[str, TokenBucket] = {}

    def check(self, connection: ServerConnection, request: Request) -> None:
        """Raise `ConnectionRefused` if this request may not become a connection."""
        address = self._address(connection, request)
        try:
            self._check(address, request)
        except ConnectionRefused as reason:
            metrics.TURNED_AWAY.labels(reason.reason).inc()
            _LOG.info(Event.TURNED_AWAY, address=address, reason=str(reason))
            raise

    def _check(self, address: str, request: Request) -> None:
        ban = self._bans.of_address(address)
        if ban is not None:
            raise ConnectionRefused(HTTPStatus.FORBIDDEN, TurnedAway.BANNED, describe_ban(ban))
        origin = request.headers.get("Origin")
        if origin is not None and not self._is_allowed(origin, request.headers.get("Host", "")):
            raise ConnectionRefused(
                HTTPStatus.FORBIDDEN,
                TurnedAway.ORIGIN,
                f"Pages of {origin[:100]!a} may not connect here (--origins).",
            )
        if self._drain.is_draining:
            sentence = "This process is about to end; connect to another one."
            raise ConnectionRefused(HTTPStatus.SERVICE_UNAVAILABLE, TurnedAway.DRAINING, sentence)
        if self._count >= self._settings.max_connections:
            raise ConnectionRefused(
                HTTPStatus.SERVICE_UNAVAILABLE, TurnedAway.FULL, "This server is full; try again later."
            )
        if self._open[address] >= self._settings.connections_per_address:
            raise ConnectionRefused(
                HTTPStatus.TOO_MANY_REQUESTS,
                TurnedAway.ADDRESS,
                "Too many connections from your address; close one of them.",
            )

    @contextmanager
    def counted_connection(self, connection: ServerConnection) -> Iterator[str]:
        """Count a connection for as long as the context lasts; yields the address that it is counted under."""
        assert connection.request is not None, "the opening handshake is over"
        address = self._address(connection, connection.request)
        self._open[address] += 1
        self._count += 1
        metrics.CONNECTIONS.inc()
        try:
            yield address
        finally:
            metrics.CONNECTIONS.dec()
            self._open[address] -= 1
            self._count -= 1
            if not self._open[address]:
                del self._open[address]

    def may_enroll(self, address: str) -> bool:
        """Count one more new player from `address`; return False, and count nothing, if its limit is reached."""
        now = self._monotonic()
        if address not in self._new_players:
            self._drop_full_buckets(now)
            burst = self._settings.players_per_address
            self._new_players[address] = TokenBucket(burst / _ENROLLMENT_SECONDS, burst, now)
        return self._new_players[address].try_take(now)

    def _drop_full_buckets(self, now: float) -> None:
        """Forget addresses whose buckets are full again: a new bucket would be the same."""
        if len(self._new_players) % BUCKETS_PER_SWEEP == 0:
            self._new_players = {
                address: bucket for address, bucket in self._new_players.items() if not bucket.is_full(now)
            }

    def _is_allowed(self, origin: str, host: str) -> bool:
        """Return whether `origin` is this server's own `host`, or one of the origins that the operator named."""
        try:
            return urlsplit(origin).netloc.lower() == host.lower() or origin in self._settings.origin_list
        except ValueError:
            # Brackets that do not hold an IPv6 address.
            return False

    def _address(self, connection: ServerConnection, request: Request) -> str:
        """Return the address that the request is counted under: the peer's, or the client's behind trusted proxies.

        `X-Forwarded-For` is read from its right end, where the nearest proxy wrote, up to the first address that is
        not trusted. If all are trusted, the leftmost one counts.
        """
        address = str(connection.remote_address[0])
        forwarded = ",".join(request.headers.get_all("X-Forwarded-For")).split(",")
        while forwarded and self._is_trusted(address):
            address = forwarded.pop().strip() or address
        return _network(address)

    def _is_trusted(self, address: str) -> bool:
        networks = self._settings.proxy_networks
        parsed = _parse(address) if networks else None
        return parsed is not None and any(parsed in network for network in networks)


@lru_cache(CACHED_ADDRESSES)
def _parse(address: str) -> IPv4Address | IPv6Address | None:
    """Parse an address; one of IPv4 in IPv6 notation counts as IPv4, and a port that some proxies add is cut off."""
    with_port = _WITH_PORT.fullmatch(address)
    try:
        parsed = ip_address(with_port[1] or with_port[2] if with_port else address)
    except ValueError:
        return None
    return (parsed.ipv4_mapped or parsed) if isinstance(parsed, IPv6Address) else parsed


@lru_cache(CACHED_ADDRESSES)
def _network(address: str) -> str:
    parsed = _parse(address)
    if parsed is None:
        # Text of a proxy, which goes to the log: made printable and cut short.
        return ascii(address[:64])
    return str(IPv6Network((parsed, 64), strict=False)) if isinstance(parsed, IPv6Address) else str(parsed)
