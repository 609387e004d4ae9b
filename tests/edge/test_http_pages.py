"""Pages over plain HTTP: for players on the public port, for the operator on the admin port."""

import asyncio
import http.client
import json
import platform
from asyncio.subprocess import PIPE
from pathlib import Path

import pytest

from fairest_protocol.version import installed_version
from fairest_server.app import running
from fairest_server.settings import Settings
from tests.support.ports import free_port, free_ports
from tests.support.processes import SERVER_COMMAND, end_process, redis_process, serving_fleet
from tests.support.waiting import PATIENCE_SECONDS, until
from tests.support.wire_client import open_client, racing_players


def get(url: str, path: str) -> tuple[int, str]:
    host = url.split("://")[1]
    connection = http.client.HTTPConnection(host, timeout=PATIENCE_SECONDS)
    connection.request("GET", path)
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


async def test_a_process_is_alive_and_ready(server_url: str) -> None:
    assert await asyncio.to_thread(get, server_url, "/livez") == (200, f"alive fairest {installed_version()}\n")
    assert await asyncio.to_thread(get, server_url, "/readyz") == (200, "ready\n")


async def test_a_process_whose_redis_is_silent_is_alive_and_not_ready() -> None:
    with redis_process() as redis:
        async with running(Settings(port=0, redis_url=redis.url)) as url:
            redis.freeze()

            async def is_not_ready() -> bool:
                return (await asyncio.to_thread(get, url, "/readyz"))[0] == 503

            await until(is_not_ready, "the server says that it is not ready")
            assert (await asyncio.to_thread(get, url, "/livez"))[0] == 200
            redis.thaw()

            async def is_ready() -> bool:
                return (await asyncio.to_thread(get, url, "/readyz"))[0] == 200

            await until(is_ready, "the server says that it is ready")


async def test_metrics_are_for_the_operator_only(settings_for_tests: Settings) -> None:
    """On a quiet server even a total of moves says how far a player is."""
    port = free_port()
    async with running(settings_for_tests.model_copy(update={"admin_port": port})) as url, open_client(url):
        status, text = await asyncio.to_thread(get, f"http://127.0.0.1:{port}", "/metrics")
        assert status == 200
        assert 'fairest_messages_total{type="hello"}' in text
        assert "fairest_connections 1.0" in text
        assert (await asyncio.to_thread(get, url, "/metrics"))[0] == 426
        assert (await asyncio.to_thread(get, f"http://127.0.0.1:{port}", "/"))[0] == 404


async def test_a_metric_names_the_versions_of_the_process(settings_for_tests: Settings) -> None:
    port = free_port()
    async with running(settings_for_tests.model_copy(update={"admin_port": port})):
        _, text = await asyncio.to_thread(get, f"http://127.0.0.1:{port}", "/metrics")
    versions = f'python="{platform.python_version()}",version="{installed_version()}"'
    assert f"fairest_build_info{{{versions}}} 1.0" in text


async def test_no_metric_names_a_room_or_a_player(settings_for_tests: Settings) -> None:
    port = free_port()
    async with (
        running(settings_for_tests.model_copy(update={"admin_port": port})) as url,
        racing_players(url) as (first, second),
    ):
        await asyncio.gather(first.play("sa"), second.play("sb"))
        _, text = await asyncio.to_thread(get, f"http://127.0.0.1:{port}", "/metrics")
    for word in (first.room, first.token, second.token, *(seat.name for seat in first.scene.seats)):  # type: ignore[union-attr]
        assert str(word) not in text


@pytest.mark.long
async def test_each_worker_has_metrics_of_its_own(redis_url: str) -> None:
    ports = free_ports(2)
    async with serving_fleet(redis_url) as fleet:
        await fleet.start("--workers", "2", "--admin-port", str(ports[0]))
        for port in ports:
            assert (await asyncio.to_thread(get, f"http://127.0.0.1:{port}", "/metrics"))[0] == 200


@pytest.mark.long
async def test_logs_that_do_not_go_to_a_terminal_are_json_lines(redis_url: str) -> None:
    command = [*SERVER_COMMAND, "--port", "0", "--redis-url", redis_url]
    process = await asyncio.create_subprocess_exec(*command, stdout=PIPE, stderr=PIPE)
    assert process.stdout is not None
    await process.stdout.readline()
    _, told = await end_process(process)
    lines = [json.loads(line) for line in told.decode().splitlines()]
    assert {"durability", "serving", "stopping"} <= {line["event"] for line in lines}
    assert all({"level", "timestamp"} <= line.keys() for line in lines)
    assert [line["version"] for line in lines if line["event"] == "serving"] == [installed_version()]


async def test_the_page_of_an_unknown_path_opens_no_files(server_url: str) -> None:
    for path in ("/../pyproject.toml", "/%2e%2e/etc/passwd", "/lobby/../key/x", "//[", "/[?page=["):
        assert (await asyncio.to_thread(get, server_url, path))[0] == 426
    assert Path("/etc/passwd").exists()
