"""Which pages may connect: those of our own hosts, however the name led here, and those that the operator named."""

import pytest

from fairest_server.edge.origins import AllowedOrigins
from fairest_server.settings import Settings


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        ("http://localhost:8765", "localhost:8765"),
        ("http://play.localhost:8765", "play.localhost:8765"),
        ("http://127.0.0.1:8765", "127.0.0.1:8765"),
        ("http://[::1]:8765", "[::1]:8765"),
        ("http://192.168.1.5:8765", "192.168.1.5:8765"),
        ("https://LOCALHOST", "localhost"),
    ],
)
def test_a_page_of_this_machine_or_of_an_address_may_connect_by_default(origin: str, host: str) -> None:
    assert (origin, host) in AllowedOrigins(Settings())


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        ("http://evil.example:8765", "evil.example:8765"),
        ("http://localhost.evil.example:8765", "localhost.evil.example:8765"),
        ("http://localhost:8000", "localhost:8765"),
        ("http://evil.example", "localhost:8765"),
        ("http://localhost@evil.example", "localhost@evil.example"),
        ("http://127.0.0.1.evil.example", "127.0.0.1.evil.example"),
        ("http://[", "["),
        ("null", ""),
        ("", ""),
    ],
)
def test_a_page_of_a_name_that_is_not_ours_may_not_connect_although_it_is_the_host(origin: str, host: str) -> None:
    assert (origin, host) not in AllowedOrigins(Settings())


def test_a_page_of_a_name_that_the_operator_gave_may_connect() -> None:
    allowed = AllowedOrigins(Settings(own_hosts="play.example, Fairest.example"))
    assert ("https://fairest.example", "fairest.example") in allowed


def test_a_page_of_our_name_on_another_port_may_not_connect() -> None:
    assert ("https://play.example:99", "play.example") not in AllowedOrigins(Settings(own_hosts="play.example"))


def test_a_page_of_the_name_that_the_server_listens_on_may_connect() -> None:
    assert ("http://games.lan:8765", "games.lan:8765") in AllowedOrigins(Settings(host="Games.lan"))


def test_a_named_origin_may_connect_whatever_the_host_is() -> None:
    assert ("https://friend.example", "play.example") in AllowedOrigins(Settings(origins="https://friend.example"))


@pytest.mark.parametrize("host", ["play.example:8765", "localhost", "127.0.0.1:8765", "[::1]:8765"])
def test_a_host_of_ours_is_not_foreign(host: str) -> None:
    assert not AllowedOrigins(Settings(own_hosts="play.example")).is_foreign_host(host)


@pytest.mark.parametrize("host", ["evil.example:8765", "play.example.evil.example", "a@play.example", "[", ""])
def test_a_host_that_is_not_ours_is_foreign_once_ours_are_named(host: str) -> None:
    assert AllowedOrigins(Settings(own_hosts="play.example")).is_foreign_host(host)


def test_no_host_is_foreign_while_ours_are_not_named() -> None:
    assert not AllowedOrigins(Settings(origins="https://friend.example")).is_foreign_host("evil.example")
