"""The checks of what a player types about a server: its address, and the player's name there. Pure."""

import re
from urllib.parse import urlsplit

from fairest_cli.model.known_room import DEFAULT_SERVER


def server_problem(url: str) -> str:
    """Return why a text is not the address of a server, or nothing."""
    try:
        address = urlsplit(url)
        # `port` raises ValueError for a port out of range, the codec for a name that DNS cannot hold.
        is_address = address.scheme in ("ws", "wss") and bool(address.hostname) and address.port != 0
        (address.hostname or "").encode("idna")
    except ValueError:
        is_address = False
    return "" if is_address else f"a server's address looks like {DEFAULT_SERVER}, not {url!r}"


def name_problem(name: str) -> str:
    """Return why a text cannot be a player's name, or nothing."""
    is_name = re.fullmatch(r"[A-Za-z0-9_-]{2,20}", name) is not None
    return "" if is_name else "a name has 2 to 20 letters, digits, - or _"
