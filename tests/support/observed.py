"""A server process as its operator sees it: its log, line by line, and its metrics, scraped from the admin port."""

import asyncio
import json
import urllib.request
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prometheus_client.parser import text_string_to_metric_families

from tests.support.processes import SERVER_COMMAND, START_SECONDS, end_process
from tests.support.waiting import until

Scrape = dict[str, float]
"""The value of each series, by its name and labels as Prometheus writes them: `fairest_faults_total{where="log"}`."""
SCRAPE_SECONDS = 10.0


@dataclass
class ObservedServer:
    """A server process, its URL, and the file that it writes its log to."""

    process: asyncio.subprocess.Process
    log: Path
    url: str = ""

    def lines(self, event: str) -> list[dict[str, Any]]:
        """Return the lines of the log with this event."""
        found = [json.loads(line) for line in self.log.read_text().splitlines() if line.startswith("{")]
        return [line for line in found if line["event"] == event]

    async def logged(self, event: str, count: int = 1) -> list[dict[str, Any]]:
        """Wait until the log has `count` lines of this event; return them."""

        async def are_there() -> bool:
            return len(self.lines(event)) >= count

        await until(are_there, f"{count} times {event} is in the log")
        return self.lines(event)

    async def scrape(self) -> Scrape:
        """Return the metrics of a server that is a single process."""
        return await scrape(self.lines("serving")[0]["admin"])


async def scrape(admin_url: str) -> Scrape:
    """Return the metrics under this admin URL. Raises OSError if nobody answers there."""
    text = await asyncio.to_thread(_read, f"{admin_url}/metrics")
    samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    return {_series(sample.name, sample.labels): sample.value for sample in samples}


def _read(url: str) -> str:
    with urllib.request.urlopen(url, timeout=SCRAPE_SECONDS) as response:
        return str(response.read().decode())


def _series(name: str, labels: dict[str, str]) -> str:
    written = ",".join(f'{label}="{value}"' for label, value in labels.items())
    return f"{name}{{{written}}}" if written else name


@asynccontextmanager
async def observed_server(log: Path, *options: str, wrapper: tuple[str, ...] = ()) -> AsyncIterator[ObservedServer]:
    """A server process on any free port with these options, started by `wrapper` if given; ended at the end."""
    command = [*wrapper, *SERVER_COMMAND, "--port", "0", *options]
    with log.open("wb") as written:
        process = await asyncio.create_subprocess_exec(*command, stdout=PIPE, stderr=written)
    server = ObservedServer(process, log)
    try:
        assert process.stdout is not None
        async with asyncio.timeout(START_SECONDS):
            server.url = (await process.stdout.readline()).decode().strip()
        assert server.url, log.read_text()
        yield server
    finally:
        await end_process(process)
