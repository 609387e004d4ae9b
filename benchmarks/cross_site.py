"""A page of another site in a real browser can open a socket to a server only if the operator named its origin.

Needs Chromium (on Debian: apt install chromium). Both sites are one page on one port of this machine, under two names
that the browser is told to find here. The page sends hello as any client does, and reports the answer.
"""

import asyncio
import os
import shutil
import sys
import tempfile
from asyncio.subprocess import DEVNULL
from urllib.request import urlopen

from websockets.http11 import Request

from benchmarks.figure import Figure
from fairest_server.edge.http_pages import Page, PageRequest, make_responder, text_page
from fairest_server.edge.refusal_log import RefusalLog
from fairest_server.edge.server import Server
from fairest_server.edge.websocket import WebSocket
from fairest_server.settings import Settings
from tests.support.ports import free_port
from tests.support.processes import redis_process, serving_fleet

FOREIGN, NAMED = "evil.example", "friend.example"
WAIT_SECONDS = 60.0
PAGE = """\
<!doctype html>
<script>
  const socket = new WebSocket("SERVER", "fairest.v1");
  const report = (what) => fetch("/report?what=" + what);
  socket.onopen = () => socket.send('{"type":"hello"}');
  socket.onmessage = (event) => report(JSON.parse(event.data).type);
  socket.onerror = () => report("error");
</script>
"""


def measure_cross_site() -> list[Figure]:
    """Which of the two pages is welcomed, and whether the other one was refused for its origin."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        print("  cross_site needs Chromium, which is not installed: skipped", file=sys.stderr)
        return []
    foreign, named, turned_away = asyncio.run(_measure(chromium))
    print(f"  the page of {FOREIGN}: {foreign}; the page of {NAMED}, which --origins names: {named}", file=sys.stderr)
    return [
        Figure("cross_site_sockets_foreign", foreign == "welcome", "sockets", "0", holds=foreign == "error"),
        Figure("cross_site_sockets_named", named == "welcome", "sockets", "1", holds=named == "welcome"),
        Figure("cross_site_turned_away", turned_away, "requests", "1", holds=turned_away == 1),
    ]


async def _measure(chromium: str) -> tuple[str, str, float]:
    reports: asyncio.Queue[str] = asyncio.Queue()
    url = ""

    async def show(_: PageRequest) -> Page:
        return Page(PAGE.replace("SERVER", url).encode(), "text/html")

    async def report(request: PageRequest) -> Page:
        reports.put_nowait(request.params["what"])
        return text_page("thanks")

    site = Server(Settings(), make_responder({"/": show, "/report": report}, None), _serve_nobody, RefusalLog())
    with redis_process() as redis:
        async with serving_fleet(redis.url) as fleet:
            port, admin = await site.listen("127.0.0.1", 0), free_port()
            url = await fleet.start("--origins", f"http://{NAMED}:{port}", "--admin-port", str(admin))
            foreign = await _visit(chromium, f"http://{FOREIGN}:{port}/", reports)
            named = await _visit(chromium, f"http://{NAMED}:{port}/", reports)
            await site.close(1001, "", 1.0)
            return foreign, named, await asyncio.to_thread(_count_turned_away, admin)


async def _visit(chromium: str, address: str, reports: asyncio.Queue[str]) -> str:
    """Open the page in a browser of its own; return the first type that it reports."""
    with tempfile.TemporaryDirectory(prefix="fairest-chromium-", ignore_cleanup_errors=True) as profile:
        options = [
            "--headless=new",
            "--disable-gpu",
            "--no-first-run",
            "--no-proxy-server",
            f"--user-data-dir={profile}",
        ]
        options += [f"--host-resolver-rules=MAP {FOREIGN} 127.0.0.1, MAP {NAMED} 127.0.0.1"]
        # Chromium's sandbox does not run as root, the user of most containers.
        options += ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = await asyncio.create_subprocess_exec(chromium, *options, address, stdout=DEVNULL, stderr=DEVNULL)
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                return await reports.get()
        finally:
            browser.terminate()
            await browser.wait()


async def _serve_nobody(_: WebSocket, __: Request) -> None:
    """Open no WebSocket: the site has pages only."""


def _count_turned_away(admin_port: int) -> float:
    """The number of requests that the server refused for their origin, by its own metric."""
    with urlopen(f"http://127.0.0.1:{admin_port}/metrics", timeout=5) as answer:
        text = answer.read().decode()
    lines = [line for line in text.splitlines() if line.startswith('fairest_turned_away_total{reason="origin"}')]
    return sum(float(line.split()[1]) for line in lines)
