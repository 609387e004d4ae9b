"""`fairest-server key`: the private key of a deployment, saved, put back and given up."""

import os
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Annotated

import typer
from redis.asyncio import Redis

from fairest_server.commands.asking import VerbFailed, run
from fairest_server.commands.operator_redis import DEFAULT_DATA_DIR, DataDir, RedisProgram, RedisUrl, operator_redis
from fairest_server.live.signing import SigningKey
from fairest_server.store.control import Control
from fairest_server.store.redis.clients import make_client
from fairest_server.store.redis.embedded import embedded_redis
from fairest_server.store.redis.embedded_engine import EmbeddedRedisError
from fairest_server.store.signing_key import PRIVATE_KEY_BYTES, forget_private_key, put_private_key, read_private_key

key = typer.Typer(no_args_is_help=True, help="Save the private key of the deployment, put it back, or give it up.")

KeyFile = Annotated[Path, typer.Argument(metavar="FILE", help="The file of the private key, 32 bytes.")]


@key.command()
def save(file: KeyFile, redis_url: RedisUrl = None, data_dir: DataDir = DEFAULT_DATA_DIR) -> None:
    """Write the private key of running servers to a new file that only its owner can read; print the public key."""
    run(_save(file, redis_url, data_dir))


@key.command()
def load(
    file: KeyFile,
    redis_url: RedisUrl = None,
    data_dir: DataDir = DEFAULT_DATA_DIR,
    redis_program: RedisProgram = None,
) -> None:
    """Make a saved key the key of the deployment, with all servers stopped; print the public key."""
    run(_load(file, _stopped_redis(redis_url, data_dir, redis_program)))


@key.command()
def forget(
    redis_url: RedisUrl = None, data_dir: DataDir = DEFAULT_DATA_DIR, redis_program: RedisProgram = None
) -> None:
    """Give the key up, with all servers stopped: the next one to start draws another."""
    run(_forget(_stopped_redis(redis_url, data_dir, redis_program)))


async def _save(file: Path, redis_url: str | None, data_dir: Path) -> None:
    async with operator_redis(redis_url, data_dir) as redis:
        private = await read_private_key(redis)
    if private is None:
        raise VerbFailed("this Redis has no key yet; the first server that starts on it draws one")
    try:
        _write_private(file, private)
    except OSError as reason:
        raise VerbFailed(f"cannot write {file}: {reason.strerror}") from reason
    print(SigningKey(private).public.hex())


async def _load(file: Path, stopped: AbstractAsyncContextManager[Redis]) -> None:
    try:
        private = file.read_bytes()
    except OSError as reason:
        raise VerbFailed(f"cannot read {file}: {reason.strerror}") from reason
    if len(private) != PRIVATE_KEY_BYTES:
        raise VerbFailed(f"{file} is not a private key: it has {len(private)} bytes instead of {PRIVATE_KEY_BYTES}")
    async with stopped as redis:
        await put_private_key(redis, private)
    print(SigningKey(private).public.hex())


async def _forget(stopped: AbstractAsyncContextManager[Redis]) -> None:
    async with stopped as redis:
        await forget_private_key(redis)


@asynccontextmanager
async def _stopped_redis(redis_url: str | None, data_dir: Path, program: Path | None) -> AsyncIterator[Redis]:
    """Yield the Redis of servers that are stopped: a running one would put its own key back. Raises VerbFailed."""
    if redis_url is None:
        try:
            async with embedded_redis(data_dir, program) as url, make_client(url) as redis:
                yield redis
        except EmbeddedRedisError as reason:
            raise VerbFailed(str(reason)) from reason
        return
    async with operator_redis(redis_url, data_dir) as redis:
        living = await Control(redis).living()
        if living:
            raise VerbFailed(
                f"{len(living)} server processes run here and would put their key back; stop them, wait 3 seconds"
            )
        yield redis


def _write_private(file: Path, private: bytes) -> None:
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as opened:
        opened.write(private)
        opened.flush()
        os.fsync(opened.fileno())


def add_to(operator: typer.Typer) -> None:
    """Add the commands of this module."""
    operator.add_typer(key, name="key")
