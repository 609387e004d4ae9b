"""The modules of the web page, asked in Node: they answer what Python answers as well."""

import json
import subprocess
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from tests.support.node import node_command

SCRIPT = Path(__file__).with_name("page_answers.mjs")


class PageInNode:
    """A process of Node that holds the modules of the page: it is started by the first question, and by the first one
    after it has failed. To start it takes 0.2 s, as long as hundreds of answers.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._errors: IO[str] | None = None
        """A file: a pipe that nobody reads would stop Node once it is full."""

    def answer(self, question: dict[str, Any]) -> Any:
        """Return the answer to a question. Raises AssertionError with what Node says if it has none."""
        process = self._process = self._process or self._start()
        assert process.stdin is not None and process.stdout is not None and self._errors is not None
        with suppress(BrokenPipeError):
            process.stdin.write(f"{json.dumps(question)}\n")
            process.stdin.flush()
        line = process.stdout.readline()
        if not line:
            process.wait()
            self._errors.seek(0)
            raise AssertionError(self._errors.read())
        return json.loads(line)

    def end(self) -> None:
        """End the process, if one runs: what it answers after a failure would be taken for the next answer."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None
        if self._errors is not None:
            self._errors.close()
            self._errors = None

    def _start(self) -> subprocess.Popen[str]:
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 (`end` closes it)
        return subprocess.Popen(
            [*node_command(), "--no-warnings", str(SCRIPT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )


PAGE = PageInNode()
"""The one of this process, which the fixtures end with the run."""


def ask_page(questions: Iterable[dict[str, Any]]) -> list[Any]:
    """Return the answers of the page to these questions; `ask` names each, see page_answers.mjs."""
    try:
        return [PAGE.answer(question) for question in questions]
    except BaseException:
        PAGE.end()
        raise
