"""A real Redis for the whole run, a real server for each test that asks for one, and a guard for processes."""

import faulthandler
import gc
import os
import shutil
import signal
import subprocess
from collections.abc import AsyncIterator, Generator, Iterator
from pathlib import Path

import pytest
import structlog
from hypothesis import HealthCheck, settings

from fairest_cli.bots.thinking import SHARED
from fairest_server.ops.logs import log_processors
from fairest_server.settings import Settings
from fairest_server.store.redis.batching_client import BatchingRedis
from fairest_server.store.redis.clients import make_client
from tests.support.collection import import_own_share
from tests.support.engine import VARIABLE, engine_program
from tests.support.page_modules import PAGE
from tests.support.processes import Fleet, RedisProcess, redis_process, serving_fleet
from tests.support.redis_cluster import RedisCluster, redis_cluster
from tests.support.run_guard import guarded_run

SECONDS_AFTER_FAILURE = 60.0


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--new-snapshots", action="store_true", help="write tests/client/snapshots anew")
    parser.addoption("--redis", help="the engine to test with, a valkey-server or redis-server; else the embedded one")


def pytest_configure(config: pytest.Config) -> None:
    """Log as a server process does, and have all servers run the engine that `--redis` names."""
    # A traceback by structlog's default, rich with all variables, holds up the event loop for seconds.
    structlog.configure(processors=log_processors(is_terminal=True))
    # A shell ignores the first of them for a job in the background, and `nohup` the second one. The programs that tests
    # interrupt, or whose terminals they close, would inherit it.
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
    wanted = config.getoption("--redis")
    if wanted:
        program = shutil.which(wanted)
        if program is None:
            raise pytest.UsageError(f"--redis: there is no program {wanted}")
        # A link is kept: Debian's redis-server is one to a program that does what its name says.
        os.environ[VARIABLE] = str(Path(program).absolute())


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Collect without the garbage collector, which finds nothing to free and takes a tenth of the time."""
    gc.disable()
    try:
        import_own_share(session.config)
        return (yield)
    finally:
        gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_exception_interact() -> None:
    """Limit what follows a test that has failed, too: both limits of pyproject.toml are taken back by then.

    A thread that never ends would hold up the end of the event loop, and with it the whole run.
    """
    faulthandler.dump_traceback_later(SECONDS_AFTER_FAILURE, exit=True)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print which engine the tests ran on."""
    program = engine_program()
    told = subprocess.run([program, "--version"], check=True, capture_output=True, text=True)
    terminalreporter.write_line(f"{program}: {told.stdout.strip()}")


settings.register_profile("short", deadline=None, max_examples=10, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("long", settings.get_profile("short"), max_examples=300)
settings.load_profile("short")


@pytest.fixture(scope="session", autouse=True)
def _no_process_is_left(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Fail the last test of a run that leaves processes behind, and kill them.

    The fixture is the first of all, so it ends last.
    """
    with guarded_run(tmp_path_factory.getbasetemp()) as run:
        # What was collected stays to the end: no collection of the garbage collector goes through it again. What a
        # test leaves is little, so it is collected 30 times more rarely than by default. That took a twentieth of the
        # time of tests of screens.
        gc.freeze()
        gc.set_threshold(20_000, 20, 50)
        yield
        SHARED.close()
        PAGE.end()
        left = run.wait_for_end()
        # pytest collects five times when it ends, so that no exception of a finalizer is lost. Twice is enough for what
        # our tests leave; its five then have nothing to go through, which saves a second of each worker.
        for _ in range(2):
            gc.collect()
        gc.freeze()
    assert not left, f"these processes were left behind: {left}"


@pytest.fixture(scope="session", autouse=True)
def _player_is_new(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep records, settings and logs of the run, and of its processes, apart from those of the person who tests."""
    with pytest.MonkeyPatch.context() as environment:
        for name in ("DATA", "CONFIG", "STATE"):
            environment.setenv(f"XDG_{name}_HOME", str(tmp_path_factory.mktemp(name.lower())))
        yield


@pytest.fixture(scope="session")
def _engine() -> Iterator[RedisProcess]:
    with redis_process("--appendonly", "no") as process:
        yield process


@pytest.fixture(scope="session")
def redis_server(_engine: RedisProcess) -> str:
    """Return the URL of a redis-server that lives as long as the test run."""
    return _engine.url


@pytest.fixture(scope="session")
def three_nodes() -> Iterator[RedisCluster]:
    """Yield a Cluster of three masters that lives as long as the test run."""
    with redis_cluster() as cluster:
        yield cluster


@pytest.fixture
def cluster(three_nodes: RedisCluster) -> RedisCluster:
    """Return the Cluster of the run, emptied."""
    three_nodes.flush()
    return three_nodes


@pytest.fixture
def redis_url(_engine: RedisProcess) -> Iterator[str]:
    """Yield the URL of the Redis of the run, emptied before the test, and after it for those that use the server."""
    _engine.call("FLUSHALL")
    yield _engine.url
    _engine.call("FLUSHALL")


@pytest.fixture
async def redis(redis_url: str) -> AsyncIterator[BatchingRedis]:
    """Yield our client of the emptied Redis."""
    client = make_client(redis_url)
    yield client
    await client.aclose()


@pytest.fixture
async def fleet(redis_url: str) -> AsyncIterator[Fleet]:
    """Yield a fleet of server processes on the Redis of the run; all that the test starts are killed at the end."""
    async with serving_fleet(redis_url) as started:
        yield started


@pytest.fixture(scope="session")
def _any_port() -> Settings:
    # Reading the environment takes 3 ms, which some hundred tests need not do again.
    return Settings(port=0)


@pytest.fixture
def settings_for_tests(_any_port: Settings, redis_url: str) -> Settings:
    """Return the settings of a server on any free port, on the Redis of the run."""
    return _any_port.model_copy(update={"redis_url": redis_url})


@pytest.fixture
async def server_url(settings_for_tests: Settings) -> AsyncIterator[str]:
    """Yield the URL of a server in this process, with real sockets and a real Redis."""
    # The process that hands out the tests loads this file before it starts the workers, and needs no server.
    from fairest_server.app import running

    async with running(settings_for_tests) as url:
        yield url
