"""Disks without room: a limit on the size of files, which everybody may set, and a small file system of its own."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

resource = pytest.importorskip("resource", reason="Windows has no limit on the size of files")


@contextmanager
def no_file_longer_than(size: int) -> Iterator[None]:
    """Let the system refuse, in this process, what would make a file longer than `size` bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextmanager
def small_disk(place: Path, kibibytes: int = 256) -> Iterator[Path]:
    """Mount a file system of this size at `place`; skip the test where that is not allowed."""
    place.mkdir()
    mount = shutil.which("mount")
    if mount is None or os.geteuid() != 0:
        pytest.skip("only root may mount a small disk")
    command = [mount, "-t", "tmpfs", "-o", f"size={kibibytes}k", "tmpfs", str(place)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"no small disk can be mounted here: {done.stderr.strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def fill(disk: Path) -> Path:
    """Fill a disk to its last byte with a file, and return its path."""
    path = disk / "filling"
    with path.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            if file.write(bytes(512)) < 512:
                break
    return path
