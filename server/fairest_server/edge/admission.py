"""Admission control: a request is checked before its WebSocket opens, so that a refused one costs next to nothing."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus

from websockets.http11 import Request

from fairest_server.edge.addresses import is_trusted, network_of
from fairest_server.edge.close_errors import describe_ban
from fairest_server.edge.origins import AllowedOrigins
from fairest_server.edge.refusal_log import RefusalLog
from fairest_server.edge.socket_counts import arrival_buckets
from fairest_server.live.bans import Bans
from fairest_server.live.drain import Drain
from fairest_server.ops import metrics
from fairest_server.ops.metrics import TurnedAway
from fairest_server.settings import Settings


class ConnectionRefused(Exception):
    """A request that may not become a connection. The text tells the client why; `reason` is the metric's label."""

    def __init__(self, status: HTTPStatus, reason: metrics.TurnedAway, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status
        self.reason = reason


class Admission:
    """The limits of one process on connections. An IPv6 address counts as its network of 64 bits."""

    def __init__(
        self,
        settings: Settings,
        drain: Drain,
        bans: Bans,
        refusals: RefusalLog,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._drain = drain
        self._bans = bans
        self._refusals = refusals
        self._open: Counter[str] = Counter()
        self._count = 0
        """The sum of `_open`, which may hold thousands of addresses: too many to add up for each request."""
        self._origins = AllowedOrigins(settings)
        self._forwarded = arrival_buckets(settings, monotonic)

    def check(self, peer: str, request: Request) -> None:
        """Raise `ConnectionRefused` if this request from the socket of `peer` may not become a connection."""
        address = self._address(peer, request)
        try:
            self._check(address, request, is_forwarded=address != network_of(peer))
        except ConnectionRefused as reason:
            self._refusals.add(reason.reason, address, str(reason))
            raise

    def _check(self, address: str, request: Request, *, is_forwarded: bool) -> None:
        ban = self._bans.of_address(address)
        if ban is not None:
            raise ConnectionRefused(HTTPStatus.FORBIDDEN, TurnedAway.BANNED, describe_ban(ban))
        origins, hosts = request.headers.get_all("Origin"), request.headers.get_all("Host")
        for name, values in (("Origin", origins), ("Host", hosts)):
            if len(values) > 1:
                sentence = f"A request has one {name} header, not {len(values)}."
                raise ConnectionRefused(HTTPStatus.BAD_REQUEST, TurnedAway.HEADERS, sentence)
        if origins and (origins[0], "".join(hosts)) not in self._origins:
            sentence = f"Pages of {origins[0][:100]!a} may not connect here (--own-hosts, --origins)."
            raise ConnectionRefused(HTTPStatus.FORBIDDEN, TurnedAway.ORIGIN, sentence)
        if self._drain.is_draining:
            sentence = "This process is about to end; connect to another one."
            raise ConnectionRefused(HTTPStatus.SERVICE_UNAVAILABLE, TurnedAway.DRAINING, sentence)
        if self._count >= self._settings.max_connections:
            raise ConnectionRefused(
                HTTPStatus.SERVICE_UNAVAILABLE, TurnedAway.FULL, "This server is full; try again later."
            )
        if self._open[address] >= self._settings.connections_per_address:
            sentence = "Too many connections from your address; close one of them."
            raise ConnectionRefused(HTTPStatus.TOO_MANY_REQUESTS, TurnedAway.ADDRESS, sentence)
        # The sockets of other clients were counted when they were accepted.
        if is_forwarded and not self._forwarded.try_take(address):
            sentence = "Too many new connections from your address in a short time; wait a little."
            raise ConnectionRefused(HTTPStatus.TOO_MANY_REQUESTS, TurnedAway.ADDRESS, sentence)

    @contextmanager
    def counted_connection(self, peer: str, request: Request) -> Iterator[str]:
        """Count a connection for as long as the context lasts; yields the address that it is counted under."""
        address = self._address(peer, request)
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

    def _address(self, peer: str, request: Request) -> str:
        """Return the address that the request is counted under: the peer's, or the client's behind trusted proxies.

        `X-Forwarded-For` is read from its right end, where the nearest proxy wrote, up to the first address that is
        not trusted. If all are trusted, the leftmost one counts.
        """
        address, proxies = peer, self._settings.proxy_networks
        forwarded = ",".join(request.headers.get_all("X-Forwarded-For")).split(",")
        while forwarded and is_trusted(address, proxies):
            address = forwarded.pop().strip() or address
        return network_of(address)
