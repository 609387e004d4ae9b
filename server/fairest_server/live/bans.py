"""The bans as this process knows them, in memory: each new connection and each hello is compared with them."""

from collections.abc import Iterable

from fairest_server.live.redis_clock import RedisClock
from fairest_server.store.bans import BadNetwork, Ban, Network, parse_network


class Bans:
    """The bans that were read last. Those that are over count no more, by Redis' clock."""

    def __init__(self, clock: RedisClock) -> None:
        self._clock = clock
        self._players: dict[str, Ban] = {}
        self._networks: list[tuple[Network, Ban]] = []

    def replace(self, bans: Iterable[Ban]) -> None:
        """Take these bans in the place of all earlier ones."""
        self._players, self._networks = {}, []
        for ban in bans:
            if ban.player is not None:
                self._players[ban.player] = ban
            elif ban.network is not None:
                try:
                    self._networks.append((parse_network(ban.network), ban))
                except BadNetwork:
                    continue

    def of_player(self, player_id: str) -> Ban | None:
        """Return the ban of a player, if there is one."""
        ban = self._players.get(player_id)
        return ban if ban is not None and ban.holds(self._clock.now_ms()) else None

    def of_address(self, address: str) -> Ban | None:
        """Return the ban of an address, in the form under which connections are counted, if there is one."""
        if not self._networks:
            return None
        try:
            own = parse_network(address)
        except BadNetwork:
            return None
        now_ms = self._clock.now_ms()
        return next((ban for network, ban in self._networks if _contains(network, own) and ban.holds(now_ms)), None)


def _contains(network: Network, own: Network) -> bool:
    return network.version == own.version and network.supernet_of(own)  # type: ignore[arg-type]  # of one version
