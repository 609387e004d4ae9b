"""Pages that scripts of other sites may read: which sites, under which hosts, and how a browser asks first (CORS)."""

import pytest
from prometheus_client import REGISTRY

from tests.support.limited import Limited
from tests.support.raw_http import ask

FRIEND = "https://friend.example"
NO_MATCH = "0" * 32
SHARED = {"/key": 200, "/durability": 200, "/lobby": 200, "/rounds": 200, f"/records/{NO_MATCH}": 404}
"""The shared pages, each with the status of its answer on a new server."""
FOREIGN_HOSTS = [
    "evil.example",
    "evil.example:8765",
    "play.example.evil.example",
    "evil.example@play.example",
    "play.example/evil.example",
    "play.example.",
    "[",
    "",
    None,
]


@pytest.mark.parametrize("path", SHARED)
async def test_scripts_of_a_named_site_may_read_a_shared_page(limited: Limited, path: str) -> None:
    async with limited(origins=FRIEND) as url:
        answer = await ask(url, path, f"Origin: {FRIEND}")
    assert (answer.status, answer.allowed_origin, answer.headers["Vary"]) == (SHARED[path], FRIEND, "Origin")


async def test_scripts_of_our_own_page_may_read_a_shared_page_under_another_scheme(limited: Limited) -> None:
    async with limited(own_hosts="play.example") as url:
        answer = await ask(url, "/lobby", "Origin: https://play.example", host="play.example")
    assert answer.allowed_origin == "https://play.example"


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "", "http://friend.example", "http://[", "*"])
async def test_scripts_of_other_sites_may_not_read_a_shared_page(limited: Limited, origin: str) -> None:
    async with limited(origins=FRIEND) as url:
        answer = await ask(url, "/lobby", f"Origin: {origin}")
    assert (answer.status, answer.allowed_origin, answer.headers["Vary"]) == (200, None, "Origin")


async def test_a_page_whose_origin_is_its_foreign_host_is_named_to_no_browser(limited: Limited) -> None:
    """A page of a name that leads here has both headers alike."""
    async with limited() as url:
        answer = await ask(url, "/lobby", "Origin: http://evil.example", host="evil.example")
    assert answer.allowed_origin is None


async def test_no_page_allows_credentials(limited: Limited) -> None:
    async with limited(origins=FRIEND) as url:
        for method in ("GET", "OPTIONS"):
            answer = await ask(url, "/lobby", f"Origin: {FRIEND}", method=method)
            assert answer.headers["Access-Control-Allow-Credentials"] is None


@pytest.mark.parametrize("path", ["/livez", "/readyz"])
async def test_a_page_for_balancers_is_read_by_no_other_site(limited: Limited, path: str) -> None:
    async with limited(origins=FRIEND) as url:
        answer = await ask(url, path, f"Origin: {FRIEND}")
    assert (answer.status, answer.allowed_origin) == (200, None)


@pytest.mark.parametrize("name", ["Origin", "Host"])
async def test_two_headers_of_a_name_are_refused(limited: Limited, name: str) -> None:
    async with limited(origins=FRIEND) as url:
        answer = await ask(url, "/lobby", f"{name}: {FRIEND}", f"{name}: {FRIEND}", host=None)
    assert (answer.status, answer.allowed_origin) == (400, None)


@pytest.mark.parametrize("path", SHARED)
async def test_a_browser_that_asks_first_is_told_the_methods(limited: Limited, path: str) -> None:
    async with limited(origins=FRIEND) as url:
        asked = (f"Origin: {FRIEND}", "Access-Control-Request-Method: GET")
        answer = await ask(url, path, *asked, method="OPTIONS")
    assert (answer.status, answer.allowed_origin, answer.body) == (204, FRIEND, b"")
    assert answer.headers["Access-Control-Allow-Methods"] == "GET, HEAD, OPTIONS"


async def test_a_browser_of_another_site_that_asks_first_is_allowed_nothing(limited: Limited) -> None:
    async with limited(origins=FRIEND) as url:
        answer = await ask(url, "/lobby", "Origin: https://evil.example", method="OPTIONS")
    assert (answer.status, answer.allowed_origin) == (204, None)


@pytest.mark.parametrize("path", ["/nothing", "/records", "/lobby/"])
async def test_a_browser_that_asks_first_for_an_unknown_path_is_refused(limited: Limited, path: str) -> None:
    async with limited(origins=FRIEND) as url:
        answer = await ask(url, path, f"Origin: {FRIEND}", method="OPTIONS")
    assert (answer.status, answer.headers["Allow"]) == (405, "GET")


async def test_a_page_has_no_other_methods(limited: Limited) -> None:
    async with limited(origins=FRIEND) as url:
        answer = await ask(url, "/lobby", f"Origin: {FRIEND}", method="DELETE")
    assert (answer.status, answer.headers["Allow"]) == (405, "GET, HEAD, OPTIONS")


@pytest.mark.parametrize("path", ["/lobby", "/livez"])
async def test_the_head_of_a_page_comes_without_its_body(limited: Limited, path: str) -> None:
    async with limited() as url:
        page, head = await ask(url, path), await ask(url, path, method="HEAD")
    assert (head.status, head.body) == (200, b"")
    assert head.headers["Content-Length"] == page.headers["Content-Length"]


@pytest.mark.parametrize("path", SHARED)
async def test_a_page_of_a_name_that_leads_here_reads_no_shared_page(limited: Limited, path: str) -> None:
    """A script reads pages of its own host without an `Origin`: only `Host` tells that it is not ours."""
    async with limited(own_hosts="play.example") as url:
        answer = await ask(url, path, host="evil.example:8765")
    assert (answer.status, answer.body) == (403, b"This server is not 'evil.example:8765' (--own-hosts).\n")


@pytest.mark.parametrize("host", FOREIGN_HOSTS)
async def test_a_host_that_only_looks_like_ours_reads_no_shared_page(limited: Limited, host: str | None) -> None:
    async with limited(own_hosts="play.example") as url:
        assert (await ask(url, "/lobby", host=host)).status == 403


@pytest.mark.parametrize("host", ["play.example", "PLAY.example:443", "localhost:1", "203.0.113.7", "[2001:db8::1]:80"])
async def test_a_shared_page_is_read_under_each_host_of_ours(limited: Limited, host: str) -> None:
    async with limited(own_hosts="play.example") as url:
        assert (await ask(url, "/lobby", host=host)).status == 200


async def test_a_named_site_reads_a_shared_page_under_any_host(limited: Limited) -> None:
    """As it may connect under any host: a browser lets no page lie about its origin."""
    async with limited(own_hosts="play.example", origins=FRIEND) as url:
        assert (await ask(url, "/lobby", f"Origin: {FRIEND}", host="evil.example")).allowed_origin == FRIEND


async def test_a_balancer_asks_under_any_host(limited: Limited) -> None:
    async with limited(own_hosts="play.example") as url:
        assert (await ask(url, "/readyz", host="10-0-0-7.pod.cluster.internal")).status == 200


async def test_a_server_whose_hosts_nobody_named_shows_its_pages_under_any_host(limited: Limited) -> None:
    async with limited() as url:
        assert (await ask(url, "/lobby", host="evil.example")).status == 200


async def test_a_page_that_is_refused_for_its_host_counts_as_turned_away(limited: Limited) -> None:
    def turned_away() -> float:
        return REGISTRY.get_sample_value("fairest_turned_away_total", {"reason": "origin"}) or 0

    before = turned_away()
    async with limited(own_hosts="play.example") as url:
        await ask(url, "/lobby", host="evil.example")
    assert turned_away() == before + 1
