"""Behind nginx, as docs/nginx.conf shows it: that very file, with this test's names, ports and folders in it."""

import asyncio
import http.client
import json
import os
import shutil
import ssl
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, closing, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.typing import Origin

from fairest_protocol.calculation.race import Ending
from fairest_server.edge.round_trip import ROUND_TRIP_HEADER, stated_round_trip_us
from fairest_server.store.log import Log
from fairest_server.store.redis.batching_client import BatchingRedis
from tests.support.bots import start_match
from tests.support.certificates import make_certificate
from tests.support.history import check_history
from tests.support.limited import limited_server
from tests.support.meeting import meet_at_address
from tests.support.ports import free_port
from tests.support.processes import Fleet, end_process
from tests.support.proxied_requests import proxied_requests
from tests.support.waiting import PATIENCE_SECONDS, until
from tests.support.wire_client import QUICK, racing_players

EXAMPLE = Path(__file__).parents[2] / "docs" / "nginx.conf"
NGINX = shutil.which("nginx", path=f"{os.environ['PATH']}{os.pathsep}/usr/sbin")
ROOMS = 4
ADDRESSES = 3
"""Connections to a process that one address may have here."""

pytestmark = pytest.mark.skipif(NGINX is None, reason="there is no nginx here; .ci/run installs it (apt install nginx)")

AROUND = """\
daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{}}
http {{
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/fairest.conf;
}}
"""
"""The part of a machine's own /etc/nginx/nginx.conf that an nginx of a test needs."""


@dataclass
class Site:
    """A name with nginx behind it, and behind that two server processes."""

    port: int
    access_log: Path

    @property
    def url(self) -> str:
        return f"wss://localhost:{self.port}"

    def get(self, path: str) -> tuple[int, str]:
        """A page of it."""
        with closing(http.client.HTTPSConnection("localhost", self.port, timeout=PATIENCE_SECONDS)) as connection:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()


def adapt(example: str, changes: dict[str, str]) -> str:
    """The example with other names, ports and folders, each of which must stand in it."""
    for old, new in changes.items():
        assert old in example, f"docs/nginx.conf has no {old!r} any more"
        example = example.replace(old, new)
    return example


@asynccontextmanager
async def running_nginx(folder: Path, port: int, servers: list[str]) -> AsyncIterator[None]:
    """An nginx on the example, in front of these two servers."""
    cert, key = make_certificate(folder)
    first, second = servers
    changes = {
        "server 127.0.0.1:8765": f"server {first.removeprefix('ws://')}",
        "server 127.0.0.1:8766": f"server {second.removeprefix('ws://')}",
        "listen 443 ssl": f"listen 127.0.0.1:{port} ssl",
        "listen [::]:443 ssl": f"listen [::]:{port} ssl",
        "listen 80": f"listen 127.0.0.1:{free_port()}",
        "listen [::]:80": f"listen [::]:{free_port()}",
        "server_name fairest.example": "server_name localhost",
        "/etc/letsencrypt/live/fairest.example/fullchain.pem": str(cert),
        "/etc/letsencrypt/live/fairest.example/privkey.pem": str(key),
        "/var/log/nginx/": f"{folder}/",
    }
    (folder / "fairest.conf").write_text(adapt(EXAMPLE.read_text(), changes))
    (folder / "nginx.conf").write_text(AROUND.format(folder=folder))
    assert NGINX is not None
    command = [NGINX, "-e", str(folder / "error.log"), "-p", str(folder), "-c", str(folder / "nginx.conf")]
    nginx = await asyncio.create_subprocess_exec(*command, stdout=DEVNULL, stderr=PIPE, cwd=folder)
    try:
        await _accepting(nginx, port)
        yield
    finally:
        await end_process(nginx)


async def _accepting(nginx: asyncio.subprocess.Process, port: int) -> None:
    async def is_open() -> bool:
        if nginx.returncode is not None:
            _, told = await nginx.communicate()
            pytest.fail(f"nginx does not start: {told.decode()}")
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except ConnectionRefusedError:
            return False
        writer.close()
        return True

    await until(is_open, "nginx accepts connections")


@asynccontextmanager
async def behind_nginx(folder: Path, servers: list[str], monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Site]:
    """These two servers behind nginx. Clients believe its certificate."""
    # What `ssl.create_default_context` believes, here and in the real client.
    monkeypatch.setenv("SSL_CERT_FILE", str(folder / "cert.pem"))
    port = free_port()
    async with running_nginx(folder, port, servers):
        yield Site(port, folder / "fairest.log")


@pytest.fixture
async def site(redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Site]:
    """Two servers in this process behind nginx."""
    limits = {"trusted_proxies": "127.0.0.1", "connections_per_address": ADDRESSES}
    async with (
        limited_server(redis_url, **limits) as first,
        limited_server(redis_url, **limits) as second,
        behind_nginx(tmp_path, [first, second], monkeypatch) as made,
    ):
        yield made


@pytest.fixture
async def site_of_processes(fleet: Fleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Site]:
    """Two processes behind nginx, those of `fleet`."""
    servers = [await fleet.start("--trusted-proxies", "127.0.0.1") for _ in range(2)]
    async with behind_nginx(tmp_path, servers, monkeypatch) as made:
        yield made


async def kill_one(fleet: Fleet) -> None:
    """Kill one of the processes with SIGKILL."""
    await fleet.kill(next(iter(fleet.processes)))


async def status_of(url: str, address: str = "127.0.0.9", **headers: str) -> int:
    """The HTTP status with which a handshake from this address is answered; 101 is a connection."""
    try:
        async with connect(url, additional_headers=headers, proxy=None, local_addr=(address, 0)):
            return 101
    except InvalidStatus as reason:
        return reason.response.status_code


async def test_two_players_race_to_the_end_behind_nginx(site: Site, redis: BatchingRedis) -> None:
    match = await start_match((site.url,), QUICK, spectators=1)
    await match.end()
    assert check_history(match.room, await Log(redis).read(match.room), match.transcripts) == []


async def test_players_at_the_address_of_their_room_meet_on_one_process(site: Site, redis: BatchingRedis) -> None:
    for _ in range(ROOMS):
        await meet_at_address(site.url, redis)


@pytest.mark.long
async def test_players_go_on_with_the_other_process_when_theirs_is_killed(
    site_of_processes: Site, fleet: Fleet, redis: BatchingRedis
) -> None:
    match = await start_match((site_of_processes.url,), QUICK, pace_seconds=0.05)
    await match.moved(3)
    await kill_one(fleet)
    await match.end()
    assert check_history(match.room, await Log(redis).read(match.room), match.transcripts) == []
    record = match.players[0].record
    assert record is not None and record.rounds[-1].outcome is not None
    assert not {score.ending for score in record.rounds[-1].outcome.scores} & {Ending.AWAY, Ending.RESIGNED}


@pytest.mark.long
async def test_new_players_meet_only_the_process_that_is_left(site_of_processes: Site, fleet: Fleet) -> None:
    await kill_one(fleet)
    async with racing_players(site_of_processes.url) as (first, second):
        await asyncio.gather(first.play("sa"), second.play("sb"))


async def test_the_address_limit_counts_the_addresses_of_clients_and_not_that_of_nginx(site: Site) -> None:
    async with AsyncExitStack() as stack:
        for number in range(4 * ADDRESSES):
            address = f"127.0.1.{number + 1}"
            await stack.enter_async_context(connect(site.url, proxy=None, local_addr=(address, 0)))
        assert await status_of(site.url, "127.0.2.1") == 101


async def test_an_address_that_has_its_connections_at_every_process_gets_no_more(site: Site) -> None:
    async with AsyncExitStack() as stack:
        for _ in range(2 * ADDRESSES):
            await stack.enter_async_context(connect(site.url, proxy=None, local_addr=("127.0.1.1", 0)))
        assert await status_of(site.url, "127.0.1.1") == 429


async def test_a_client_is_not_believed_about_its_own_address(site: Site) -> None:
    async with AsyncExitStack() as stack:
        for _ in range(2 * ADDRESSES):
            await stack.enter_async_context(connect(site.url, proxy=None, local_addr=("127.0.1.1", 0)))
        assert await status_of(site.url, "127.0.1.1", **{"X-Forwarded-For": "203.0.113.7"}) == 429


async def test_nginx_states_how_far_away_its_kernel_has_measured_a_client(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with proxied_requests() as (address, requests), behind_nginx(tmp_path, [address] * 2, monkeypatch) as site:
        with suppress(InvalidStatus):
            await connect(site.url, proxy=None, additional_headers={ROUND_TRIP_HEADER: "900000"})
        request = await requests.get()
    assert 0 < (stated_round_trip_us(request.get_all(ROUND_TRIP_HEADER)) or 0) < 900_000


async def first_answer(url: str, origin: str) -> str:
    """Return the first message that a browser with a page of this origin is sent; it has sent `hello`."""
    async with connect(url, origin=Origin(origin), proxy=None) as socket:
        with suppress(ConnectionClosed):
            await socket.send('{"type":"hello"}')
        return str(await socket.recv())


async def test_a_page_from_elsewhere_may_not_connect_through_nginx(site: Site) -> None:
    assert '"other_site"' in await first_answer(site.url, "https://evil.example")


async def test_a_page_of_another_port_may_not_connect_through_nginx(site: Site) -> None:
    assert '"other_site"' in await first_answer(site.url, "https://localhost")


async def test_a_page_of_the_same_site_may_connect_through_nginx(site: Site) -> None:
    assert '"welcome"' in await first_answer(site.url, f"https://localhost:{site.port}")


@pytest.mark.parametrize(("path", "says"), [("/livez", "alive"), ("/readyz", "ready"), ("/lobby?page=0", "lobby")])
async def test_a_page_is_served_behind_nginx(site: Site, path: str, says: str) -> None:
    status, text = await asyncio.to_thread(site.get, path)
    assert (status, says in text) == (200, True)


async def test_metrics_are_not_served_behind_nginx(site: Site) -> None:
    assert (await asyncio.to_thread(site.get, "/metrics"))[0] == 404


async def test_a_name_that_is_not_ours_gets_no_certificate(site: Site) -> None:
    """Otherwise a page of that name, led here by its owner's name server, would count as a page of ours."""
    with pytest.raises(ssl.SSLError, match=r"(?i)unrecognized.name"):
        await asyncio.open_connection("127.0.0.1", site.port, ssl=True, server_hostname="evil.example")


async def test_another_name_inside_a_connection_under_ours_gets_nothing(site: Site) -> None:
    with pytest.raises(http.client.RemoteDisconnected):
        await asyncio.to_thread(ask_for_another_name, site)


def ask_for_another_name(site: Site) -> None:
    with closing(http.client.HTTPSConnection("localhost", site.port, timeout=PATIENCE_SECONDS)) as connection:
        connection.request("GET", "/livez", headers={"Host": "evil.example"})
        connection.getresponse()


async def test_the_access_log_has_lines_of_json_without_query_strings(site: Site) -> None:
    await asyncio.to_thread(site.get, "/lobby?page=0&token=hidden")
    written: list[str] = []

    async def is_written() -> bool:
        written.extend(json.loads(line)["path"] for line in site.access_log.read_text().splitlines())
        return bool(written)

    await until(is_written, "the access log has a line")
    assert written == ["/lobby"]
