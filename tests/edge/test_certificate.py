"""SIGHUP makes a single process read its certificate again; open connections stay."""

import asyncio
import fcntl
import json
import os
import pty
import shutil
import signal
import ssl
import termios
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from fairest_server.edge.certificate import BadCertificate, Certificate
from tests.support.certificates import make_certificate
from tests.support.long_tests import parametrize_with_long
from tests.support.processes import SERVER_COMMAND, end_process
from tests.support.waiting import PATIENCE_SECONDS
from tests.support.wire_client import racing_players


@dataclass
class Serving:
    """A server process with its URL and the rest of its log."""

    process: asyncio.subprocess.Process
    url: str

    async def logged(self, event: str) -> dict[str, object]:
        """Return the next line of the log with this event."""
        assert self.process.stderr is not None
        async with asyncio.timeout(PATIENCE_SECONDS):
            while True:
                line = json.loads(await self.process.stderr.readline())
                if line["event"] == event:
                    return dict(line)


@asynccontextmanager
async def serving(redis_url: str, *options: str) -> AsyncIterator[Serving]:
    command = [*SERVER_COMMAND, "--port", "0", "--redis-url", redis_url, *options]
    process = await asyncio.create_subprocess_exec(*command, stdout=PIPE, stderr=PIPE)
    try:
        assert process.stdout is not None
        async with asyncio.timeout(PATIENCE_SECONDS):
            url = (await process.stdout.readline()).decode().strip()
        yield Serving(process, url)
    finally:
        await end_process(process)


async def served_certificate(url: str, server_name: str | None = "localhost") -> str:
    """The certificate that a new connection gets, as PEM."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    port = urlsplit(url).port
    _, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context, server_hostname=server_name or "")
    certificate = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    writer.close()
    return ssl.DER_cert_to_PEM_cert(certificate)


@pytest.fixture
def renewed(tmp_path: Path) -> tuple[Path, Path]:
    (tmp_path / "renewed").mkdir()
    return make_certificate(tmp_path / "renewed")


@parametrize_with_long("server_name", ["localhost", None], quick=1)
async def test_new_connections_get_the_new_certificate(
    redis_url: str, tmp_path: Path, renewed: tuple[Path, Path], server_name: str | None
) -> None:
    cert, key = make_certificate(tmp_path)
    async with serving(redis_url, "--tls-cert", str(cert), "--tls-key", str(key)) as server:
        before = await served_certificate(server.url, server_name)
        shutil.copy(renewed[0], cert)
        shutil.copy(renewed[1], key)
        server.process.send_signal(signal.SIGHUP)
        assert "expires" in await server.logged("certificate_reloaded")
        assert before != await served_certificate(server.url, server_name) == cert.read_text()


@pytest.mark.long
async def test_open_connections_stay(
    redis_url: str, tmp_path: Path, renewed: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    cert, key = make_certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(shutil.copy(cert, tmp_path / "trusted.pem")))
    async with (
        serving(redis_url, "--tls-cert", str(cert), "--tls-key", str(key)) as server,
        racing_players(server.url.replace("127.0.0.1", "localhost")) as (first, _),
    ):
        shutil.copy(renewed[0], cert)
        shutil.copy(renewed[1], key)
        server.process.send_signal(signal.SIGHUP)
        await server.logged("certificate_reloaded")
        await first.play("sa")


@pytest.mark.long
@parametrize_with_long("broken", ["cert", "key", "pair"], quick=1)
async def test_a_broken_file_is_logged_and_the_old_certificate_stays(
    redis_url: str, tmp_path: Path, renewed: tuple[Path, Path], broken: str
) -> None:
    cert, key = make_certificate(tmp_path)
    async with serving(redis_url, "--tls-cert", str(cert), "--tls-key", str(key)) as server:
        before = await served_certificate(server.url)
        if broken == "cert":
            cert.write_text("no certificate")
        elif broken == "key":
            key.unlink()
        else:
            shutil.copy(renewed[0], cert)  # and the key is the old one
        server.process.send_signal(signal.SIGHUP)
        line = await server.logged("certificate_not_reloaded")
        assert line["level"] == "error"
        assert str(cert) in str(line["reason"])
        assert await served_certificate(server.url) == before


@pytest.mark.long
async def test_sighup_without_a_certificate_is_logged_and_changes_nothing(redis_url: str) -> None:
    async with serving(redis_url) as server:
        server.process.send_signal(signal.SIGHUP)
        await server.logged("nothing_to_reload")
        async with racing_players(server.url) as (first, _):
            await first.play("sa")


@pytest.mark.long
async def test_a_broken_certificate_keeps_a_server_from_starting(redis_url: str, tmp_path: Path) -> None:
    cert, key = make_certificate(tmp_path)
    key.write_text("no key")
    async with serving(redis_url, "--tls-cert", str(cert), "--tls-key", str(key)) as server:
        async with asyncio.timeout(PATIENCE_SECONDS):
            assert await server.process.wait() == 1
        assert server.process.stderr is not None
        assert f"cannot serve TLS with {cert} and {key}".encode() in await server.process.stderr.read()


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadCertificate, match=r"nowhere\.pem .*No such file"):
        Certificate(tmp_path / "nowhere.pem", tmp_path / "nokey.pem")


@asynccontextmanager
async def serving_on_a_terminal(redis_url: str) -> AsyncIterator[tuple[Serving, int]]:
    """A server as the program of a terminal, and the other end of the terminal, which the test closes."""
    ours, theirs = pty.openpty()

    def own_terminal() -> None:
        os.setsid()
        fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)

    command = [*SERVER_COMMAND, "--port", "0", "--redis-url", redis_url]
    process = await asyncio.create_subprocess_exec(
        *command, stdin=theirs, stdout=PIPE, stderr=PIPE, preexec_fn=own_terminal
    )
    os.close(theirs)
    try:
        assert process.stdout is not None
        async with asyncio.timeout(PATIENCE_SECONDS):
            yield Serving(process, (await process.stdout.readline()).decode().strip()), ours
    finally:
        await end_process(process)


@pytest.mark.long
async def test_a_server_ends_in_order_when_its_terminal_is_closed(redis_url: str) -> None:
    async with serving_on_a_terminal(redis_url) as (server, terminal):
        os.close(terminal)
        async with asyncio.timeout(PATIENCE_SECONDS):
            assert await server.process.wait() == 0


@pytest.mark.long
async def test_a_server_on_a_terminal_reloads_on_another_sighup(redis_url: str) -> None:
    async with serving_on_a_terminal(redis_url) as (server, terminal):
        server.process.send_signal(signal.SIGHUP)
        await server.logged("nothing_to_reload")
        os.close(terminal)
