"""Faults below Redis and around it: a power cut, a full disk, a wrong clock, a user that is deleted."""

import asyncio
import fcntl
import os
import signal
import struct
from pathlib import Path

from benchmarks.histories.scenarios import ALWAYS, EVERY_SECOND, Fault, Scenario, SkippedError, kill_server
from benchmarks.histories.world import World, call, free_port

SHUT_DOWN_FILE_SYSTEM = 0x8004587D
"""The ioctl with which ext4 and xfs stop as in a power cut."""
WITHOUT_FLUSHING = struct.pack("I", 2)
DISK_MIB = 64
FAKETIME = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1"
"""Of the Debian package `faketime`."""
PASSWORD = "only-for-this-run"


async def _run(*command: str) -> None:
    process = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.PIPE)
    _, errors = await process.communicate()
    if process.returncode:
        raise SkippedError(f"{' '.join(command)}: {errors.decode().strip()}")


def on_a_disk(*options: str) -> Fault:
    """Return a preparation: an engine whose data are on an ext4 of their own, in a file."""

    async def prepare(world: World) -> None:
        if os.geteuid() != 0:
            raise SkippedError("only root may mount a file system")
        image, disk = world.folder / "disk.img", world.folder / "disk"
        image.touch()
        os.truncate(image, DISK_MIB << 20)
        disk.mkdir()
        await _run("mkfs.ext4", "-q", str(image))
        await _run("mount", "-o", "loop", str(image), str(disk))
        world.mounts.append(disk)
        engine = world.engine(*options, data=disk)
        await asyncio.to_thread(engine.start)
        await world.serve(3, engine.url)

    return prepare


async def cut_power(world: World) -> None:
    """Stop the file system as in a power cut: only what was flushed is there when it is mounted again.

    The engine dies first, within a millisecond: a flush that is under way while the file system stops may be reported
    as done, and no machine without power could acknowledge anything after that. This cannot imitate a disk that lies
    about a flush.
    """
    engine, disk = world.engines[0], world.mounts[0]
    await asyncio.to_thread(engine.kill)
    handle = os.open(disk, os.O_RDONLY)
    fcntl.ioctl(handle, SHUT_DOWN_FILE_SYSTEM, WITHOUT_FLUSHING)
    os.close(handle)
    servers = [world.chance.choice(world.servers)] if world.chance.random() < 0.3 else []
    for server in servers:
        await asyncio.to_thread(server.kill)
    await _run("umount", str(disk))
    await _run("mount", "-o", "loop", str(world.folder / "disk.img"), str(disk))
    await asyncio.to_thread(engine.start)
    for server in servers:
        await asyncio.to_thread(server.start)


async def fill_disk(world: World) -> None:
    """Fill the disk of the engine, wait, free it; start the engine again if it has ended itself."""
    engine, filler = world.engines[0], world.mounts[0] / "filler"
    await asyncio.to_thread(_fill, filler)
    await asyncio.sleep(world.chance.uniform(1.0, 4.0))
    filler.unlink()
    assert engine.process is not None
    if engine.process.poll() is not None:
        world.ended_engines += 1
        await asyncio.to_thread(engine.start)


def _fill(path: Path) -> None:
    with path.open("wb", buffering=0) as file:
        for size in (1 << 20, 1 << 12, 1):
            try:
                while file.write(bytes(size)) == size:
                    pass
            except OSError:
                continue


async def with_a_faked_clock(world: World) -> None:
    """Start an engine whose clock is a file's."""
    if not Path(FAKETIME).exists():
        raise SkippedError("libfaketime is not installed (apt-get install faketime)")
    clock = world.folder / "clock"
    clock.write_text("+0")
    environment = {"LD_PRELOAD": FAKETIME, "FAKETIME_TIMESTAMP_FILE": str(clock), "FAKETIME_NO_CACHE": "1",
                   "FAKETIME_DONT_FAKE_MONOTONIC": "1"}  # fmt: skip
    engine = world.engine(*EVERY_SECOND, environment=environment)
    await asyncio.to_thread(engine.start)
    await world.serve(2, engine.url)


async def with_a_fast_clock(world: World) -> None:
    """Start an engine whose clock gains 3 seconds a minute."""
    await with_a_faked_clock(world)
    (world.folder / "clock").write_text("+0 x1.05")


async def step_clock(world: World) -> None:
    """Step the clock of the engine a minute ahead, and back."""
    clock = world.folder / "clock"
    clock.write_text("+60")
    await asyncio.sleep(world.chance.uniform(0.5, 4.0))
    clock.write_text("+0")


async def step_clock_back(world: World) -> None:
    """Step the clock of the engine five seconds back, for good."""
    clock = world.folder / "clock"
    clock.write_text(f"{int(clock.read_text()) - 5:+d}")


async def with_a_user(world: World) -> None:
    """Start an engine that the servers reach as a user with a password."""
    port = free_port()
    engine = world.engine(*EVERY_SECOND, port=port)
    await asyncio.to_thread(engine.start)
    give_user(world)
    await world.serve(2, f"redis://fairest:{PASSWORD}@127.0.0.1:{port}")


def give_user(world: World) -> None:
    """Make the user, with the rights that docs/operations.md names."""
    rights = "~fairest:*", "&fairest:*", "+@all"
    call(world.engines[0].socket, "ACL", "SETUSER", "fairest", "reset", "on", f">{PASSWORD}", *rights)


async def delete_user(world: World) -> None:
    """Delete the user of the servers; make it again after some seconds."""
    call(world.engines[0].socket, "ACL", "DELUSER", "fairest")
    await asyncio.sleep(world.chance.uniform(0.5, 4.0))
    give_user(world)


async def take_rights(world: World) -> None:
    """Take all commands from the user of the servers; give them back after some seconds."""
    call(world.engines[0].socket, "ACL", "SETUSER", "fairest", "-@all")
    await asyncio.sleep(world.chance.uniform(0.5, 4.0))
    give_user(world)


async def freeze_server(world: World) -> None:
    """Stop a server process with SIGSTOP for 4 seconds, so that the others take it for dead."""
    server = world.chance.choice(world.servers)
    assert server.process is not None
    server.process.send_signal(signal.SIGSTOP)
    await asyncio.sleep(4.0)
    server.process.send_signal(signal.SIGCONT)


CUT = {"cut the power": cut_power}
STORAGE = {
    "power_cut_always": Scenario(on_a_disk(*ALWAYS), CUT, (2.0, 5.0)),
    "power_cut_everysec": Scenario(on_a_disk(*EVERY_SECOND), CUT, (4.0, 7.0), loss_is_allowed=True),
    "disk_full_always": Scenario(on_a_disk(*ALWAYS), {"fill the disk": fill_disk}, (5.0, 8.0)),
    "disk_full_everysec": Scenario(on_a_disk(*EVERY_SECOND), {"fill the disk": fill_disk}, (5.0, 8.0)),
    "clock_steps": Scenario(
        with_a_faked_clock,
        {"step a minute ahead and back": step_clock, "step 5 s back": step_clock_back},
        (4.0, 8.0),
        # A clock that was set back makes deadlines late by as much.
        end_seconds=300.0,
    ),
    "clock_drifts": Scenario(with_a_fast_clock, {"kill a server": kill_server}, tolerance_s=2.0),
    "user_deleted": Scenario(
        with_a_user, {"delete the user": delete_user, "take all its rights": take_rights}, (5.0, 8.0)
    ),
    "server_stopped": Scenario(with_a_user, {"stop a server for 4 s": freeze_server}, (5.0, 8.0)),
}
