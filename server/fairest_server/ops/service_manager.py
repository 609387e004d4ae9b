"""Messages to the service manager that started the server, by the protocol of systemd (`man sd_notify`).

systemd names a datagram socket in `NOTIFY_SOCKET` to the services whose unit has `Type=notify`. Without the variable,
nothing is sent.
"""

import asyncio
import os
import socket
import time
from typing import Final

import structlog

from fairest_server.ops.events import Event

VARIABLES: Final = ("NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID")
"""The environment variables of the protocol. They are meant for one process, so its children do not get them."""

_LOG = structlog.get_logger(__name__)


def notify(*assignments: str) -> None:
    """Send assignments such as `READY=1` in one message. A manager that does not take them is logged, no more."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address:
        return
    if address.startswith("@"):
        address = "\0" + address[1:]  # the abstract name space of Linux
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sending:
            # A manager that hangs fills its buffer; the event loop must not wait for it.
            sending.setblocking(False)
            sending.connect(address)
            sending.send("\n".join(assignments).encode())
    except OSError as reason:
        _LOG.warning(Event.MANAGER_NOT_NOTIFIED, message=assignments[0], reason=str(reason))


def notify_ready(url: str) -> None:
    """Report that the server serves at `url`, at its start or after a reload."""
    notify("READY=1", f"STATUS=serving {url}")


def notify_reloading() -> None:
    """Report the begin of a reload, which `notify_ready` ends."""
    notify("RELOADING=1", f"MONOTONIC_USEC={time.monotonic_ns() // 1_000}")


def notify_stopping() -> None:
    """Report that the server ends."""
    notify("STOPPING=1", "STATUS=stopping")


async def feed_watchdog() -> None:
    """Report every half of `WatchdogSec=` that the event loop turns, until cancelled; return if no watchdog is set."""
    microseconds, process_id = os.environ.get("WATCHDOG_USEC", ""), os.environ.get("WATCHDOG_PID", "")
    if not microseconds.isdecimal() or process_id not in ("", str(os.getpid())):
        return
    while True:
        notify("WATCHDOG=1")
        await asyncio.sleep(int(microseconds) / 2_000_000)
