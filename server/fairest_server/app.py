"""The entry point: it creates the parts of a server process, starts them in order, and stops them in reverse order."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

import structlog
from pydantic import ValidationError
from pydantic_settings import CliApp
from redis.exceptions import RedisError

from fairest_protocol.version import installed_version
from fairest_server.archive.places import ArchiveUnavailable, open_place
from fairest_server.archive.reader import ArchiveReader
from fairest_server.archive.record_archive import RecordArchive
from fairest_server.edge.certificate import BadCertificate, Certificate, open_certificate
from fairest_server.edge.listeners import CannotListen, admin_port, public_port
from fairest_server.live.drain import Drain
from fairest_server.live.signing import load_deployment_key
from fairest_server.ops import metrics, service_manager
from fairest_server.ops.children import give_up_waiting
from fairest_server.ops.events import Event
from fairest_server.ops.faults import contained
from fairest_server.ops.file_limits import raise_open_file_limit
from fairest_server.ops.gc_policy import configure_gc
from fairest_server.ops.logs import configure_logs
from fairest_server.ops.metrics import Part
from fairest_server.ops.supervised import read_input
from fairest_server.ops.supervisor import DRAINING_LINE, Supervisor, WorkerError
from fairest_server.ops.supervisor import STOP_SECONDS as WORKERS_SECONDS
from fairest_server.ops.system import (
    describe_what_is_missing,
    dies_with_terminal,
    has_terminal,
    on_signals,
    run_event_loop,
)
from fairest_server.process import serving_rooms
from fairest_server.settings import Settings
from fairest_server.store.control import Control
from fairest_server.store.lobby import Lobby
from fairest_server.store.player_rooms import PlayerRooms
from fairest_server.store.players import Players
from fairest_server.store.redis.clients import describe_unfit, make_client, without_secrets
from fairest_server.store.redis.durability import read_durability
from fairest_server.store.redis.embedded import embedded_redis
from fairest_server.store.redis.embedded_engine import EmbeddedRedisError
from fairest_server.store.room_openings import RoomOpenings
from fairest_server.store.tickets import Tickets

STOP_SECONDS: Final = 3.5
"""A process ends at most this long after it was told to, even if Redis or clients do not answer. This loses nothing,
since every accepted move is in the log by then.
"""

_LOG = structlog.get_logger(__name__)


class StartError(Exception):
    """The server cannot start; the text says why and what to do."""


@asynccontextmanager
async def running(
    settings: Settings, certificate: Certificate | None = None, drain: Drain | None = None
) -> AsyncIterator[str]:
    """Run a server for as long as the context lasts; yields its WebSocket URL. `drain` is requested by the operator.

    `certificate` is the one that the settings name, for a caller that reloads it; without it, it is opened here. Raises
    StartError if Redis does not answer, the certificate cannot be used, or the port cannot be bound.
    """
    certificate = certificate or _open_certificate(settings)
    async with AsyncExitStack() as stack:
        try:
            url = settings.redis_url
            if url is None:
                engine = embedded_redis(settings.data_dir, settings.redis_program, metrics.ENGINE_DEATHS.inc)
                url = await stack.enter_async_context(engine)
        except EmbeddedRedisError as reason:
            raise StartError(str(reason)) from reason
        try:
            # Connections of their own, so that many hellos at once do not delay the reading of a log, nor many reads a
            # heartbeat.
            redis, greeting, beating = make_client(url), make_client(url), make_client(url)
            listening = make_client(url, timeout_seconds=None)
        except ValueError as reason:
            examples = "redis://host:6379/0, or redis+cluster://host:6379,other:6379 for a Cluster"
            raise StartError(f"a Redis URL looks like {examples}, not {without_secrets(url)!r}") from reason
        for client in (redis, greeting, beating, listening):
            stack.push_async_callback(client.aclose)
        try:
            unfit = await describe_unfit(redis, url)
            if unfit is not None:
                raise StartError(unfit)
            key, durability = await load_deployment_key(redis), await read_durability(redis)
        except (RedisError, OSError) as reason:
            raise StartError(f"no Redis answers at {without_secrets(url)}: {reason}") from reason
        try:
            archive = _open_archive(settings.archive)
        except ArchiveUnavailable as reason:
            raise StartError(f"--archive: {reason}") from reason
        rooms = await stack.enter_async_context(serving_rooms(redis, beating, listening, key, settings, archive, drain))
        try:
            admin = await stack.enter_async_context(admin_port(settings, rooms))
            url = await stack.enter_async_context(
                public_port(
                    settings,
                    rooms,
                    Players(greeting),
                    PlayerRooms(greeting),
                    RoomOpenings(greeting),
                    Lobby(greeting),
                    Tickets(greeting),
                    Control(greeting),
                    durability,
                    certificate,
                )
            )
        except CannotListen as reason:
            # Raised after the stack has unwound: the task group in it would wrap the error in an exception group.
            failure = StartError(str(reason))
        else:
            metrics.WORKER_DEATHS.inc(settings.worker_deaths)
            metrics.DURABILITY.labels(durability.level).set(1)
            _LOG.info(Event.DURABILITY, durability=durability.level, promise=durability.promise)
            for warning in durability.warnings:
                _LOG.warning(Event.DURABILITY_PROBLEM, problem=warning)
            _LOG.info(Event.SERVING, version=installed_version(), url=url, admin=admin, process=rooms.process_id)
            yield url
            return
    raise failure


def _open_archive(destination: str | None) -> ArchiveReader | None:
    """Return the archive that the settings name, if they do. Raises ArchiveUnavailable, also for a missing folder."""
    if destination is None:
        return None
    return ArchiveReader(RecordArchive(open_place(destination, must_exist=True)))


def _open_certificate(settings: Settings) -> Certificate | None:
    """Return the certificate that the settings name, or None without one. Raises StartError."""
    try:
        return open_certificate(settings)
    except BadCertificate as reason:
        raise StartError(str(reason)) from reason


async def _serve_until_told(settings: Settings) -> None:
    """Run the server until SIGINT, SIGTERM, the end of standard input or of its terminal. Raises StartError."""
    allowed = raise_open_file_limit(settings.max_connections)
    if allowed < settings.max_connections:
        remedy = "raise the limit of open files (ulimit -Hn), or give a smaller --max-connections"
        _LOG.warning(Event.FEW_FILES, asked=settings.max_connections, allowed=allowed, remedy=remedy)
    loop, starting = asyncio.get_running_loop(), asyncio.current_task()
    told, reload_asked = asyncio.Event(), asyncio.Event()
    ends_with_terminal = dies_with_terminal()
    is_serving = False

    def stop() -> None:
        if told.is_set():
            return
        told.set()
        _LOG.info(Event.STOPPING)
        service_manager.notify_stopping()
        loop.call_later(STOP_SECONDS if settings.workers == 1 else WORKERS_SECONDS + 1.0, give_up_waiting)
        if not is_serving and starting is not None:
            # The start may be waiting for Redis, which takes long to read much data.
            starting.cancel()

    def hang_up() -> None:
        if ends_with_terminal and not has_terminal():
            stop()
        else:
            # Until the server serves, the event keeps the signal.
            reload_asked.set()

    on_signals(stop, "SIGINT", "SIGTERM")
    on_signals(hang_up, "SIGHUP")
    if settings.ends_with_input:
        loop.add_reader(sys.stdin.fileno(), read_input, stop)
    try:
        async with _running_process(settings, stop) if settings.workers == 1 else _running_workers(settings) as served:
            is_serving = True
            # The one line on standard output tells the process that started this one where it serves.
            print(served.url, flush=True)
            service_manager.notify_ready(served.url)
            async with _background(served.reload_when(reload_asked), service_manager.feed_watchdog()):
                await told.wait()
    except asyncio.CancelledError:
        if is_serving or not told.is_set():
            raise


@dataclass(frozen=True)
class _Served:
    """The URL of a server that serves, and what it does on SIGHUP."""

    url: str
    reload: Callable[[], Awaitable[None]]

    async def reload_when(self, asked: asyncio.Event) -> None:
        """Reload whenever `asked` is set, until cancelled. Requests during a reload are one further reload."""
        while True:
            await asked.wait()
            asked.clear()
            service_manager.notify_reloading()
            with contained(Part.RELOAD):
                await self.reload()
            service_manager.notify_ready(self.url)


@asynccontextmanager
async def _background(*works: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Run `works` while the context lasts; its end cancels them."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@asynccontextmanager
async def _running_process(settings: Settings, stop: Callable[[], None]) -> AsyncIterator[_Served]:
    """Run one process; a reload reads its certificate again, and `stop` is called when it has drained. Raises
    StartError.
    """
    certificate = _open_certificate(settings)

    async def reload() -> None:
        if certificate is None:
            _LOG.info(Event.NOTHING_TO_RELOAD, reason="SIGHUP reloads a certificate, and this server has none")
        else:
            certificate.reload()

    drain = Drain(_report_draining if settings.ends_with_input else _ignore, stop)
    async with running(settings, certificate, drain) as url:
        yield _Served(url, reload)


def _report_draining() -> None:
    """Let the supervisor start another worker in the place of this one."""
    os.write(sys.stdout.fileno(), DRAINING_LINE)


def _ignore() -> None:
    """Do nothing: a process without a supervisor has nobody to tell that it drains."""


@asynccontextmanager
async def _running_workers(settings: Settings) -> AsyncIterator[_Served]:
    """Run several processes on one port, and an embedded Redis if none is given; a reload replaces them one after the
    other. Raises StartError.
    """
    supervisor = Supervisor(settings)
    async with AsyncExitStack() as stack:
        try:
            url = settings.redis_url
            if url is None:
                engine = embedded_redis(settings.data_dir, settings.redis_program, supervisor.report_engine_death)
                url = await stack.enter_async_context(engine)
            url = await stack.enter_async_context(supervisor.serving(url))
            yield _Served(url, supervisor.rolling_restart)
        except (EmbeddedRedisError, WorkerError) as reason:
            raise StartError(str(reason)) from reason
        except OSError as reason:
            raise StartError(str(CannotListen(settings.host, settings.port, reason))) from reason


def serve() -> None:
    """Serve with the settings of the command line and of the environment, until told to stop."""
    try:
        settings = CliApp.run(Settings)
        configure_logs(settings.log_level)
        configure_gc()
        missing = describe_what_is_missing(settings)
        if missing is not None:
            raise StartError(missing)
        run_event_loop(_serve_until_told(settings))
    except ValidationError as reason:
        for error in reason.errors():
            option = f"--{str(error['loc'][0]).replace('_', '-')}: " if error["loc"] else ""
            print(f"fairest-server: {option}{error['msg'].removeprefix('Value error, ')}", file=sys.stderr)
        raise SystemExit(2) from None
    except StartError as reason:
        print(f"fairest-server: {reason}", file=sys.stderr)
        raise SystemExit(1) from None
