"""Admission control: a request is checked before it is a connection or a page, so that a refused one costs next to
nothing.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus

from websockets.http11 import Request

from fairest_protocol.messages.refusals import Breach
from fairest_server.edge.addresses import is_trusted, network_of
from fairest_server.edge.close_errors import describe_ban
from fairest_server.edge.origins import AllowedOrigins
from fairest_server.edge.refusal_log import RefusalLog
from fairest_server.edge.request_refused import RequestRefused
from fairest_server.edge.socket_counts import arrival_buckets
from fairest_server.live.bans import Bans
from fairest_server.live.drain import Drain
from fairest_server.ops import metrics
from fairest_server.ops.metrics import TurnedAway
from fairest_server.settings import Settings


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
        """Raise `RequestRefused` if this request from the socket of `peer` may not become a connection."""
        address = self.address_of(peer, request)
        with self._logged(address):
            self._check_origin(request)
            self._check_address(address, is_forwarded=address != network_of(peer))

    def check_page(self, peer: str, request: Request) -> str | None:
        """Return the origin whose scripts may read the page that is requested, or None if no site is to be named.

        Raises `RequestRefused` if the request does not say clearly what it is for, or names a host that is not ours.
        """
        with self._logged(self.address_of(peer, request)):
            origin, host = _origin_and_host(request)
            is_allowed = origin is not None and (origin, host) in self._origins
            if not is_allowed and self._origins.is_foreign_host(host):
                sentence = f"This server is not {host[:100]!a} (--own-hosts)."
                raise RequestRefused(HTTPStatus.FORBIDDEN, TurnedAway.ORIGIN, sentence)
            return origin if is_allowed else None

    def count_refusal(self, address: str, refused: RequestRefused) -> None:
        """Count and log the refusal of a request from this address."""
        self._refusals.add(refused.reason, address, refused.sentence)

    @contextmanager
    def _logged(self, address: str) -> Iterator[None]:
        try:
            yield
        except RequestRefused as refused:
            self.count_refusal(address, refused)
            raise

    def _check_origin(self, request: Request) -> None:
        """Raise `RequestRefused` for a page that may not connect.

        It is checked first. Another site would learn by its visitors' browsers whom this server has banned, and why.
        """
        origin, host = _origin_and_host(request)
        if origin is not None and (origin, host) not in self._origins:
            sentence = f"Pages of {origin[:100]!a} may not connect here (--own-hosts, --origins)."
            raise RequestRefused(HTTPStatus.FORBIDDEN, TurnedAway.ORIGIN, sentence, Breach.OTHER_SITE)

    def _check_address(self, address: str, *, is_forwarded: bool) -> None:
        ban = self._bans.of_address(address)
        if ban is not None:
            raise RequestRefused(HTTPStatus.FORBIDDEN, TurnedAway.BANNED, describe_ban(ban), Breach.BANNED)
        if self._drain.is_draining:
            sentence = "This process is about to end; connect to another one."
            raise RequestRefused(HTTPStatus.SERVICE_UNAVAILABLE, TurnedAway.DRAINING, sentence, Breach.RESTARTING)
        if self._count >= self._settings.max_connections:
            sentence = "This server is full; try again later."
            raise RequestRefused(HTTPStatus.SERVICE_UNAVAILABLE, TurnedAway.FULL, sentence, Breach.SERVER_FULL)
        if self._open[address] >= self._settings.connections_per_address:
            raise _too_many("Too many connections from your address; close one of them.")
        # The sockets of other clients were counted when they were accepted.
        if is_forwarded and not self._forwarded.try_take(address):
            raise _too_many("Too many new connections from your address in a short time; wait a little.")

    @contextmanager
    def counted_connection(self, peer: str, request: Request) -> Iterator[str]:
        """Count a connection for as long as the context lasts; yields the address that it is counted under."""
        address = self.address_of(peer, request)
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

    def address_of(self, peer: str, request: Request) -> str:
        """Return the address that the request is counted under: the peer's, or the client's behind trusted proxies.

        `X-Forwarded-For` is read from its right end, where the nearest proxy wrote, up to the first address that is
        not trusted. If all are trusted, the leftmost one counts.
        """
        address, proxies = peer, self._settings.proxy_networks
        forwarded = ",".join(request.headers.get_all("X-Forwarded-For")).split(",")
        while forwarded and is_trusted(address, proxies):
            address = forwarded.pop().strip() or address
        return network_of(address)

    def origin_of(self, peer: str, request: Request) -> str:
        """Return the scheme and the host under which the client knows this server, such as `https://play.example`.

        The scheme is ours, or the one that a trusted proxy has written into `X-Forwarded-Proto`.
        """
        scheme = "https" if self._settings.tls_cert else "http"
        if is_trusted(peer, self._settings.proxy_networks) and request.headers.get_all("X-Forwarded-Proto") == [
            "https"
        ]:
            scheme = "https"
        _, host = _origin_and_host(request)
        return f"{scheme}://{host}"


def _origin_and_host(request: Request) -> tuple[str | None, str]:
    """Return the headers `Origin`, None without one, and `Host`. Raises `RequestRefused` if one of them is there twice.

    A proxy and this server might then take different ones.
    """
    origins, hosts = request.headers.get_all("Origin"), request.headers.get_all("Host")
    for name, values in (("Origin", origins), ("Host", hosts)):
        if len(values) > 1:
            sentence = f"A request has one {name} header, not {len(values)}."
            raise RequestRefused(HTTPStatus.BAD_REQUEST, TurnedAway.HEADERS, sentence)
    return origins[0] if origins else None, "".join(hosts)


def _too_many(sentence: str) -> RequestRefused:
    return RequestRefused(HTTPStatus.TOO_MANY_REQUESTS, TurnedAway.ADDRESS, sentence, Breach.TOO_MANY_CONNECTIONS)
