#!/usr/bin/env python3
"""Build the image with buildah, run it on a read-only root file system as its own user, and play a race against it.

`.ci/image.py` needs root and Debian's `buildah`, and no container engine: RUN steps and the entry point run in a
chroot, with the environment, the user, the volumes and the health check that the image names. `--base FOLDER` takes a
root file system in the place of python:3.13-slim, where no registry of images can be reached: Debian's minimum
(debootstrap --variant=minbase) with Python in /usr/local, and without a compiler. `--bind PATH` shows the build a file
or folder of this machine, such as /etc/pip.conf or a package index.
"""

import argparse
import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[1]
BASE_IMAGE: Final = "docker.io/library/python:3.13-slim"
BASE_PATH: Final = "/usr/local/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin"
COMPILERS: Final = ("gcc", "cc", "clang")
STOP_SECONDS: Final = 10.0
RACE_SECONDS: Final = 120.0


class Buildah:
    """Buildah on a storage of its own below `scratch`, which is removed with it."""

    def __init__(self, scratch: Path) -> None:
        self._command = ["buildah", "--storage-driver", "vfs", "--root", str(scratch / "root")]
        self._command += ["--runroot", str(scratch / "run")]

    def read(self, *arguments: str) -> str:
        """Run a command and return what it writes. Raises CalledProcessError."""
        done = subprocess.run([*self._command, *arguments], check=True, stdout=subprocess.PIPE, text=True)
        return done.stdout.strip()

    def run(self, *arguments: str) -> None:
        """Run a command that writes to this terminal. Raises CalledProcessError."""
        subprocess.run([*self._command, *arguments], check=True)

    def import_base(self, folder: Path) -> None:
        """Make an image of the base's name from a root file system."""
        container = self.read("from", "scratch")
        self.run("copy", "--quiet", container, str(folder), "/")
        self.run("config", "--env", f"PATH={BASE_PATH}", container)
        self.run("commit", "--quiet", container, BASE_IMAGE)
        self.run("rm", container)


@dataclass(frozen=True)
class Image:
    """An image whose root file system is mounted at `root`, with its configuration."""

    root: Path
    config: dict[str, Any]

    def command(self, mounts: list[str], command: list[str], *variables: str) -> list[str]:
        """Return a command that runs `command` in the image, with its environment and user, and with `mounts`."""
        env = ["HOME=/", *self.config["Env"], *variables]
        chroot = ["chroot", f"--userspec={self.config['User']}", "--groups=", str(self.root)]
        script = " && ".join([*mounts, "exec " + shlex.join([*chroot, "/usr/bin/env", "-i", *env, *command])])
        return ["unshare", "--mount", "--propagation", "private", "sh", "-c", script]

    def read_only_mounts(self, volumes: Path) -> list[str]:
        """Return mounts as of `docker run --read-only --tmpfs /tmp`, with a folder below `volumes` for each volume."""
        mounts = [f"mount --bind {self.root} {self.root}", f"mount -o remount,ro,bind {self.root}"]
        mounts += [f"mount -t proc proc {self.root}/proc", f"mount --bind /dev {self.root}/dev"]
        mounts.append(f"mount -t tmpfs tmpfs {self.root}/tmp")
        for volume in self.config["Volumes"]:
            # A new volume takes over the content and the owner of the folder that it is mounted on.
            kept = volumes / volume.lstrip("/")
            subprocess.run(["cp", "-a", "--", f"{self.root}{volume}", kept], check=True)
            mounts.append(f"mount --bind {kept} {self.root}{volume}")
        return mounts

    @contextmanager
    def serving(self, scratch: Path, port: int) -> Iterator[subprocess.Popen[str]]:
        """Run the entry point on a read-only root file system; ended by SIGTERM, as `docker stop` ends it."""
        volumes = scratch / "volumes"
        volumes.mkdir()
        command = self.command(self.read_only_mounts(volumes), self.config["Entrypoint"], f"FAIREST_PORT={port}")
        with (
            (scratch / "log").open("w") as log,
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True) as server,
        ):
            try:
                yield server
            finally:
                server.send_signal(signal.SIGTERM)
                try:
                    server.wait(STOP_SECONDS)
                except subprocess.TimeoutExpired:
                    server.kill()


def build(buildah: Buildah, binds: list[str]) -> Image:
    """Build the image and mount it. Raises CalledProcessError."""
    options = [f"--volume={path}:{path}:ro" for path in ("/etc/ssl/certs", *binds)]
    buildah.run(
        "build", "--isolation=chroot", "--format=docker", "--pull=missing", *options, "--tag=fairest", str(ROOT)
    )
    config: dict[str, Any] = json.loads(buildah.read("inspect", "--type=image", "fairest"))["Docker"]["config"]
    return Image(Path(buildah.read("mount", buildah.read("from", "--pull=never", "fairest"))), config)


def play(url: str, home: Path) -> str:
    """Race two clients of this checkout against each other; return the last lines that the second one wrote."""
    env = os.environ | {"HOME": str(home), "XDG_DATA_HOME": str(home)}
    client = [sys.executable, "-P", "-m", "fairest_cli"]
    creation = [*client, "create", "--name", "ann", "--countdown", "0", "--server", url]
    with subprocess.Popen(creation, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, env=env) as creator:
        assert creator.stdout is not None
        text = ""
        while not (found := re.search(r"fairest join ([a-z-]+)", text)):
            line = creator.stdout.readline()
            if not line:
                raise SystemExit(f"no room was created: {text}")
            text += line
        command = [*client, "bot", found.group(1), "--pace", "0", "--server", url]
        done = subprocess.run(command, env=env, timeout=RACE_SECONDS, check=True, capture_output=True, text=True)
        creator.communicate(timeout=RACE_SECONDS)
        if creator.returncode:
            raise SystemExit(f"the client that created the room ended with {creator.returncode}")
    return "\n".join(done.stdout.splitlines()[-3:])


def try_out(image: Image, scratch: Path) -> int:
    """Serve, check health, play and stop; return the exit code of the server."""
    found = [
        name for name in COMPILERS for folder in ("usr/bin", "usr/local/bin") if (image.root / folder / name).exists()
    ]
    if found:
        raise SystemExit(f"the image has {found[0]}, so this does not show that it needs no compiler")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    began = time.monotonic()
    with image.serving(scratch, port) as server:
        assert server.stdout is not None
        if not server.stdout.readline():
            raise SystemExit((scratch / "log").read_text())
        status = Path(f"/proc/{server.pid}/status").read_text()
        user = re.findall(r"^Uid:\s+(\d+)", status, re.MULTILINE)[0]
        print(f"serves after {time.monotonic() - began:.1f} s as user {user}, on a read-only root file system")
        check = image.config["Healthcheck"]["Test"]
        assert check[0] == "CMD"
        subprocess.run(image.command([], check[1:], f"FAIREST_PORT={port}"), check=True)
        print("is healthy")
        print(play(f"ws://127.0.0.1:{port}", scratch))
    print(f"ended with exit code {server.returncode}")
    return server.returncode


def main() -> None:
    """Build the image and try it out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", type=Path)
    parser.add_argument("--bind", action="append", default=[])
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="fairest-image-") as folder:
        scratch = Path(folder)
        scratch.chmod(0o755)  # the image's user enters it
        buildah = Buildah(scratch)
        if chosen.base is not None:
            buildah.import_base(chosen.base)
        raise SystemExit(try_out(build(buildah, chosen.bind), scratch))


if __name__ == "__main__":
    main()
