"""The health check of the image: exit code 0 if the server of the container lives."""

import asyncio
import os
import sys
from asyncio.subprocess import PIPE
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from fairest_server.ops import health
from tests.support.certificates import make_certificate
from tests.support.processes import Fleet


async def check(**variables: str) -> tuple[int | None, str]:
    """Run the health check as the image does; return its exit code and what it said."""
    environment = os.environ | variables
    process = await asyncio.create_subprocess_exec(sys.executable, "-m", health.__name__, stderr=PIPE, env=environment)
    async with asyncio.timeout(30):
        _, errors = await process.communicate()
    return process.returncode, errors.decode()


@pytest.mark.long
@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
async def test_a_server_that_lives_is_healthy(fleet: Fleet, host: str) -> None:
    url = await fleet.start("--host", host)
    assert await check(FAIREST_HOST=host, FAIREST_PORT=str(urlsplit(url).port)) == (0, "")


@pytest.mark.long
async def test_a_server_with_a_certificate_is_healthy(fleet: Fleet, tmp_path: Path) -> None:
    cert, key = make_certificate(tmp_path)
    url = await fleet.start("--tls-cert", str(cert), "--tls-key", str(key))
    assert await check(FAIREST_PORT=str(urlsplit(url).port), FAIREST_TLS_CERT=str(cert)) == (0, "")


@pytest.mark.long
async def test_a_port_on_which_nothing_listens_is_not_healthy(fleet: Fleet) -> None:
    url = await fleet.start()
    await fleet.kill(url)
    code, said = await check(FAIREST_PORT=str(urlsplit(url).port))
    assert code == 1
    assert "no server answers at 127.0.0.1:" in said


def test_a_port_that_is_none_is_named() -> None:
    assert "at 127.0.0.1:many: " in health.check({"FAIREST_PORT": "many"})
