"""Races in which both players, on different processes, make the winning move at the same time."""

import hashlib
import random
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass

from fairest_cli.bots.policies import choose_greedy
from fairest_protocol.calculation.moves import Move
from fairest_protocol.messages.entries import RoundFinished
from fairest_protocol.messages.fast_encoding import decode_entry
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_client import Play, Watch
from fairest_protocol.messages.from_server import View
from fairest_protocol.messages.options import RoomOptions
from fairest_server.room.projection import project
from fairest_server.store.appends import Answer, Append
from fairest_server.store.log import Log
from fairest_server.store.redis.batching_client import BatchingRedis
from tests.support.appending import append_once
from tests.support.history import ViewerTranscript, check_history, read_steps
from tests.support.races import Table
from tests.support.wire_client import WireClient, open_client

OPTIONS = RoomOptions(rules="betsy-ross", redeals=2, countdown_seconds=0)


@dataclass(frozen=True)
class Finish:
    """The result of one photo finish. `apart_ms` is the time between the sending of the two frames."""

    winner: int | None
    apart_ms: float
    problems: list[str]


def room_code(number: int) -> str:
    """Return a room code for the race with this number."""
    letters = "".join(chr(ord("a") + number // 26**place % 26) for place in (2, 1, 0))
    return f"photo-finish-{letters}"


def find_won_race() -> tuple[int, list[Move]]:
    """Return the seed of a table, and the moves by which greedy play places every card of its deal."""
    for seed in range(1_000):
        table = Table(seed, OPTIONS)
        table.start()
        moves: list[Move] = []
        chance = random.Random(seed)
        while table.state.race is not None and not table.state.race.racers[0].ending:
            moves.append(choose_greedy(table.state.race.racers[0].board, chance))
            table.play(0, moves[-1])
        board = table.state.race.racers[0].board if table.state.race else None
        if board is not None and board.placed == board.goal:
            return seed, moves
    raise AssertionError("greedy play wins about one in three of these deals")


async def write_race(redis: BatchingRedis, room: str, seed: int, moves: list[Move], players: tuple[str, str]) -> None:
    """Write the log of a room to Redis in which both players have made these moves."""
    table = Table(seed, OPTIONS, players)
    table.start()
    for move in moves:
        for seat in (0, 1):
            assert isinstance(table.play(seat, move), tuple)
    log = Log(redis)
    events = [step.event for step in table.steps]
    async with log.sending():
        assert await append_once(log, Append(room, 0, "", "0ddba115", events)) is Answer.APPENDED


async def race_to_the_line(
    urls: tuple[str, str, str], redis: BatchingRedis, room: str, seed: int, moves: list[Move]
) -> Finish:
    """Let both players send the last move at once, each to its own server, while a spectator watches on a third."""
    async with AsyncExitStack() as stack:
        everybody = [await stack.enter_async_context(open_client(url)) for url in urls]
        *players, spectator = everybody
        ids = [hashlib.sha256(player.token.encode()).hexdigest() for player in players]
        await write_race(redis, room, seed, moves[:-1], (ids[0], ids[1]))
        await spectator.enter(Watch(room=room))
        # The process that was busy last answers first: draw the order, so that neither seat has that advantage.
        for player in random.sample(players, 2):
            await player.resume(room)
        last = Play(number=len(moves), move=moves[-1])
        sent: list[float] = []
        for player in random.sample(players, 2):
            await player.send(last)
            sent.append(time.monotonic())
        scenes = [await each.receive_until(lambda scene: scene.phase is Phase.FINISHED) for each in everybody]
        problems = await _compare(redis, room, everybody)
        if len({scene.outcome for scene in scenes}) != 1:
            problems.append(f"not everybody saw the same result: {[scene.outcome for scene in scenes]}")
        outcome = scenes[0].outcome
        assert outcome is not None
        return Finish(outcome.winner, (sent[1] - sent[0]) * 1000, problems)


async def _compare(redis: BatchingRedis, room: str, everybody: list[WireClient]) -> list[str]:
    transcripts = [ViewerTranscript(each.seat, each.received) for each in everybody]
    problems = check_history(room, await Log(redis).read(room), transcripts)
    logged = map(project, await read_steps(redis, room))
    told = {"the log": [decode_entry(entry.text) for step in logged for entry in step.entries]}
    for each in everybody:
        views = [message for message in each.received if isinstance(message, View)]
        told[f"viewer {each.seat}"] = [entry for view in views for entry in view.entries]
    for what, entries in told.items():
        results = sum(isinstance(entry, RoundFinished) for entry in entries)
        if results != 1:
            problems.append(f"{what} has {results} results")
    return problems
