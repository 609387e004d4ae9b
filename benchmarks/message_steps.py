"""The longest step on the event loop that each message causes whose room has a long past.

A match of nine rounds of senior in its last round, the longest log that a room keeps: it is cut behind matches that are
recorded. The server measures the CPU of the turns of its loop (`turn_watch`), all of the edge included. Each message is
sent several times where it can be, and the shortest of its longest steps counts: a garbage collection takes up to
9 ms, and is caused by no message.
"""

import asyncio
import json
import os
import secrets
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from benchmarks.figure import Figure, written_down
from benchmarks.old_rooms import LONG_MATCH, STEP_MS, choose
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.messages.daily import Daily, PlayDaily
from fairest_protocol.messages.fields import Message, Phase
from fairest_protocol.messages.from_client import (
    AskFinish,
    Create,
    GetLobby,
    GetRecord,
    Hello,
    Join,
    Leave,
    LeaveQueue,
    Ping,
    Play,
    Queue,
    Ready,
    Rematch,
    Renew,
    Resume,
    Reveal,
    Watch,
)
from fairest_protocol.messages.from_server import FromServer, Left, LeftQueue, Placed, Queued, Renewed, Watching
from fairest_protocol.messages.tournaments import (
    CreateTournament,
    JoinTournament,
    LeaveTournament,
    PlayTournament,
    RaceTournament,
    ReadyTournament,
    RevealTournament,
    StartTournament,
    WatchTournament,
)
from fairest_protocol.value import replace
from fairest_server.edge.pair_maker import LOOK_SECONDS
from fairest_server.edge.race_queue import MAX_TICKETS
from fairest_server.store.processes import Processes
from fairest_server.store.redis.clients import make_client
from fairest_server.store.tickets import Change, Ticket, Tickets
from tests.support import raw_http
from tests.support.processes import Fleet, redis_process, serving_fleet
from tests.support.wire_client import WireClient, open_client, open_raw_client

LIMITS = (
    *("--messages-per-second", "100000", "--messages-burst", "100000", "--connections-per-address", "1000"),
    *("--players-per-address", "100000", "--rooms-per-address", "100000", "--rounds-per-address", "100000"),
    *("--rooms-per-player", "100000"),
)
REPEATS = 4
OLD_DAY = "2020-01-01"
"""A day that has no daily deal: a deployment has one when its second day begins."""
NO_CUP = "no-such-cup"
"""A code of no tournament."""
SETTLE_SECONDS = 0.05
ROUNDS = 9
JUNK = b'{"type":"play","number":1,"move":' + b"[" * 2000 + b"]" * 2000 + b"}"
"""The longest frame that a client may send, as deep as it can be."""
MESSAGES: Final[dict[str, type[Message] | None]] = {
    "hello": Hello,
    "get_lobby": GetLobby,
    "create": Create,
    "queue": Queue,
    "leave_queue": LeaveQueue,
    "join": Join,
    "join_full": Join,
    "join_full_cold": Join,
    "watch": Watch,
    "watch_cold": Watch,
    "resume_start": Resume,
    "resume_newest": Resume,
    "resume_start_cold": Resume,
    "resume_newest_cold": Resume,
    "ready": Ready,
    "reveal": Reveal,
    "play_refused": Play,
    "play_repeated": Play,
    "play_last": Play,
    "rematch": Rematch,
    "ask_finish": AskFinish,
    "leave": Leave,
    "get_record_none": GetRecord,
    "daily_none": Daily,
    "play_daily_none": PlayDaily,
    "create_tournament": CreateTournament,
    "join_tournament_none": JoinTournament,
    "leave_tournament_none": LeaveTournament,
    "start_tournament_none": StartTournament,
    "watch_tournament_none": WatchTournament,
    "ready_tournament_none": ReadyTournament,
    "reveal_tournament_none": RevealTournament,
    "race_tournament_none": RaceTournament,
    "play_tournament_none": PlayTournament,
    "renew": Renew,
    "ping": Ping,
    "junk": None,
    "page_leaderboard": None,
    "page_player": None,
    "page_matches": None,
    "page_rounds": None,
}
"""The messages that are measured, by the names of their figures; None is for what is not a message.

A test compares them with the messages of the protocol. `old_rooms` has records that are there, and `standings` the
pages of ratings with a million results.
"""
PAGES: Final = {
    "page_leaderboard": "/leaderboard",
    "page_player": "/players/nobody",
    "page_matches": "/matches",
    "page_rounds": "/rounds?page=0",
}


class WatchedServer:
    """A server process that measures its turns."""

    def __init__(self, url: str, pid: int, file: Path) -> None:
        self.url = url
        self._pid = pid
        self._file = file

    async def longest_step_ms(self, action: Callable[[], Awaitable[object]]) -> float:
        """Return the most CPU of a turn of the server's loop while an action lasts, and shortly after it."""
        self._file.unlink(missing_ok=True)
        os.kill(self._pid, signal.SIGUSR1)
        await asyncio.sleep(SETTLE_SECONDS)
        await action()
        await asyncio.sleep(SETTLE_SECONDS)
        os.kill(self._pid, signal.SIGUSR2)
        async with asyncio.timeout(30):
            while not self._file.exists():  # noqa: ASYNC110 - another process writes it
                await asyncio.sleep(0.02)
        return float(json.loads(self._file.read_text())["max_ms"])


@asynccontextmanager
async def watched_server(redis_url: str) -> AsyncIterator[WatchedServer]:
    """Run a server process that measures its turns."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "turns.json"
        async with serving_fleet(redis_url, (sys.executable, "-m", "benchmarks.turn_watch", str(file))) as fleet:
            yield await _start(fleet, file)


async def _start(fleet: Fleet, file: Path) -> WatchedServer:
    url = await fleet.start(*LIMITS)
    return WatchedServer(url, fleet.processes[url].pid, file)


def measure_message_steps() -> list[Figure]:
    """The longest step of each message, in a process that has the room open, and of entrances in one that has not."""
    return asyncio.run(_measure())


async def _measure() -> list[Figure]:
    with redis_process() as redis:
        async with (
            watched_server(redis.url) as here,
            watched_server(redis.url) as there,
            open_client(here.url) as first,
            open_client(here.url) as second,
        ):
            room = (await first.enter(Create(options=LONG_MATCH))).room
            await second.enter(Join(room=room))
            for number in range(ROUNDS):
                await _deal(first, second)
                await _race(first, second, is_last=number == ROUNDS - 1)
                print(f"  {number + 1} rounds", file=sys.stderr)
                if first.scene is not None and first.scene.match_is_over:
                    break
            steps = await _measure_racing(room, first, second, here, there)
            steps |= await _measure_end(room, first, second, here)
            steps |= await _measure_queue(redis.url, here)
            entries = first.position
    assert steps.keys() == MESSAGES.keys(), steps.keys() ^ MESSAGES.keys()
    return [
        written_down("message_steps_entries", entries, "entries"),
        *(
            Figure(f"message_{name}_step_ms", ms, "ms", f"<= {STEP_MS:g}", holds=ms <= STEP_MS)
            for name, ms in steps.items()
        ),
    ]


async def _deal(first: WireClient, second: WireClient) -> None:
    await asyncio.gather(first.take_part_in_deal(), second.take_part_in_deal())


async def _race(*players: WireClient, is_last: bool) -> None:
    """Race a round to its end; the last one only until few cards are left."""

    async def play(player: WireClient) -> None:
        while player.scene is not None and player.scene.phase is Phase.RACING and player.seat is not None:
            seat = player.scene.seats[player.seat]
            if seat.board is None or seat.has_stopped:
                await player.receive()
                continue
            moves = list(seat.board.legal_moves())
            if not moves or (is_last and seat.moves > 100):
                return
            await player.play(choose(seat.board).text)

    await asyncio.gather(*(play(player) for player in players))
    if not is_last:
        for player in players:
            await player.receive_until(lambda seen: seen.phase is not Phase.RACING)


async def _answer(client: WireClient, message: Message | bytes) -> FromServer:
    """Send a message and return what comes next, but counts of placed cards and entries of others."""
    await client.send(message if isinstance(message, Message) else message.decode())
    while True:
        answer = await client.receive()
        if not isinstance(answer, Placed | Watching):
            return answer


async def _measure_racing(
    room: str, first: WireClient, second: WireClient, here: WatchedServer, there: WatchedServer
) -> dict[str, float]:
    steps: dict[str, float] = {}

    async def measure(name: str, server: WatchedServer, action: Callable[[], Awaitable[object]]) -> None:
        steps[name] = min([await server.longest_step_ms(action) for _ in range(REPEATS)])
        print(f"  {name} {steps[name]:.2f} ms", file=sys.stderr)

    assert first.scene is not None and first.scene.round is not None and first.seat is not None
    round_id, moves = first.scene.round, first.scene.seats[first.seat].moves
    for name, message in {
        "ping": Ping(),
        "ready": Ready(round=round_id, entropy_hash=bytes(32)),
        "reveal": Reveal(round=round_id, entropy=bytes(32)),
        "rematch": Rematch(),
        "play_refused": Play(number=moves + 1, move=MOVES["h8"]),
        "play_repeated": Play(number=1, move=MOVES["sa"]),
        "get_lobby": GetLobby(),
        "get_record_none": GetRecord(match=bytes(16).hex()),
        "daily_none": Daily(day=OLD_DAY),
        "play_daily_none": PlayDaily(rules="classic", day=OLD_DAY, number=1, move=MOVES["sa"]),
        "create_tournament": CreateTournament(),
        "join_tournament_none": JoinTournament(tournament=NO_CUP),
        "leave_tournament_none": LeaveTournament(tournament=NO_CUP),
        "start_tournament_none": StartTournament(tournament=NO_CUP),
        "watch_tournament_none": WatchTournament(tournament=NO_CUP),
        "ready_tournament_none": ReadyTournament(tournament=NO_CUP, round=1, entropy_hash=bytes(32)),
        "reveal_tournament_none": RevealTournament(tournament=NO_CUP, round=1, entropy=bytes(32)),
        "race_tournament_none": RaceTournament(tournament=NO_CUP, round=1),
        "play_tournament_none": PlayTournament(tournament=NO_CUP, round=1, number=1, move=MOVES["sa"]),
        "create": Create(),
        "join": Join(room=room),
    }.items():

        async def ask(message: Message = message) -> None:
            await _answer(first, message)

        await measure(name, here, ask)

    async def hello() -> None:
        async with open_client(here.url, token=second.token):
            pass

    async def renew() -> None:
        async with open_client(here.url) as client:
            assert isinstance(await _answer(client, Renew(token=secrets.token_urlsafe(32))), Renewed)

    async def junk() -> None:
        async with open_raw_client(here.url) as client:
            await client.send(Hello())
            await client.receive()
            await client.send(JUNK.decode())
            await client.receive()

    for name, path in PAGES.items():

        async def read_page(path: str = path) -> None:
            await raw_http.ask(here.url, path)

        await measure(name, here, read_page)
    await measure("hello", here, hello)
    await measure("renew", here, renew)
    await measure("junk", here, junk)
    for place, server in (("", here), ("_cold", there)):

        async def watch(server: WatchedServer = server) -> None:
            async with open_client(server.url) as client:
                await client.enter(Watch(room=room))
                await client.send(Leave())
                await client.receive()

        async def join_full(server: WatchedServer = server) -> None:
            async with open_client(server.url) as client:
                await client.expect_refusal(Join(room=room))

        await measure(f"watch{place}", server, watch)
        await measure(f"join_full{place}", server, join_full)
    for place, server in (("", here), ("_cold", there)):
        for which, position in (("start", 0), ("newest", first.position)):
            tag = first.tag if position else None

            async def resume(server: WatchedServer = server, position: int = position, tag: str | None = tag) -> None:
                async with open_client(server.url, token=second.token) as client:
                    await client.send(Resume(room=room, position=position or 0, tag=tag))
                    while True:
                        answer = await client.socket.recv()
                        if '"snapshot"' in str(answer)[:30] or '"view"' in str(answer)[:30]:
                            return

            await measure(f"resume_{which}{place}", server, resume)
    return steps


async def _measure_end(room: str, first: WireClient, second: WireClient, here: WatchedServer) -> dict[str, float]:
    """End the round by resignations, then leave: each happens once. `old_rooms` has records and rematches."""
    assert first.scene is not None and first.seat is not None
    number = first.scene.seats[first.seat].moves + 1
    await first.send(Play(number=number, move=MOVES["resign"]))
    seat = first.seat
    await first.receive_until(lambda seen: seen.seats[seat].has_stopped)

    async def ask_finish() -> None:
        await _answer(first, AskFinish())

    asked = await here.longest_step_ms(ask_finish)
    async with open_client(here.url, token=second.token) as again:
        await again.resume(room)
        assert again.scene is not None and again.seat is not None
        last = Play(number=again.scene.seats[again.seat].moves + 1, move=MOVES["resign"])

        async def resign() -> None:
            await again.send(last)
            await again.receive_until(lambda seen: seen.phase is not Phase.RACING)

        async def leave() -> None:
            await again.send(Leave())
            await again.receive_a(Left)

        return {
            "ask_finish": asked,
            "play_last": await here.longest_step_ms(resign),
            "leave": await here.longest_step_ms(leave),
        }


async def _measure_queue(redis_url: str, here: WatchedServer) -> dict[str, float]:
    """Queue and leave while as many others wait as may, at another process, for variants of their own."""
    redis = make_client(redis_url)
    tickets, elsewhere = Tickets(redis), Processes(redis, redis, "elsewhere")
    for number in range(MAX_TICKETS - 1):
        ticket = Ticket(
            f"{number:016x}", f"{number:064x}", elsewhere.process_id, f"rules-{number % 100}", 1, rating=0.0
        )
        ticket = replace(ticket, rating=float(number * 10_000), since_ms=2**52)
        await tickets.change([Change(ticket.player_id, None, ticket)])
    beating = asyncio.create_task(_beat(elsewhere))
    steps: dict[str, list[float]] = {"queue": [], "leave_queue": []}
    async with open_client(here.url) as client:

        async def queue() -> None:
            await client.send(Queue())
            await client.receive_a(Queued)
            await asyncio.sleep(2 * LOOK_SECONDS)

        async def leave() -> None:
            await client.send(LeaveQueue())
            await client.receive_a(LeftQueue)

        for _ in range(REPEATS):
            steps["queue"].append(await here.longest_step_ms(queue))
            steps["leave_queue"].append(await here.longest_step_ms(leave))
    beating.cancel()
    await redis.aclose()
    print(f"  {steps}", file=sys.stderr)
    return {name: min(found) for name, found in steps.items()}


async def _beat(process: Processes) -> None:
    """Send the heartbeats of a process, so that its tickets are not removed."""
    while True:
        await process.beat()
        await asyncio.sleep(0.5)
