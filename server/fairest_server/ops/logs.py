"""The log of a process: one line for each event on standard error, for people on a terminal and as JSON elsewhere."""

import io
import logging
import os
import sys
from contextlib import suppress
from typing import TextIO, cast

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from fairest_server.ops.events import Event

_STAMPS: list[Processor] = [structlog.processors.add_log_level, structlog.processors.TimeStamper(fmt="iso")]


class LogOutput(io.TextIOBase):
    """The stream of the log. A line that it cannot write is lost: the terminal was closed, or the disk is full.

    An exception would end the connection or the stop that the line is about half-way.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str, /) -> int:
        """Write `text` if that is possible."""
        with suppress(OSError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Hand over to the system what was written, if that is possible."""
        with suppress(OSError):
            self._stream.flush()


def drop_unwritable_output() -> None:
    """Drop what standard output and standard error cannot write any more, such as to a terminal that was closed.

    Python would try to write it at its end, and replace the exit code by 120.
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)


def add_sentence(_: WrappedLogger, __: str, line: EventDict) -> EventDict:
    """Put the sentence of an event beside its name."""
    event = line["event"]
    return {**line, "sentence": event.sentence} if isinstance(event, Event) else line


def show_sentence(_: WrappedLogger, __: str, line: EventDict) -> EventDict:
    """Put the sentence of an event in the place of its name, for people."""
    event = line["event"]
    return {**line, "event": event.sentence} if isinstance(event, Event) else line


def log_processors(*, is_terminal: bool) -> list[Processor]:
    """Return the steps by which an event becomes a line.

    Tracebacks are Python's own, without the values of variables, among which are deals and secrets. Besides,
    structlog's default on a terminal, the traceback of `rich` with all variables, takes seconds, in which the event
    loop stands still.
    """
    console = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
    return [
        *_STAMPS,
        structlog.processors.format_exc_info,
        show_sentence if is_terminal else add_sentence,
        console if is_terminal else structlog.processors.JSONRenderer(),
    ]


def configure_logs(level: str = "info") -> None:
    """Send logs of `level` (`debug`, `info`, `warning`, `error`) and above to standard error.

    Warnings and errors of asyncio and of other libraries get the same form, and with `debug` all that these log. What
    `websockets` logs is left out: it has the frames, and with them the tokens of players.
    """
    lowest = logging.getLevelNamesMapping()[level.upper()]
    processors = log_processors(is_terminal=sys.stderr.isatty())
    output = cast("TextIO", LogOutput(sys.stderr))
    structlog.configure(
        processors=processors,
        logger_factory=structlog.PrintLoggerFactory(output),
        wrapper_class=structlog.make_filtering_bound_logger(lowest),
    )
    form = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=_STAMPS,
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *processors[len(_STAMPS) :]],
    )
    handler = logging.StreamHandler(output)
    handler.setFormatter(form)
    logging.basicConfig(
        handlers=[handler], level=logging.DEBUG if lowest == logging.DEBUG else max(lowest, logging.WARNING)
    )
    logging.getLogger("websockets").setLevel(logging.CRITICAL)
