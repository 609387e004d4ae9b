"""Restoring a backup into a new data folder of the embedded Redis: whole, or not at all."""

import os
from collections.abc import Callable
from pathlib import Path

from redis.asyncio import Redis

from fairest_server.backup.file import BackupFacts
from fairest_server.backup.restoring import CannotRestore, Restored, restore_entries
from fairest_server.ops.disk import sync_folder
from fairest_server.store.redis.clients import make_client
from fairest_server.store.redis.embedded import embedded_redis


async def restore_data_dir(
    data_dir: Path, program: Path | None, path: Path, facts: BackupFacts, on_progress: Callable[[Restored], None]
) -> Restored:
    """Fill a folder beside `data_dir` and give it its name when everything is on the disk.

    The engine is `program`, or the one that a server would choose. `data_dir` must be missing or empty. A killed
    restore leaves the folder beside, which the next one empties. Raises `CannotRestore`, `EmbeddedRedisError`,
    `BadBackup`, OSError and RedisError.
    """
    data_dir = data_dir.absolute()
    if data_dir.exists() and (not data_dir.is_dir() or any(data_dir.iterdir())):
        raise CannotRestore(f"{data_dir} is not empty; stop its server and move it away, or give another --data-dir")
    beside = data_dir.with_name(f".{data_dir.name}.restoring")
    async with embedded_redis(beside, program) as url:
        redis = make_client(url, timeout_seconds=None)
        try:
            await _prepare(redis)
            restored = await restore_entries(redis, path, facts, on_progress)
        finally:
            await redis.aclose()
    for name in ("lock", "redis.log", "redis.sock"):
        (beside / name).unlink(missing_ok=True)
    # An empty folder gives way; a server that has started there meanwhile does not.
    os.rename(beside, data_dir)  # noqa: PTH104 - Path.rename says less
    sync_folder(data_dir.parent)
    return restored


async def _prepare(redis: Redis) -> None:
    """Empty the engine of what a killed restore left, and let it answer only for what is on the disk."""
    await redis.flushall()
    await redis.config_set("appendfsync", "always")
