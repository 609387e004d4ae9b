"""The log of a process: one line for each event on standard error, for people on a terminal and as JSON elsewhere."""

import logging
import sys

import structlog
from structlog.typing import Processor

_STAMPS: list[Processor] = [structlog.processors.add_log_level, structlog.processors.TimeStamper(fmt="iso")]


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
        console if is_terminal else structlog.processors.JSONRenderer(),
    ]


def configure_logs() -> None:
    """Send logs to standard error; warnings and errors of asyncio and of other libraries get the same form."""
    processors = log_processors(is_terminal=sys.stderr.isatty())
    structlog.configure(
        processors=processors,
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
    )
    form = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=_STAMPS,
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *processors[len(_STAMPS) :]],
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(form)
    logging.basicConfig(handlers=[handler], level=logging.WARNING)
    logging.getLogger("websockets").setLevel(logging.CRITICAL)
