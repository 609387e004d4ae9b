"""The bans in memory: of players, of addresses and networks, and until when they hold."""

import pytest

from fairest_server.live.bans import Bans
from fairest_server.store.bans import Ban
from tests.support.isolated_room import SteadyClock

PLAYER = "p" * 64


def ban(player: str | None = None, network: str | None = None, seconds: int | None = None) -> Ban:
    """Return a ban for this time by the clock of these tests, or for good."""
    now_ms = SteadyClock().now_ms()
    return Ban(
        player=player,
        network=network,
        since_ms=now_ms,
        until_ms=None if seconds is None else now_ms + seconds * 1000,
        reason=None,
    )


@pytest.fixture
def bans() -> Bans:
    return Bans(SteadyClock())


def test_a_banned_player_is_found_and_no_other(bans: Bans) -> None:
    banned = ban(player=PLAYER)
    bans.replace([banned])
    assert (bans.of_player(PLAYER), bans.of_player("q" * 64)) == (banned, None)


@pytest.mark.parametrize("address", ["203.0.113.7", "203.0.113.255", "203.0.113.0/24"])
def test_an_address_in_a_banned_network_is_found(bans: Bans, address: str) -> None:
    banned = ban(network="203.0.113.0/24")
    bans.replace([ban(player=PLAYER), banned])
    assert bans.of_address(address) == banned


@pytest.mark.parametrize("address", ["203.0.114.7", "2001:db8::1", "not an address"])
def test_an_address_outside_of_the_banned_networks_is_not_found(bans: Bans, address: str) -> None:
    bans.replace([ban(network="203.0.113.0/24"), ban(network="198.51.100.0/24")])
    assert bans.of_address(address) is None


def test_a_ban_holds_until_its_end(bans: Bans) -> None:
    running = ban(player=PLAYER, seconds=1)
    bans.replace([running, ban(player="q" * 64, seconds=0)])
    assert (bans.of_player(PLAYER), bans.of_player("q" * 64)) == (running, None)


def test_a_ban_of_a_network_holds_until_its_end(bans: Bans) -> None:
    running = ban(network="203.0.113.0/24", seconds=1)
    bans.replace([ban(network="203.0.113.7", seconds=0), running])
    assert bans.of_address("203.0.113.7") == running


def test_a_network_that_this_version_cannot_read_leaves_the_others(bans: Bans) -> None:
    banned = ban(network="203.0.113.0/24")
    bans.replace([ban(network="10.0.0.0/1"), ban(network="nonsense"), banned])
    assert bans.of_address("203.0.113.7") == banned


def test_bans_that_are_replaced_hold_no_longer(bans: Bans) -> None:
    bans.replace([ban(player=PLAYER), ban(network="203.0.113.0/24")])
    bans.replace([])
    assert (bans.of_player(PLAYER), bans.of_address("203.0.113.7")) == (None, None)
