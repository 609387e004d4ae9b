#!/usr/bin/env python3
"""Run the Dockerfile's instructions without a container engine, on a root file system as its base image has it.

`.ci/image.py BASE` needs root, and in the folder BASE a system with Python under /usr/local, and without a compiler.
Each stage is built in a copy of BASE by chroot, with an empty environment; then the entry point runs as the image's
user, on a root file system that is mounted read-only, and this plays a race against it. PIP_... variables of the
environment go into the build, as `--build-arg` would hand them in; `--bind FOLDER` shows it a folder of this machine,
such as a package index.
"""

import argparse
import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
START_SECONDS: Final = 30.0
PATH: Final = "/usr/local/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(frozen=True)
class Instruction:
    """One instruction of a Dockerfile: its word in capitals, and the rest of its line."""

    word: str
    rest: str

    @property
    def values(self) -> list[str]:
        """The words of the rest, of a JSON list as well, without options such as `--from=build`."""
        if self.rest.startswith("["):
            return [str(each) for each in json.loads(self.rest)]
        return [word for word in shlex.split(self.rest) if not word.startswith("--")]

    def option(self, name: str) -> str | None:
        """Return the value of `--name=value`, None without it."""
        found = re.search(rf"--{name}=(\S+)", self.rest)
        return found.group(1) if found else None


def parse_dockerfile(text: str) -> list[list[Instruction]]:
    """Return the stages of a Dockerfile, each from its FROM on. Comments are left out, continued lines are joined."""
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    stages: list[list[Instruction]] = []
    for line in re.sub(r"\\\n\s*", "", "\n".join(lines)).splitlines():
        word, _, rest = line.partition(" ")
        if word == "FROM":
            stages.append([])
        stages[-1].append(Instruction(word.upper(), rest.strip()))
    return stages


def is_in_context(path: str, ignore: str) -> bool:
    """Whether a path of the checkout is sent to a container engine, by a .dockerignore of `*`, names and `!names`."""
    sent = True
    for line in ignore.splitlines():
        pattern = line.strip()
        if pattern and not pattern.startswith("#"):
            keeps, pattern = pattern.startswith("!"), pattern.lstrip("!")
            parts = path.split("/")
            heads = ["/".join(parts[: end + 1]) for end in range(len(parts))]
            if any(fnmatch(each, pattern) for each in (parts if pattern.startswith("**/") else heads)) or (
                pattern.startswith("**/") and pattern[3:] in parts
            ):
                sent = keeps
    return sent


@dataclass
class Stage:
    """A stage that is being built: its root file system, and what its instructions have set."""

    root: Path
    env: dict[str, str] = field(default_factory=lambda: {"PATH": PATH, "HOME": "/"})
    user: str = "0:0"
    folder: str = "/"
    entry_point: tuple[str, ...] = ()
    health_check: tuple[str, ...] = ()
    volumes: tuple[str, ...] = ()


class Builder:
    """The stages of a Dockerfile, built one after the other in copies of a base system."""

    def __init__(self, base: Path, scratch: Path, binds: list[Path]) -> None:
        self._base, self._scratch, self._binds = base, scratch, binds
        self._stages: dict[str, Stage] = {}

    def build(self, text: str, ignore: str) -> Stage:
        """Build all stages; return the last. Raises CalledProcessError for a command that fails."""
        stage = Stage(self._scratch)
        for instructions in parse_dockerfile(text):
            _, _, name = instructions[0].rest.partition(" AS ")
            stage = Stage(self._scratch / f"stage-{len(self._stages)}")
            self._stages[name or str(len(self._stages))] = stage
            subprocess.run(["cp", "-a", "--", self._base, stage.root], check=True)
            for instruction in instructions:
                began = time.monotonic()
                self._execute(stage, instruction, ignore)
                print(f"{time.monotonic() - began:6.1f} s  {instruction.word} {instruction.rest[:100]}", flush=True)
        return stage

    def _execute(self, stage: Stage, instruction: Instruction, ignore: str) -> None:
        match instruction.word:
            case "RUN":
                self._run(stage, instruction.rest)
            case "COPY":
                self._copy(stage, instruction, ignore)
            case "ENV":
                for assignment in instruction.values:
                    name, _, value = assignment.partition("=")
                    stage.env[name] = value.replace("$PATH", stage.env["PATH"])
            case "WORKDIR":
                stage.folder = instruction.rest
                (stage.root / instruction.rest.lstrip("/")).mkdir(parents=True, exist_ok=True)
            case "USER":
                stage.user = instruction.rest
            case "VOLUME":
                stage.volumes += tuple(instruction.values)
            case "ENTRYPOINT":
                stage.entry_point = tuple(instruction.values)
            case "HEALTHCHECK":
                stage.health_check = tuple(json.loads(instruction.rest.partition("CMD ")[2]))
            case "FROM" | "LABEL" | "EXPOSE":
                pass
            case other:
                raise NotImplementedError(f"the Dockerfile has {other}, which .ci/image.py does not run")

    def _run(self, stage: Stage, command: str) -> None:
        mounts = [f"mount -t proc proc {stage.root}/proc", f"mount --bind /dev {stage.root}/dev"]
        for each in (Path("/etc/resolv.conf"), Path("/etc/ssl/certs"), *self._binds):
            target = stage.root / each.relative_to("/")
            if each.is_dir():
                target.mkdir(parents=True, exist_ok=True)
            else:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.touch()
            mounts.append(f"mount --bind -o ro {each} {target}")
        inside = f"cd {stage.folder} && {command}"
        given = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
        run_in(stage, mounts, ["/bin/sh", "-c", inside], given)

    def _copy(self, stage: Stage, instruction: Instruction, ignore: str) -> None:
        origin = instruction.option("from")
        *sources, target = instruction.values
        for source in sources:
            if origin is None and not is_in_context(source, ignore):
                raise FileNotFoundError(f"COPY {source}: .dockerignore keeps it out")
            found = (self._stages[origin].root if origin else ROOT) / source.lstrip("/")
            place = stage.root / (target if target.startswith("/") else f"{stage.folder}/{target}").lstrip("/")
            if found.is_dir():
                shutil.copytree(found, place, symlinks=True, dirs_exist_ok=True, ignore=_ignored(origin, ignore))
            else:
                shutil.copy(found, place)


def _ignored(origin: str | None, ignore: str) -> Callable[[str, list[str]], list[str]]:
    """Return the callback of `copytree` by which .dockerignore counts for files of the checkout."""

    def leave_out(folder: str, names: list[str]) -> list[str]:
        if origin is not None:
            return []
        inside = os.path.relpath(folder, ROOT)
        return [name for name in names if not is_in_context(f"{inside}/{name}", ignore)]

    return leave_out


def chroot_command(stage: Stage, mounts: list[str], command: list[str], given: dict[str, str]) -> list[str]:
    """Return a command that runs `command` in a stage, with its environment, user and mounts, and nothing else."""
    env = [f"{name}={value}" for name, value in (stage.env | given).items()]
    user = stage.user if ":" in stage.user else f"{stage.user}:{stage.user}"
    chroot = ["chroot", f"--userspec={user}", "--groups=", str(stage.root), "/usr/bin/env", "-i", *env, *command]
    script = " && ".join([*mounts, f"exec {shlex.join(chroot)}"])
    return ["unshare", "--mount", "--propagation", "private", "sh", "-c", script]


def run_in(stage: Stage, mounts: list[str], command: list[str], given: dict[str, str]) -> None:
    """Run a command in a stage to its end. Raises CalledProcessError if it fails."""
    subprocess.run(chroot_command(stage, mounts, command, given), check=True)


def read_only_mounts(stage: Stage, data: Path) -> list[str]:
    """Return mounts as of `docker run --read-only --tmpfs /tmp`, with a folder for each volume."""
    mounts = [f"mount --bind {stage.root} {stage.root}", f"mount -o remount,ro,bind {stage.root}"]
    mounts += [f"mount -t proc proc {stage.root}/proc", f"mount --bind /dev {stage.root}/dev"]
    mounts.append(f"mount -t tmpfs tmpfs {stage.root}/tmp")
    for volume in stage.volumes:
        # A new volume takes over the content and the owner of the folder that it is mounted on.
        kept = data / volume.lstrip("/")
        subprocess.run(["cp", "-a", "--", stage.root / volume.lstrip("/"), kept], check=True)
        mounts.append(f"mount --bind {kept} {stage.root}{volume}")
    return mounts


@contextmanager
def serving(stage: Stage, data: Path, port: int) -> Iterator[subprocess.Popen[str]]:
    """Run the entry point on a read-only root file system; ended by SIGTERM, as `docker stop` ends it."""
    command = chroot_command(stage, read_only_mounts(stage, data), list(stage.entry_point), {"FAIREST_PORT": str(port)})
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=(data / "log").open("w"), text=True) as server:
        try:
            yield server
        finally:
            if server.poll() is None:
                server.send_signal(signal.SIGTERM)
            try:
                server.wait(10)
            except subprocess.TimeoutExpired:
                server.kill()


def play(url: str, home: Path) -> str:
    """Race two clients of this checkout against each other; return the last lines that the second one wrote."""
    env = os.environ | {"HOME": str(home), "XDG_DATA_HOME": str(home)}
    client = [sys.executable, "-P", "-m", "fairest_cli"]
    with subprocess.Popen(
        [*client, "create", "--name", "ann", "--countdown", "0", "--server", url],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        env=env,
    ) as creator:
        assert creator.stdout is not None
        text = ""
        while not (found := re.search(r"fairest join ([a-z-]+)", text)):
            line = creator.stdout.readline()
            if not line:
                raise SystemExit(f"no room was created: {text}")
            text += line
        command = [*client, "bot", found.group(1), "--server", url]
        done = subprocess.run(command, env=env, timeout=120, check=True, capture_output=True, text=True)
        creator.communicate(timeout=60)
        if creator.returncode:
            raise SystemExit(f"the client that created the room ended with {creator.returncode}")
    return "\n".join(done.stdout.splitlines()[-3:])


def main() -> None:
    """Build, serve, check health, play, stop."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("base", type=Path)
    parser.add_argument("--bind", type=Path, action="append", default=[])
    chosen = parser.parse_args()
    for compiler in ("gcc", "cc", "clang"):
        if any((chosen.base / folder / compiler).exists() for folder in ("usr/bin", "usr/local/bin")):
            raise SystemExit(f"{chosen.base} has {compiler}, so this would not show that the image needs no compiler")
    with tempfile.TemporaryDirectory(prefix="fairest-image-") as folder, socket.socket() as free:
        scratch, data = Path(folder), Path(folder) / "volumes"
        scratch.chmod(0o755)
        data.mkdir()
        stage = Builder(chosen.base.absolute(), scratch, chosen.bind).build(
            (ROOT / "Dockerfile").read_text(), (ROOT / ".dockerignore").read_text()
        )
        size = sum(file.lstat().st_size for file in (stage.root / "opt/fairest").rglob("*") if not file.is_dir())
        print(f"{size / 2**20:.0f} MiB of our own on top of the base image")
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        began = time.monotonic()
        with serving(stage, data, port) as server:
            assert server.stdout is not None
            url = server.stdout.readline().strip()
            if not url:
                raise SystemExit((data / "log").read_text())
            status = Path(f"/proc/{server.pid}/status").read_text()
            user = re.search(r"Uid:\s+(\d+)", status)
            print(f"serves {url} after {time.monotonic() - began:.1f} s as user {user and user.group(1)}")
            mounts = [f"mount -t proc proc {stage.root}/proc"]
            run_in(stage, mounts, list(stage.health_check), {"FAIREST_PORT": str(port)})
            print("healthy")
            print(play(f"ws://127.0.0.1:{port}", Path(folder)))
        print(f"ended with {server.returncode}")
        raise SystemExit(server.returncode)


if __name__ == "__main__":
    main()
