"""Addresses of clients: how they are read, under which network they are counted, and which of them are our proxies."""

import re
from collections.abc import Iterable
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final

CACHED_ADDRESSES: Final = 1_000
"""Number of addresses whose parsed form is cached: each is needed several times for a connection, and again when its
client reconnects.
"""
_WITH_PORT: Final = re.compile(r"([0-9.]+):[0-9]+|\[([^]]*)\](?::[0-9]+)?")


@lru_cache(CACHED_ADDRESSES)
def parse_address(address: str) -> IPv4Address | IPv6Address | None:
    """Parse an address; one of IPv4 in IPv6 notation counts as IPv4, and a port that some proxies add is cut off."""
    with_port = _WITH_PORT.fullmatch(address)
    try:
        parsed = ip_address(with_port[1] or with_port[2] if with_port else address)
    except ValueError:
        return None
    return (parsed.ipv4_mapped or parsed) if isinstance(parsed, IPv6Address) else parsed


@lru_cache(CACHED_ADDRESSES)
def network_of(address: str) -> str:
    """Return the name under which an address is counted: itself, or for IPv6 its network of 64 bits."""
    parsed = parse_address(address)
    if parsed is None:
        # Text of a proxy, which goes to the log: made printable and cut short.
        return ascii(address[:64])
    return str(IPv6Network((parsed, 64), strict=False)) if isinstance(parsed, IPv6Address) else str(parsed)


def is_trusted(address: str, proxies: Iterable[IPv4Network | IPv6Network]) -> bool:
    """Return whether an address is one of our proxies."""
    if not proxies:
        return False
    parsed = parse_address(address)
    return parsed is not None and any(parsed in network for network in proxies)
