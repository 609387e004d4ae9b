"""The cost of a room with a long past: entering it, its record, a rematch, and the end of a match.

A room server on a Redis of its own, in this process, whose CPU is measured; Redis has its own. The longest step is
the most CPU that the event loop has spent between two turns of a task that does nothing, which is what a message of
another client waits for.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from time import thread_time

from benchmarks.figure import Figure, written_down
from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.moves import Move
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.options import RoomOptions
from fairest_server.live.room_server import RoomServer
from fairest_server.ops.gc_policy import configure_gc
from fairest_server.store import keys
from fairest_server.store.redis.batching_client import BatchingRedis
from fairest_server.store.redis.clients import make_client
from tests.support.isolated_room import RecordingSubscriber
from tests.support.processes import redis_process
from tests.support.rematches import NO_COUNTDOWN, Pair
from tests.support.room_server import serving_room_server, soon

STEP_MS = 5.0
"""The goal: the longest step that any message of a client may cause."""
REPEATS = 3
BEAT_SECONDS = 0.5
CLASSIC_MATCHES = 150
SENIOR_MATCHES = 20
LONG_MATCH = RoomOptions(rules="senior", redeals=2, best_of=9, countdown_seconds=0)


def measure_old_rooms() -> list[Figure]:
    """Rooms after one and many matches of classic and of senior, and after nine rounds of senior."""
    configure_gc()
    return asyncio.run(_measure())


async def _measure() -> list[Figure]:
    senior = NO_COUNTDOWN.model_copy(update={"rules": "senior"})
    figures: list[Figure] = []
    with redis_process() as process:
        redis = make_client(process.url)
        async with serving_room_server(redis, process.url) as here, _beating(here):
            for name, options, matches in (
                ("classic_1", NO_COUNTDOWN, 1),
                (f"classic_{CLASSIC_MATCHES}", NO_COUNTDOWN, CLASSIC_MATCHES),
                (f"senior_{SENIOR_MATCHES}", senior, SENIOR_MATCHES),
                ("senior_of_9_rounds", LONG_MATCH, 1),
            ):
                figures += await _measure_room(name, options, matches, here, redis, process.url)
        await redis.aclose()
    return figures


async def _measure_room(
    name: str, options: RoomOptions, matches: int, here: RoomServer, redis: BatchingRedis, redis_url: str
) -> list[Figure]:
    pair = RacingPair(here, options)
    await pair.sit_down()
    for number in range(matches):
        if number:
            await pair.ask_for_rematch()
        while not pair.state.match_is_over:
            await pair.race_round()
        await pair.wait_for_record()
    redis_bytes = int(await redis.memory_usage(keys.log(pair.room.code), samples=0) or 0)
    costs: dict[str, list[float]] = {}
    async with serving_room_server(redis, redis_url, "0123cdef") as there:
        there.clock.beat(await there.log.now_ms())

        async def enter() -> None:
            """Watch the room in a process that has not opened it, and leave."""
            spectator = RecordingSubscriber("0123cdef-1", "watch")
            room = await there.entrance.watch(pair.room.code, spectator)
            assert room is not None
            room.unsubscribe(spectator)

        async def get_record() -> None:
            await there.find_record(pair.room.code, None)

        for measure in (_cpu_ms, _longest_step_ms):
            for name_of_action, action in (("enter", enter), ("get_record", get_record)):
                await action()
                costs.setdefault(name_of_action, []).append(min([await measure(action) for _ in range(REPEATS)]))
            costs.setdefault("rematch", []).append(await measure(pair.ask_for_rematch))
            while not pair.state.match_is_over:
                await pair.race_round(upto_end=False)
                there.clock.beat(await there.log.now_ms())
                entered = min([await measure(enter) for _ in range(REPEATS)])
                ended = await measure(pair.end_round)
            costs.setdefault("enter_late", []).append(entered)
            costs.setdefault("end", []).append(ended)
    figures = [written_down(f"old_room_{name}_kib", redis_bytes / 1024, "KiB")]
    for action_name, (cpu_ms, longest_ms) in costs.items():
        figures.append(written_down(f"old_room_{name}_{action_name}_ms", cpu_ms, "ms"))
        holds = longest_ms <= STEP_MS
        figures.append(
            Figure(f"old_room_{name}_{action_name}_step_ms", longest_ms, "ms", f"<= {STEP_MS:g}", holds=holds)
        )
    return figures


@asynccontextmanager
async def _beating(rooms: RoomServer) -> AsyncIterator[None]:
    """Let the rooms hear Redis' clock, as the heartbeat of a process does."""

    async def beat() -> None:
        while True:
            rooms.clock.beat(await rooms.log.now_ms())
            await asyncio.sleep(BEAT_SECONDS)

    beating = asyncio.create_task(beat())
    await asyncio.sleep(BEAT_SECONDS)
    yield
    beating.cancel()
    with suppress(asyncio.CancelledError):
        await beating


async def _cpu_ms(action: Callable[[], Awaitable[object]]) -> float:
    """Return the CPU of this process for an action, in ms."""
    started = thread_time()
    await action()
    return (thread_time() - started) * 1000


async def _longest_step_ms(action: Callable[[], Awaitable[object]]) -> float:
    """Return the most CPU between two turns of a task that does nothing, while an action lasts, in ms."""
    longest = 0.0

    async def watch_steps() -> None:
        nonlocal longest
        before = thread_time()
        while True:
            await asyncio.sleep(0)
            now = thread_time()
            longest, before = max(longest, now - before), now

    watching = asyncio.create_task(watch_steps())
    await asyncio.sleep(0)
    await action()
    await asyncio.sleep(0)
    watching.cancel()
    with suppress(asyncio.CancelledError):
        await watching
    return longest * 1000


class RacingPair(Pair):
    """Two players who play their rounds to the end, as well as they can without thinking."""

    async def race_round(self, *, upto_end: bool = True) -> None:
        """Deal the next round and race it, to its end or up to the last moves."""
        await self.start_round()
        for _ in range(10_000):
            race = self.state.race
            if self.state.phase is not Phase.RACING or race is None:
                return
            seats = [seat for seat, racer in enumerate(race.racers) if not racer.ending]
            if not upto_end and len(race.racers[seats[0]].ahead) == 0:
                return
            for seat in seats:
                self.play(seat, choose(race.racers[seat].board).text, race.racers[seat].moves + 1)
            while self.state.race is race:  # noqa: ASYNC110  # `soon` would take 10 ms for each of thousands of moves
                await asyncio.sleep(0)

    async def end_round(self) -> None:
        """Let one player resign, and wait until the round is over and a match that is over has its record."""
        race = self.state.race
        if self.state.phase is Phase.RACING and race is not None:
            seat = next(seat for seat, racer in enumerate(race.racers) if not racer.ending)
            self.play(seat, "resign", race.racers[seat].moves + 1)
        await self.reach(Phase.FINISHED)
        await self.wait_for_record()

    async def wait_for_record(self) -> None:
        """Wait until the match that is over has its record, and nothing is done for the room any more."""
        await soon(lambda: not self.state.unrecorded_match, "the record is stored")
        await soon(lambda: not self.rooms.registry.cutter.is_under_way(self.room), "nothing is being cut")


def choose(board: Board) -> Move:
    """Choose a move to a foundation if there is one."""
    moves = list(board.legal_moves())
    return next((move for move in moves if move.text[1:2].isdigit()), moves[0])
