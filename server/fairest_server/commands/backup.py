"""`fairest-server backup` and `restore`: all data as one file, taken while servers run, and the way back."""

import asyncio
import errno
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from redis.exceptions import RedisError

from fairest_server.backup.data_dir import restore_data_dir
from fairest_server.backup.export import CannotExport, export_entries
from fairest_server.backup.file import BackupFacts, BackupFile, BadBackup, check_backup
from fairest_server.backup.restoring import CannotRestore, Restored, restore_entries
from fairest_server.commands.operator_redis import (
    DEFAULT_DATA_DIR,
    DataDir,
    NoRedis,
    RedisProgram,
    RedisUrl,
    operator_redis,
)
from fairest_server.commands.reporting import fail, make_progress, without_full_stop
from fairest_server.store.redis.embedded_engine import EmbeddedRedisError


def backup(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder for the file; it is made if missing.")],
    redis_url: RedisUrl = None,
    data_dir: DataDir = DEFAULT_DATA_DIR,
) -> None:
    """Write everything that the servers keep in Redis into one file, while races go on; print its path.

    Only its owner may read the file: it holds the private key and the decks of races under way.
    """
    try:
        print(asyncio.run(_backup(folder, redis_url, data_dir)))
    except (NoRedis, CannotExport, BadBackup) as reason:
        fail(str(reason))
    except RedisError as reason:
        fail(f"Redis does not answer any more: {without_full_stop(reason)}; there is no backup")
    except OSError as reason:
        room = " Free some space, or give another folder." if reason.errno == errno.ENOSPC else ""
        fail(f"cannot write to {folder}: {reason.strerror}; there is no backup.{room}")


def restore(
    file: Annotated[Path, typer.Argument(help="A file that `backup` wrote.")],
    redis_url: RedisUrl = None,
    data_dir: DataDir = DEFAULT_DATA_DIR,
    redis_program: RedisProgram = None,
) -> None:
    """Write a backup into an empty Redis, or into a new data folder, with all servers stopped.

    The file is checked before anything is written. A restore that was killed may be run again.
    """
    try:
        facts = check_backup(file)
        restored = asyncio.run(_restore(file, facts, redis_url, data_dir, redis_program))
    except (NoRedis, BadBackup, CannotRestore, EmbeddedRedisError) as reason:
        fail(str(reason))
    except RedisError as reason:
        fail(
            f"Redis does not take the backup: {without_full_stop(reason)}. Servers do not start on it; "
            "run the command again"
        )
    except OSError as reason:
        fail(f"cannot restore {file}: {reason.strerror}")
    taken = datetime.fromtimestamp(facts.taken_at_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    kept = restored.entries - restored.expired
    print(f"{kept} entries restored of the backup of {taken}; {restored.expired} have expired since.")


async def _backup(folder: Path, redis_url: str | None, data_dir: Path) -> Path:
    show = make_progress()
    async with operator_redis(redis_url, data_dir) as redis:
        seconds, microseconds = await redis.time()
        file = BackupFile(folder, seconds * 1000 + microseconds // 1000)
        try:
            async for entry in export_entries(redis):
                file.add(entry)
                show(f"{file.entries} entries written")
            return file.finish()
        finally:
            file.discard()


async def _restore(
    file: Path, facts: BackupFacts, redis_url: str | None, data_dir: Path, redis_program: Path | None
) -> Restored:
    show = make_progress()

    def on_progress(restored: Restored) -> None:
        show(f"{restored.entries} of {facts.entries} entries restored")

    if redis_url is None:
        return await restore_data_dir(data_dir, redis_program, file, facts, on_progress)
    async with operator_redis(redis_url, data_dir) as redis:
        return await restore_entries(redis, file, facts, on_progress)
