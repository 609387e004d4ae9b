"""The page in a real Chromium: its bytes, the time to the first board over a slow line, frames, and memory.

The slow line is that of the browser's own emulation: each request waits 400 ms for its answer, which then comes with
1.6 Mbit/s. The emulation has no round trip to open a connection. Over a real line of this kind each of the three
connections takes 400 ms more, and with TLS 800: the markup, which draws the first board, the script, the WebSocket.
"""

import asyncio
import shutil
import statistics
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

from playwright.async_api import CDPSession, Page

from benchmarks.figure import Figure, median_of, written_down
from benchmarks.under_load import serving
from fairest_cli.bots.policies import choose_greedy
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_client import Create, Join, Rematch
from fairest_protocol.messages.options import RoomOptions
from tests.support.bots import Bot, bot
from tests.support.browser import PROGRAM, open_browser

MOST_BYTES = 150_000
LATENCY_MS = 400
BYTES_PER_SECOND = 200_000
BOARD_GOAL_MS = 1_000
REPEATS = 3
PACE_SECONDS = 0.1
WATCHED_SECONDS = 5
FRAMES_GOAL = 55.0
"""Of 60: a headless browser draws no more, and loses a frame here and there."""
MATCHES = 100
MEMORY_GOAL_MB = 60.0
NO_COUNTDOWN = RoomOptions(countdown_seconds=0)
NOTE_BOARD = """
new MutationObserver((_, observer) => {
  if (!document.querySelector("section.room:not([aria-busy])")) return;
  window.live = performance.now();
  observer.disconnect();
}).observe(document, { subtree: true, childList: true, attributes: true });
new MutationObserver((_, observer) => {
  if (!document.querySelector(".slot.pile")) return;
  window.firstBoard = performance.now();
  observer.disconnect();
}).observe(document, { subtree: true, childList: true });
"""
TIMES = """() => {
  const [index] = performance.getEntriesByType("navigation");
  const script = performance.getEntriesByType("resource").find(({ name }) => name.endsWith("joined.js"));
  return { index: index.responseEnd, script: script.responseEnd, live: window.live, board: window.firstBoard };
}"""
COUNT_FRAMES = """(seconds) => new Promise((done) => {
  const start = performance.now();
  let frames = 0;
  const count = (now) => {
    if (now - start > 1000 * seconds) done(frames / ((now - start) / 1000));
    frames += 1;
    requestAnimationFrame(count);
  };
  requestAnimationFrame(count);
})"""


def measure_page() -> list[Figure]:
    """All figures of the page; none on a machine without Chromium, which is said."""
    if PROGRAM is None or shutil.which(PROGRAM) is None:
        print("  there is no Chromium on the PATH: nothing is measured", file=sys.stderr)
        return []
    return asyncio.run(_measure())


async def _measure() -> list[Figure]:
    async with serving() as served:
        url = f"ws://127.0.0.1:{served.port}"
        return [*await _measure_loading(url), *await _measure_frames(url), *await _measure_memory(url)]


async def _measure_loading(url: str) -> list[Figure]:
    async with _racing(url) as room:
        sizes = await _bytes_of(url, room)
        loads = [await _load_slowly(url, room) for _ in range(REPEATS)]
    for load in loads:
        print(f"  {', '.join(f'{name} after {at:.0f} ms' for name, at in load.items())}", file=sys.stderr)
    parts = [
        written_down(f"page_{name}_ms", statistics.median(load[name] for load in loads), "ms") for name in loads[0]
    ]
    boards = [load["board"] for load in loads]
    return [
        Figure("page_bytes", sizes, "bytes", f"<= {MOST_BYTES}", sizes <= MOST_BYTES),
        *parts[:-1],
        *median_of("page_first_board_ms", boards, "ms", f"<= {BOARD_GOAL_MS}", lambda ms: ms <= BOARD_GOAL_MS),
    ]


async def _bytes_of(url: str, room: str) -> float:
    """Return all bytes, headers included, that a first visit of a room transfers over HTTP."""
    async with open_browser() as browser:
        page = await browser.blank()
        session = await page.context.new_cdp_session(page)
        await session.send("Network.enable")
        sizes: list[float] = []
        session.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
        await page.goto(_path(url, room))
        await page.wait_for_selector(".slot.pile")
        await page.wait_for_load_state("networkidle")
        return sum(sizes)


async def _load_slowly(url: str, room: str) -> dict[str, float]:
    """Return when markup, script, connection and first board were there, in ms, on a first visit over a slow line."""
    async with open_browser() as browser:
        page = await browser.blank()
        session = await page.context.new_cdp_session(page)
        await session.send("Network.enable")
        speed = {"downloadThroughput": BYTES_PER_SECOND, "uploadThroughput": BYTES_PER_SECOND}
        await session.send("Network.emulateNetworkConditions", {"offline": False, "latency": LATENCY_MS, **speed})
        await page.add_init_script(NOTE_BOARD)
        await page.goto(_path(url, room))
        await page.wait_for_selector("section.room:not([aria-busy]) .slot.pile")
        times: dict[str, float] = await page.evaluate(TIMES)
        return times


async def _measure_frames(url: str) -> list[Figure]:
    """Frames a second, and work of the page for each move that it shows, while two bots make 20 moves a second."""
    async with _racing(url, PACE_SECONDS) as room, open_browser() as browser:
        page = await browser.blank()
        session = await page.context.new_cdp_session(page)
        await session.send("Performance.enable")
        await page.goto(_path(url, room))
        await page.wait_for_selector(".slot.pile")
        before, moves = await _metrics(session), await _shown_cards(page)
        frames: float = await page.evaluate(COUNT_FRAMES, WATCHED_SECONDS)
        after, moves = await _metrics(session), await _shown_cards(page) - moves
    work_ms = 1000 * (after["TaskDuration"] - before["TaskDuration"])
    print(f"  {frames:.1f} frames a second, {work_ms:.0f} ms of work for {moves} moves", file=sys.stderr)
    return [
        Figure("page_frames_per_second", frames, "", f">= {FRAMES_GOAL}", frames >= FRAMES_GOAL),
        written_down("page_ms_per_move", work_ms / max(moves, 1), "ms"),
    ]


async def _shown_cards(page: Page) -> int:
    """Return how many cards have been turned on both boards: each of them was moved once, at least."""
    script = (
        "(labels) => labels.reduce((sum, { textContent }) => sum + 47 - Number(/; (\\d+) in/.exec(textContent)[1]), 0)"
    )
    turned: int = await page.eval_on_selector_all(".stock .label", script)
    return turned


async def _measure_memory(url: str) -> list[Figure]:
    """The heap of a spectator's tab, and its nodes and listeners, after a hundred matches in one room."""
    first = bot(url, Create(options=NO_COUNTDOWN), seed=1)
    async with open_browser() as browser, asyncio.TaskGroup() as races:
        playing = [races.create_task(_play_on(first, MATCHES))]
        room = await first.connection.entered()
        page = await browser.blank()
        session = await page.context.new_cdp_session(page)
        await session.send("Performance.enable")
        await page.goto(_path(url, room))
        await page.wait_for_selector(".end input")
        playing.append(races.create_task(_play_on(bot(url, Join(room=room), seed=2), MATCHES)))
        await asyncio.gather(*playing)
        await page.wait_for_selector("h2.outcome")
        await session.send("HeapProfiler.collectGarbage")
        found = await _metrics(session)
        faults = browser.faults
    print(f"  {found}, faults {faults}", file=sys.stderr)
    heap = found["JSHeapUsedSize"] / 1e6
    return [
        Figure("page_heap_mb_after_100_matches", heap, "MB", f"<= {MEMORY_GOAL_MB}", heap <= MEMORY_GOAL_MB),
        written_down("page_nodes_after_100_matches", found["Nodes"], ""),
        written_down("page_listeners_after_100_matches", found["JSEventListeners"], ""),
    ]


async def _play_on(player: Bot, matches: int) -> None:
    """Race match after match in one room, as fast as the server answers; leave after so many."""
    played, last = 0, None
    async with aclosing(player.connection.updates()) as updates:
        async for update in updates:
            model = update.model
            if update.message is None or model.own is None or model.scene is None:
                continue
            if model.phase is Phase.READY and not model.own.entropy_hash:
                await player.connection.get_ready()
            elif model.phase is Phase.FINISHED and model.scene.match != last:
                last, played = model.scene.match, played + 1
                if played == matches:
                    return
                await player.connection.request(Rematch())
            elif model.may_send_next_move and model.board is not None and any(model.board.legal_moves()):
                await player.connection.play(choose_greedy(model.board, player.chance))


@asynccontextmanager
async def _racing(url: str, pace_seconds: float = 2.0) -> AsyncIterator[str]:
    """Yield a room in which two bots race at this pace."""
    first = bot(url, Create(options=NO_COUNTDOWN), 1, pace_seconds)
    async with asyncio.TaskGroup() as races:
        racing = [races.create_task(first.race())]
        room = await first.connection.entered()
        second = bot(url, Join(room=room), 2, pace_seconds)
        racing.append(races.create_task(second.race()))
        await first.has_moved.wait()
        yield room
        for task in racing:
            task.cancel()


async def _metrics(session: CDPSession) -> dict[str, Any]:
    found = await session.send("Performance.getMetrics")
    return {each["name"]: each["value"] for each in found["metrics"]}


def _path(url: str, room: str) -> str:
    return f"{url.replace('ws', 'http', 1).rstrip('/')}/r/{room}"
