"""The sockets of a process, counted from the moment they are accepted, before a byte is read or TLS begins.

Admission counts connections by the addresses of their clients, which it knows once it has read a request. Until then a
socket has only its peer: without this count, handshakes that are begun and never ended would not be counted at all.
"""

import time
from collections import Counter
from collections.abc import Callable
from typing import Final

from fairest_server.edge.address_limits import AddressBuckets
from fairest_server.edge.addresses import is_trusted, network_of
from fairest_server.settings import Settings

SPARE: Final = 16
"""Sockets above the limit of connections that an address may have: their requests are refused in words."""
SPARE_IN_ALL: Final = 256
"""Likewise for all addresses together, and for balancers that ask for a page of a full server."""
ARRIVAL_SECONDS: Final = 2.0
"""The time in which an address may have new sockets twice as many as it may have at once."""


def arrival_buckets(settings: Settings, monotonic: Callable[[], float]) -> AddressBuckets:
    """Return the limit of new sockets of an address: twice as many as it may have, in ARRIVAL_SECONDS."""
    return AddressBuckets(2 * settings.connections_per_address + SPARE, monotonic, ARRIVAL_SECONDS)


class SocketCounts:
    """The accepted sockets, by the network of their peers and in total. A trusted proxy has no limit of its own."""

    def __init__(self, settings: Settings, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._settings = settings
        self._open: Counter[str] = Counter()
        self.total = 0
        self._arrivals = arrival_buckets(settings, monotonic)

    def try_add(self, peer: str) -> bool:
        """Count one more socket of `peer`, unless a limit is reached. Each that was counted must be removed once."""
        network = network_of(peer)
        is_proxy = is_trusted(peer, self._settings.proxy_networks)
        if self.total >= self._settings.max_connections + SPARE_IN_ALL:
            return False
        if not is_proxy:
            if self._open[network] >= self._settings.connections_per_address + SPARE:
                return False
            if not self._arrivals.try_take(network):
                return False
        self._open[network] += 1
        self.total += 1
        return True

    def remove(self, peer: str) -> None:
        """Count one socket less."""
        network = network_of(peer)
        self.total -= 1
        self._open[network] -= 1
        if not self._open[network]:
            del self._open[network]
