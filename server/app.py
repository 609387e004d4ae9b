"""The wiring page: what a server process is made of, and in which order it lives and ends."""

import asyncio
import itertools
import logging
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Final

import structlog
import uvloop
from pydantic import ValidationError
from pydantic_settings import CliApp
from redis.exceptions import RedisError
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import NegotiationError
from websockets.typing import Subprotocol

from protocol.messages.fields import SUBPROTOCOL
from protocol.messages.refusals import CloseCode
from server.connection import Connection
from server.host import Host
from server.http import make_responder
from server.outbox import MAX_UNSENT_BYTES
from server.settings import Settings
from server.signing import SigningKey
from server.store.archive import load_private_key
from server.store.client import connect
from server.store.durability import Durability, read_durability
from server.store.embedded import EmbeddedRedisError, embedded_redis
from server.store.players import Players
from server.workers import STOP_SECONDS as WORKERS_SECONDS
from server.workers import WorkerError, Workers

CLOSE_SECONDS: Final = 2.0
"""How long a client may take over the opening and the closing handshake."""
STOP_SECONDS: Final = 4.0
"""A process that was told to stop is gone after this long, whoever does not answer: all it promised is in the log."""

_LOG = structlog.get_logger(__name__)


class StartError(Exception):
    """The server cannot start; the text says why and what to do."""


@asynccontextmanager
async def running(settings: Settings) -> AsyncIterator[str]:
    """A server that serves for as long as the context lasts; yields its WebSocket URL.

    Raises `StartError` when Redis or the port is not to be had.
    """
    async with AsyncExitStack() as stack:
        try:
            url = settings.redis_url
            if url is None:
                url = await stack.enter_async_context(embedded_redis(settings.data_dir))
        except EmbeddedRedisError as reason:
            raise StartError(str(reason)) from reason
        try:
            redis, listening = connect(url), connect(url, timeout_seconds=None)
        except ValueError as reason:
            raise StartError(f"a Redis URL looks like redis://host:6379/0, not {url!r}") from reason
        stack.push_async_callback(redis.aclose)
        stack.push_async_callback(listening.aclose)
        try:
            key = SigningKey(await load_private_key(redis))
        except (RedisError, OSError) as reason:
            raise StartError(f"no Redis answers at {url}: {reason}") from reason
        host, players = Host(redis, listening, key), Players(redis)
        durability = await read_durability(redis)
        await stack.enter_async_context(host.serving())
        try:
            server = await stack.enter_async_context(_listening(settings, host, players, durability))
        except StartError as reason:
            # Raised only when the host has ended, whose tasks would wrap it in an exception group.
            failure = reason
        else:
            _LOG.info("durability", promise=durability.promise)
            for warning in durability.warnings:
                _LOG.warning("durability", problem=warning)
            yield f"ws://{settings.host}:{server.sockets[0].getsockname()[1]}"
            return
    raise failure


@asynccontextmanager
async def _listening(settings: Settings, host: Host, players: Players, durability: Durability) -> AsyncIterator[Server]:
    links = itertools.count(1)

    async def handle(websocket: ServerConnection) -> None:
        link = f"{host.process_id}-{next(links)}"
        await Connection(websocket, host, players, link, settings.hello_seconds).serve()

    def tell_key() -> str:
        return host.key.public.hex()

    try:
        server = await serve(
            handle,
            settings.host,
            settings.port,
            reuse_port=settings.reuse_port or None,
            subprotocols=[Subprotocol(SUBPROTOCOL)],
            select_subprotocol=_choose_subprotocol,
            process_request=make_responder({"/key": tell_key, "/durability": lambda: durability.promise}),
            compression=None,
            max_size=settings.max_frame_bytes,
            max_queue=16,
            open_timeout=CLOSE_SECONDS,
            # Above what the outbox allows, so that pings never wait for a reader that has stalled.
            write_limit=2 * MAX_UNSENT_BYTES,
            ping_interval=settings.heartbeat_seconds,
            ping_timeout=settings.heartbeat_seconds,
            close_timeout=CLOSE_SECONDS,
            server_header="fairest",
        )
    except OSError as reason:
        raise StartError(f"cannot listen on {settings.host}:{settings.port}: {_why(reason)}") from reason
    _limit_silence(server, 2 * settings.heartbeat_seconds)
    try:
        yield server
    finally:
        await _close(server)


def _limit_silence(server: Server, seconds: float) -> None:
    """Let the system end connections, ours or closed ones, on which what was sent is not taken for so long.

    Accepted sockets inherit the option. Without it, what a stalled reader left unread stays in the system's memory for
    minutes after we have cut it off. Linux only.
    """
    option = getattr(socket, "TCP_USER_TIMEOUT", None)
    if option is not None:
        for listening in server.sockets:
            listening.setsockopt(socket.IPPROTO_TCP, option, int(seconds * 1000))


async def _close(server: Server) -> None:
    """Send everybody elsewhere; who does not read is cut off, since closing would wait for them for ever."""
    server.close(code=CloseCode.RESTARTING, reason="restarting")
    try:
        async with asyncio.timeout(CLOSE_SECONDS):
            await server.wait_closed()
    except TimeoutError:
        for websocket in server.connections:
            websocket.transport.abort()
        await server.wait_closed()


def _why(reason: OSError) -> str:
    """What the system says, without what asyncio adds to it."""
    return os.strerror(reason.errno) if reason.errno and reason.errno > 0 else str(reason)


def _choose_subprotocol(_: ServerConnection, offered: Sequence[Subprotocol]) -> Subprotocol | None:
    """Speak `fairest.v1` with who offers it or offers nothing; who offers only others cannot mean us."""
    if not offered:
        return None
    if SUBPROTOCOL not in offered:
        raise NegotiationError(f"this server speaks {SUBPROTOCOL}")
    return Subprotocol(SUBPROTOCOL)


async def _serve_until_told(settings: Settings) -> None:
    told = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, told.set)
    if settings.ends_with_input:
        asyncio.get_running_loop().add_reader(sys.stdin.fileno(), _hear_input, told)
    serving = running(settings) if settings.workers == 1 else _running_workers(settings)
    async with serving as url:
        # The one line on standard output: whoever started us learns where we are.
        print(url, flush=True)
        await told.wait()
        _LOG.info("stopping")
        patience_seconds = STOP_SECONDS if settings.workers == 1 else WORKERS_SECONDS + 0.5
        asyncio.get_running_loop().call_later(patience_seconds, _give_up_waiting)


@asynccontextmanager
async def _running_workers(settings: Settings) -> AsyncIterator[str]:
    """Several processes on one port, and a Redis for them if there is none. Raises `StartError`."""
    async with AsyncExitStack() as stack:
        try:
            url = settings.redis_url
            if url is None:
                url = await stack.enter_async_context(embedded_redis(settings.data_dir))
            yield await stack.enter_async_context(Workers(settings, url).serving())
        except (EmbeddedRedisError, WorkerError) as reason:
            raise StartError(str(reason)) from reason
        except OSError as reason:
            raise StartError(f"cannot listen on {settings.host}:{settings.port}: {_why(reason)}") from reason


def _hear_input(told: asyncio.Event) -> None:
    """Whoever started us writes nothing; the end of its pipe is its own end."""
    if not os.read(sys.stdin.fileno(), 1024):
        asyncio.get_running_loop().remove_reader(sys.stdin.fileno())
        told.set()


def _give_up_waiting() -> None:
    """Redis or the network hangs. An embedded Redis that is left behind is taken over by the next server."""
    _LOG.warning("stopped without waiting any longer")
    os._exit(1)


def configure_logs() -> None:
    """Logs go to standard error. Tracebacks come without the values of variables: among them are decks and secrets."""
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso"),
            structlog.processors.format_exc_info,
            structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty()),
        ],
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
    )
    logging.getLogger("websockets").setLevel(logging.CRITICAL)


def main() -> None:
    """The console script `fairest-server`."""
    configure_logs()
    try:
        settings = CliApp.run(Settings)
        uvloop.run(_serve_until_told(settings))
    except ValidationError as reason:
        for error in reason.errors():
            print(f"fairest-server: --{'.'.join(map(str, error['loc']))}: {error['msg']}", file=sys.stderr)
        raise SystemExit(2) from None
    except StartError as reason:
        print(f"fairest-server: {reason}", file=sys.stderr)
        raise SystemExit(1) from None
