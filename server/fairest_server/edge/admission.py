"""Who may come in: looked at before the WebSocket opens, so that who may not costs next to nothing."""

import re
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from http import HTTPStatus
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Final
from urllib.parse import urlsplit

import structlog
from websockets.asyncio.server import ServerConnection
from websockets.http11 import Request

from fairest_server.edge.rate_limit import TokenBucket
from fairest_server.ops import metrics
from fairest_server.settings import Settings

_SECONDS_OF_NEW_PLAYERS = 3_600
_BUCKETS_LOOKED_AT = 1_000
ADDRESSES_KNOWN: Final = 1_000
"""So many are not taken apart again: who comes is counted, let in, and perhaps back soon."""
_LOG = structlog.get_logger(__name__)


class ConnectionRefused(Exception):
    """A request that may not become a connection; the text says why, to its sender."""

    def __init__(self, status: HTTPStatus, reason: str, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status
        self.reason = reason


_WITH_PORT: Final = re.compile(r"([0-9.]+):[0-9]+|\[([^]]*)\](?::[0-9]+)?")


class Admission:
    """The limits of one process on who is connected. Addresses of IPv6 count by their network of 64 bits."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._open: Counter[str] = Counter()
        self._count = 0
        """All that `_open` counts, which may be thousands of addresses: too many to go through for each who comes."""
        self._new_players: dict[str, TokenBucket] = {}

    def check(self, connection: ServerConnection, request: Request) -> None:
        """Raise `ConnectionRefused` if this request may not become a connection."""
        address = self._address(connection, request)
        try:
            self._check(address, request)
        except ConnectionRefused as reason:
            metrics.TURNED_AWAY.labels(reason.reason).inc()
            _LOG.info("turned away", address=address, sentence=str(reason))
            raise

    def _check(self, address: str, request: Request) -> None:
        origin = request.headers.get("Origin")
        if origin is not None and not self._is_ours(origin, request.headers.get("Host", "")):
            raise ConnectionRefused(
                HTTPStatus.FORBIDDEN, "origin", f"Pages of {origin[:100]!a} may not connect here (--origins)."
            )
        if self._count >= self._settings.max_connections:
            raise ConnectionRefused(HTTPStatus.SERVICE_UNAVAILABLE, "full", "This server is full; try again later.")
        if self._open[address] >= self._settings.connections_per_address:
            raise ConnectionRefused(
                HTTPStatus.TOO_MANY_REQUESTS, "address", "Too many connections from your address; close one of them."
            )

    @contextmanager
    def counted_connection(self, connection: ServerConnection) -> Iterator[str]:
        """Count a connection for as long as the context lasts; yields the address that it comes from."""
        assert connection.request is not None, "the handshake is over"
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
        """Whether one more new player may come from this address; counted if so."""
        now = time.monotonic()
        if address not in self._new_players:
            self._forget_old(now)
            burst = self._settings.players_per_address
            self._new_players[address] = TokenBucket(burst / _SECONDS_OF_NEW_PLAYERS, burst, now)
        return self._new_players[address].try_take(now)

    def _forget_old(self, now: float) -> None:
        """Who came from here long ago does not stay in memory."""
        if len(self._new_players) % _BUCKETS_LOOKED_AT == 0:
            self._new_players = {
                address: bucket for address, bucket in self._new_players.items() if not bucket.is_full(now)
            }

    def _is_ours(self, origin: str, rooms: str) -> bool:
        """Pages of this server itself, and of those that the operator named."""
        try:
            return urlsplit(origin).netloc.lower() == rooms.lower() or origin in self._settings.origin_list
        except ValueError:
            # Brackets that are no address of IPv6.
            return False

    def _address(self, connection: ServerConnection, request: Request) -> str:
        """Where this comes from: behind proxies that we trust, what the first of them saw."""
        address = str(connection.remote_address[0])
        forwarded = ",".join(request.headers.get_all("X-Forwarded-For")).split(",")
        while forwarded and self._is_trusted(address):
            address = forwarded.pop().strip() or address
        return _network(address)

    def _is_trusted(self, address: str) -> bool:
        networks = self._settings.proxy_networks
        parsed = _parse(address) if networks else None
        return parsed is not None and any(parsed in network for network in networks)


@lru_cache(ADDRESSES_KNOWN)
def _parse(address: str) -> IPv4Address | IPv6Address | None:
    """An address; of IPv4 also where it is written as one of IPv6. Some proxies write its port as well."""
    with_port = _WITH_PORT.fullmatch(address)
    try:
        parsed = ip_address(with_port[1] or with_port[2] if with_port else address)
    except ValueError:
        return None
    return (parsed.ipv4_mapped or parsed) if isinstance(parsed, IPv6Address) else parsed


@lru_cache(ADDRESSES_KNOWN)
def _network(address: str) -> str:
    parsed = _parse(address)
    if parsed is None:
        # A word of a proxy's, which goes to the log.
        return ascii(address[:64])
    return str(IPv6Network((parsed, 64), strict=False)) if isinstance(parsed, IPv6Address) else str(parsed)
