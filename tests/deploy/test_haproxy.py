"""Behind HAProxy, as deploy/haproxy.cfg shows it: that very file, with this test's ports and folder in it."""

import asyncio
import os
import shutil
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
import yaml
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from fairest_server.edge.round_trip import ROUND_TRIP_HEADER, stated_round_trip_us
from fairest_server.store.log import Log
from fairest_server.store.redis.batching_client import BatchingRedis
from tests.support.bots import start_match
from tests.support.certificates import make_certificate
from tests.support.history import check_history
from tests.support.limited import limited_server
from tests.support.meeting import meet_at_address
from tests.support.ports import free_port
from tests.support.processes import end_process
from tests.support.proxied_requests import proxied_requests
from tests.support.waiting import until
from tests.support.wire_client import QUICK, open_client

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "deploy" / "haproxy.cfg"
HAPROXY = shutil.which("haproxy", path=f"{os.environ['PATH']}{os.pathsep}/usr/sbin")
ROOMS = 4

pytestmark = pytest.mark.skipif(
    HAPROXY is None, reason="there is no HAProxy here; .ci/run installs it (apt install haproxy)"
)


def adapt(example: str, changes: dict[str, str]) -> str:
    """The example with other ports and files, each of which must stand in it."""
    for old, new in changes.items():
        assert old in example, f"{EXAMPLE.name} has no {old!r} any more"
        example = example.replace(old, new)
    return example


@asynccontextmanager
async def behind_haproxy(folder: Path, servers: list[str], monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[str]:
    """Two servers behind HAProxy, whose certificate clients believe."""
    cert, key = make_certificate(folder)
    monkeypatch.setenv("SSL_CERT_FILE", str(cert))
    (folder / "fairest.pem").write_text(key.read_text() + cert.read_text())
    port = free_port()
    first, second = servers
    changes = {
        ":443 ssl": f"127.0.0.1:{port} ssl",
        "/etc/haproxy/fairest.pem": str(folder / "fairest.pem"),
        "127.0.0.1:8765": first.removeprefix("ws://"),
        "127.0.0.1:8766": second.removeprefix("ws://"),
    }
    config = folder / "haproxy.cfg"
    # In the comments above, the ports are those of the commands.
    config.write_text(adapt(EXAMPLE.read_text(), changes))
    assert HAPROXY is not None
    haproxy = await asyncio.create_subprocess_exec(HAPROXY, "-db", "-f", str(config), stdout=DEVNULL, stderr=PIPE)
    try:
        yield f"wss://localhost:{port}"
    finally:
        await end_process(haproxy)


@pytest.fixture
async def url(redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[str]:
    """Two servers in this process behind HAProxy."""
    async with (
        limited_server(redis_url, trusted_proxies="127.0.0.1") as first,
        limited_server(redis_url, trusted_proxies="127.0.0.1") as second,
        behind_haproxy(tmp_path, [first, second], monkeypatch) as made,
    ):
        await until_welcomed(made)
        yield made


async def until_welcomed(url: str) -> None:
    async def is_welcomed() -> bool:
        with suppress(Exception):
            async with open_client(url):
                return True
        return False

    await until(is_welcomed, "HAProxy leads to a server")


@pytest.mark.long
async def test_players_at_the_address_of_their_room_meet_on_one_process(url: str, redis: BatchingRedis) -> None:
    for _ in range(ROOMS):
        await meet_at_address(url, redis)


async def test_two_players_race_to_the_end_behind_haproxy(url: str, redis: BatchingRedis) -> None:
    match = await start_match((url,), QUICK, spectators=1)
    await match.end()
    assert check_history(match.room, await Log(redis).read(match.room), match.transcripts) == []


async def test_haproxy_states_how_far_away_its_kernel_has_measured_a_client(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with proxied_requests() as (address, requests), behind_haproxy(tmp_path, [address] * 2, monkeypatch) as url:

        async def has_arrived() -> bool:
            with suppress(InvalidStatus, OSError):
                await connect(url, proxy=None, additional_headers={ROUND_TRIP_HEADER: "900000"})
            return not requests.empty()

        await until(has_arrived, "HAProxy passes a request on")
        stated = requests.get_nowait().get_all(ROUND_TRIP_HEADER)
    assert 0 < (stated_round_trip_us(stated) or 0) < 900_000


async def test_haproxy_accepts_the_configuration_of_the_compose_file(tmp_path: Path) -> None:
    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    (tmp_path / "door.cfg").write_text(compose["configs"]["door"]["content"])
    assert HAPROXY is not None
    haproxy = await asyncio.create_subprocess_exec(
        HAPROXY, "-c", "-f", str(tmp_path / "door.cfg"), stdout=PIPE, stderr=PIPE
    )
    _, errors = await haproxy.communicate()
    assert (haproxy.returncode, errors.decode()) == (0, "")
