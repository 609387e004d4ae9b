"""`fairest-server archive`: move records of old matches out of Redis."""

import asyncio
import sys
from pathlib import Path
from typing import Annotated

import typer
from redis.exceptions import RedisError

from fairest_server.archive.mover import Moved, move_records
from fairest_server.archive.places import ArchiveUnavailable, open_place
from fairest_server.archive.record_archive import RecordArchive
from fairest_server.commands.operator_redis import DEFAULT_DATA_DIR, DataDir, NoRedis, RedisUrl, operator_redis
from fairest_server.commands.reporting import fail, make_progress, without_full_stop

Destination = Annotated[
    str, typer.Argument(help="A folder, or a URL that fsspec can write to: s3://bucket/prefix (pip install s3fs).")
]
OlderThan = Annotated[
    float, typer.Option(min=0, metavar="DAYS", help="Move the records of matches that finished longer ago than this.")
]


def archive(
    dest: Destination, older_than: OlderThan = 30.0, redis_url: RedisUrl = None, data_dir: DataDir = DEFAULT_DATA_DIR
) -> None:
    """Move records of finished matches from Redis to a folder or to object storage, beside running servers.

    Each record is proved, written, and read back before it is deleted in Redis. The exit code is 1 if a record had to
    be left in Redis because of a fault.
    """
    try:
        moved = asyncio.run(_archive(dest, older_than, redis_url, data_dir))
    except (NoRedis, ArchiveUnavailable) as reason:
        fail(str(reason))
    except (RedisError, OSError) as reason:
        fail(
            f"Redis does not answer any more: {without_full_stop(reason)}. The records so far are in the archive; "
            "run the command again"
        )
    for sentence in moved.broken:
        print(f"left in Redis: {sentence}", file=sys.stderr)
    print(describe_moved(moved, older_than))
    if moved.broken:
        raise SystemExit(1)


def describe_moved(moved: Moved, older_than_days: float) -> str:
    """Return a summary in a sentence."""
    broken = f", {len(moved.broken)} broken ones left in Redis" if moved.broken else ""
    return f"{moved.moved} records moved, {moved.kept} younger than {older_than_days:g} days left in Redis{broken}."


async def _archive(dest: str, older_than_days: float, redis_url: str | None, data_dir: Path) -> Moved:
    show = make_progress()

    def on_progress(moved: Moved) -> None:
        show(f"{moved.seen} records seen, {moved.moved} moved")

    records = RecordArchive(open_place(dest))
    async with operator_redis(redis_url, data_dir) as redis:
        await asyncio.to_thread(records.remove_abandoned)
        return await move_records(redis, records, older_than_days, on_progress)
