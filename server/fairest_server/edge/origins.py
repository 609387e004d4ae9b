"""The sites whose pages may connect: this server's own hosts, and the origins that the operator named.

A browser says in `Origin` which page a script belongs to. That `Origin` and `Host` are equal proves nothing: a page of
evil.example may have the name lead to this server (DNS rebinding), and then both headers name evil.example. An address
in the place of a name is looked up nowhere, so it cannot be made to lead elsewhere.
"""

from ipaddress import ip_address
from urllib.parse import urlsplit

from fairest_server.settings import Settings


class AllowedOrigins:
    """The origins that may connect to a server with these settings, and the hosts under which it shows its pages."""

    def __init__(self, settings: Settings) -> None:
        self._named = settings.origin_list
        self._are_hosts_named = bool(settings.own_host_list)
        self._own_hosts = settings.own_host_list | {"localhost", settings.host.lower()}

    def __contains__(self, pair: tuple[str, str]) -> bool:
        """Return whether a page of the origin may connect, given the pair of the headers `Origin` and `Host`."""
        origin, host = pair
        if origin in self._named:
            return True
        try:
            parts = urlsplit(origin)
            return parts.netloc.lower() == host.lower() and self._is_own(parts.hostname or "")
        except ValueError:
            # Brackets that do not hold an IPv6 address.
            return False

    def is_foreign_host(self, host: str) -> bool:
        """Return whether the header `Host` names another server, as after DNS rebinding.

        The names of this server are known only if the operator gave them; without them no host is foreign.
        """
        if not self._are_hosts_named:
            return False
        try:
            parts = urlsplit(f"//{host}")
            is_plain = parts.netloc == host and "@" not in host
            return not (is_plain and self._is_own(parts.hostname or ""))
        except ValueError:
            return True

    def _is_own(self, host: str) -> bool:
        if host in self._own_hosts or host.endswith(".localhost"):
            return True
        try:
            ip_address(host)
        except ValueError:
            return False
        return True
