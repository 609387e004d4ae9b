"""The modules of the web page, asked in Node: they answer what Python answers as well."""

import json
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.support.node import node_command

SCRIPT = Path(__file__).with_name("page_answers.mjs")
SECONDS = 200
"""The solver takes 47 s for its longest answer, on twenty games. A quick test ends before, by the limit of pytest."""


def ask_page(questions: Iterable[dict[str, Any]]) -> list[Any]:
    """Return the answers of the page to these questions; `ask` names each, see page_answers.mjs."""
    text = "".join(f"{json.dumps(question)}\n" for question in questions)
    command = [*node_command(), "--no-warnings", str(SCRIPT)]
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]
