#!/usr/bin/env python3
"""Install the built package into empty environments without a compiler, and race in each: `.ci/environments.py`.

Builds the sdist, and the wheel from the sdist, and checks the contents of the wheel. Then, for each Python from 3.11 to
3.14 that is found (on the PATH or of pyenv) and each method (pip into a venv, pipx, uv tool), it installs the wheel
without any cache, and from each folder asks for the version, races a bot, starts a server, and lets two programs race
on that server. Only the installed programs are on the PATH, and CC is /bin/false. Prints a table in Markdown; exits 1
if a line of it failed.
"""

import argparse
import os
import re
import selectors
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

ROOT: Final = Path(__file__).parents[1]
MINORS: Final = (11, 12, 13, 14)
METHODS: Final = ("pip", "pipx", "uv")
FOLDERS: Final = ("empty", "hostile", "root")
INSTALL_SECONDS: Final = 900.0
RACE_SECONDS: Final = 120.0
START_SECONDS: Final = 60.0
PASSED_ON: Final = re.compile(r"PIP_|UV_|SSL_|REQUESTS_|LANG$|LC_|(https?|no)_proxy$", re.IGNORECASE)
"""The variables of this environment that installers need to reach an index."""
TRAPS: Final = ("server.py", "protocol.py", "redis.py", "fairest_server.py", "websockets.py", "typing.py", "asyncio.py")
TRAP: Final = "import pathlib\npathlib.Path(__file__).with_suffix('.executed').touch()\nraise SystemExit('trapped')\n"
PACKAGES: Final = ("protocol/fairest_protocol", "server/fairest_server", "client_cli/fairest_cli")
IGNORED: Final = {".pyc"}


class Failed(Exception):
    """A step failed; the text says which, and the last line that it printed."""


@dataclass(frozen=True)
class Line:
    """A line of the table. `race_seconds`: from the command to "Go!"; `server_seconds`: from the command to its URL."""

    python: str
    method: str
    folder: str
    install_seconds: float = 0.0
    race_seconds: float = 0.0
    server_seconds: float = 0.0
    failure: str = ""


def run(
    command: Sequence[str | Path], environment: Mapping[str, str], folder: Path, limit_seconds: float = INSTALL_SECONDS
) -> str:
    """Run a command to its end and return what it printed. Raises `Failed`."""
    words = [str(word) for word in command]
    try:
        done = subprocess.run(
            words,
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=limit_seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise Failed(f"{' '.join(words[:3])}: no end within {limit_seconds:.0f} s") from None
    if done.returncode:
        complaints = [line for line in (done.stderr + done.stdout).splitlines() if line.strip()] or ["no output"]
        errors = [line for line in complaints if re.search("error|cannot|no matching", line, re.IGNORECASE)]
        raise Failed(f"{Path(words[0]).name} {' '.join(words[1:3])}: {(errors or complaints)[-1].strip()}")
    return done.stdout


def find_pythons() -> Iterator[tuple[str, str]]:
    """Yield an interpreter for each minor version that is found and can make a venv: its version and its path."""
    for minor in MINORS:
        own = [sys.executable] if sys.version_info[1] == minor else []
        on_path = [path for path in (shutil.which(f"python3.{minor}"),) if path]
        of_pyenv = sorted(map(str, Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/python3")), reverse=True)
        # A shim of pyenv needs bash on the PATH; the program behind it does not.
        program = "import sys, venv, ensurepip; print('%d.%d.%d' % sys.version_info[:3], sys._base_executable)"
        for path in (*on_path, *of_pyenv, *own):
            asked = subprocess.run([path, "-c", program], capture_output=True, text=True, check=False)
            if asked.returncode == 0:
                version, _, base = asked.stdout.strip().partition(" ")
                yield version, base
                break
        else:
            print(f"No Python 3.{minor} that can make a venv was found.", file=sys.stderr)


def build(scratch: Path) -> tuple[Path, Path]:
    """Build the sdist, and from it the wheel; return the wheel, and the folder of the installers. Raises `Failed`."""
    tools, environment = scratch / "tools", dict(os.environ)
    run([sys.executable, "-m", "venv", tools], environment, scratch)
    run([tools / "bin/python", "-m", "pip", "install", "--quiet", "build", "pipx", "uv"], environment, scratch)
    run([tools / "bin/python", "-m", "build", "--outdir", scratch / "dist", ROOT], environment, scratch)
    [wheel] = (scratch / "dist").glob("*.whl")
    [sdist] = (scratch / "dist").glob("*.tar.gz")
    check_wheel(wheel)
    print(f"Built {sdist.name} ({sdist.stat().st_size >> 10} KiB), {wheel.name} ({wheel.stat().st_size >> 10} KiB)")
    return wheel, tools / "bin"


def check_wheel(wheel: Path) -> None:
    """Raise `Failed` unless the wheel holds every file of the three packages, and nothing else but its metadata."""
    expected = {
        str(path.relative_to((ROOT / package).parent))
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.is_file() and path.suffix not in IGNORED
    }
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
    if held != expected:
        raise Failed(f"{wheel.name} lacks {sorted(expected - held)}, and should not have {sorted(held - expected)}")


def install(wheel: Path, python: str, method: str, home: Path, tools: Path) -> tuple[Path, dict[str, str]]:
    """Install the wheel into an empty home; return the folder of the programs, and the environment. Raises `Failed`."""
    programs = home / "env/bin" if method == "pip" else home / ".local/bin"
    environment = {name: value for name, value in os.environ.items() if PASSED_ON.match(name)}
    environment |= {"HOME": str(home), "PATH": str(programs), "CC": "/bin/false", "CXX": "/bin/false"}
    environment |= {"PIP_NO_CACHE_DIR": "1", "UV_NO_CACHE": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    environment |= {"UV_PYTHON_DOWNLOADS": "never", "TMPDIR": str(home.parent)}
    if method == "pip":
        run([python, "-m", "venv", home / "env"], environment, home)
        run([programs / "python", "-m", "pip", "install", "--quiet", wheel], environment, home)
    elif method == "pipx":
        run([tools / "pipx", "install", "--quiet", "--python", python, wheel], environment, home)
    else:
        run([tools / "uv", "tool", "install", "--quiet", "--python", python, wheel], environment, home)
    return programs, environment


def make_folder(kind: str, home: Path) -> Path:
    """Return a folder of this kind to start programs from."""
    if kind == "root":
        return Path("/")
    folder = home / kind
    folder.mkdir()
    for name in TRAPS if kind == "hostile" else ():
        (folder / name).write_text(TRAP)
    return folder


class Output:
    """The output of a running process, read as far as it is waited for."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._text = ""

    def read_until(self, pattern: str, limit_seconds: float) -> str:
        """Return the first match of `pattern`. Raises `Failed` at the end of the output or after the limit."""
        deadline = time.monotonic() + limit_seconds
        with selectors.DefaultSelector() as selector:
            selector.register(self._stream, selectors.EVENT_READ)
            while not (found := re.search(pattern, self._text)):
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    break
                chunk = os.read(self._stream.fileno(), 65_536)
                if not chunk:
                    break
                self._text += chunk.decode(errors="replace")
        if found is None:
            line = (self._text.strip().splitlines() or ["nothing"])[-1]
            raise Failed(f"never printed {pattern!r}; at last {line!r}")
        return found[0]


@contextmanager
def started(command: Sequence[str | Path], environment: Mapping[str, str], folder: Path) -> Iterator[Output]:
    """Run a command without input for as long as the context lasts; yields its output. SIGTERM ends it."""
    with subprocess.Popen(
        [str(word) for word in command],
        cwd=folder,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        bufsize=0,
    ) as process:
        assert process.stdout is not None
        try:
            yield Output(process.stdout)
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()


def try_folder(programs: Path, environment: Mapping[str, str], folder: Path) -> tuple[float, float]:
    """Use the installed programs from a folder; return the seconds to a race and to a server. Raises `Failed`."""
    run([programs / "fairest", "--version"], environment, folder, START_SECONDS)
    since = time.monotonic()
    with started([programs / "fairest", "play"], environment, folder) as output:
        output.read_until(r"Go!", START_SECONDS)
        race_seconds = time.monotonic() - since
        output.read_until(r"The record is at", RACE_SECONDS)
    since = time.monotonic()
    with started([programs / "fairest-server", "--port", "0"], environment, folder) as output:
        url = output.read_until(r"(?m)^ws://\S+", START_SECONDS)
        server_seconds = time.monotonic() - since
        with started([programs / "fairest", "create", "--server", url], environment, folder) as room:
            code = room.read_until(r"[a-z]+(-[a-z]+)+", START_SECONDS)
            run([programs / "fairest", "bot", code, "--pace", "0", "--server", url], environment, folder, RACE_SECONDS)
            room.read_until(r"The record is at", RACE_SECONDS)
    executed = sorted(path.name for path in folder.glob("*.executed"))
    if executed:
        raise Failed(f"files of the current folder were executed: {executed}")
    return race_seconds, server_seconds


def try_environment(
    wheel: Path, version: str, python: str, method: str, folders: Sequence[str], tools: Path
) -> Iterator[Line]:
    """Yield the lines of one Python and one method, for each folder."""
    with tempfile.TemporaryDirectory(prefix="fairest-env-") as scratch:
        home = Path(scratch) / "home"
        home.mkdir()
        since = time.monotonic()
        try:
            programs, environment = install(wheel, python, method, home, tools)
        except Failed as reason:
            yield Line(version, method, "-", failure=str(reason))
            return
        install_seconds = time.monotonic() - since
        for kind in folders:
            try:
                seconds = try_folder(programs, environment, make_folder(kind, home))
                yield Line(version, method, kind, install_seconds, *seconds)
            except Failed as reason:
                yield Line(version, method, kind, install_seconds, failure=str(reason))


def main() -> int:
    """Print the table; return 1 if a line of it failed or there was no Python to try."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS)
    parser.add_argument("--folders", nargs="+", choices=FOLDERS, default=FOLDERS)
    parser.add_argument("--pythons", nargs="+", default=[], metavar="3.12", help="minor versions; without, all found")
    options = parser.parse_args()
    lines = []
    with tempfile.TemporaryDirectory(prefix="fairest-build-") as scratch:
        try:
            wheel, tools = build(Path(scratch))
        except Failed as reason:
            print(f"cannot build: {reason}", file=sys.stderr)
            return 1
        print("| Python | method | from folder | install, s | to the first race, s | server, s | |")
        print("|---|---|---|---|---|---|---|", flush=True)
        for version, python in find_pythons():
            if options.pythons and version.rpartition(".")[0] not in options.pythons:
                continue
            for method in options.methods:
                for line in try_environment(wheel, version, python, method, options.folders, tools):
                    lines.append(line)
                    figures = f"{line.install_seconds:.0f} | {line.race_seconds:.1f} | {line.server_seconds:.1f}"
                    verdict = f"- | - | - | {line.failure.replace('|', '/')}" if line.failure else f"{figures} | ok"
                    print(f"| {line.python} | {line.method} | {line.folder} | {verdict} |", flush=True)
    return int(not lines or any(line.failure for line in lines))


if __name__ == "__main__":
    sys.exit(main())
