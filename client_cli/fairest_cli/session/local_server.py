"""The local server of a race against a bot: `fairest-server` as a child process on a free port, until the race ends."""

import asyncio
import os
import socket
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

from fairest_cli.session.child_process import kill_and_wait

START_SECONDS: Final = 20.0
STOP_SECONDS: Final = 6.0
ENGINE_SECONDS: Final = 1.0
"""The wait for an engine to end. It keeps nothing, so it ends at once."""


class ServerNotStarted(Exception):
    """The local server did not start; the text says why."""


@asynccontextmanager
async def local_server() -> AsyncIterator[str]:
    """Run a server with an embedded Redis that keeps nothing, and yield its URL. Raises `ServerNotStarted`."""
    with tempfile.TemporaryDirectory(prefix="fairest-") as folder:
        # -P: no module is imported from the current folder, whatever files lie there.
        command = [sys.executable, "-P", "-m", "fairest_server", "--host", "127.0.0.1", "--port", "0"]
        command += ["--data-dir", folder, "--ends-with-input"]
        # A file and not a pipe: nobody reads the log, and a full pipe would block the server.
        log = Path(folder) / "server.log"
        # Settings in the environment are those of a server for others: its port, its Redis, its certificate.
        environment = {name: value for name, value in os.environ.items() if not name.upper().startswith("FAIREST_")}
        with log.open("wb") as written:
            server = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=written,
                env=environment,
                start_new_session=True,
            )
        try:
            yield await _address(server, log)
        finally:
            try:
                await _end(server)
            finally:
                _stop_engine(Path(folder))


async def _end(server: asyncio.subprocess.Process) -> None:
    """End a server, if it has not ended; kill it if it takes longer than `STOP_SECONDS`, or if this is cancelled."""
    try:
        if server.returncode is None:
            server.terminate()
            with suppress(TimeoutError):
                await asyncio.wait_for(server.communicate(), STOP_SECONDS)
    finally:
        # A screen that is left is cancelled once, and the program that ends then cancels it once more.
        await kill_and_wait(server)


def _stop_engine(folder: Path) -> None:
    """Stop the engine of a server that was killed, which could not stop it. Nothing listens if the server did."""
    with suppress(OSError), socket.socket(socket.AF_UNIX) as engine:
        engine.settimeout(ENGINE_SECONDS)
        engine.connect(str(folder / "redis.sock"))
        engine.sendall(b"SHUTDOWN NOSAVE\r\n")
        # It closes the connection when it ends.
        engine.recv(1)


async def _address(server: asyncio.subprocess.Process, log: Path) -> str:
    """Return the URL that a server prints once it is listening. Raises `ServerNotStarted`."""
    assert server.stdout is not None
    try:
        line = await asyncio.wait_for(server.stdout.readline(), START_SECONDS)
    except TimeoutError as reason:
        raise ServerNotStarted(f"the server did not start within {START_SECONDS:.0f} seconds") from reason
    if line:
        return line.decode().strip()
    await server.wait()
    complaint = log.read_text(errors="replace").strip().splitlines()
    hint = "install it with: pip install 'fairest'"
    raise ServerNotStarted(complaint[-1] if complaint else hint)
