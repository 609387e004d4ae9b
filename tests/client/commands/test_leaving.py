"""Every client that ends on purpose leaves with close code 1000, as the log of a real server shows."""

import asyncio
import os
import random
import signal
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from fairest_cli.bots.levels import Level
from fairest_cli.bots.player import play_match
from fairest_cli.session.viewer_connections import open_unstored
from fairest_cli.tui.launch import InRoom
from fairest_cli.tui.screens.race import RaceScreen
from fairest_cli.tui.screens.result import ResultScreen
from fairest_protocol.calculation.moves import STOP
from fairest_protocol.messages.from_client import Create, Join
from tests.client.test_hostile_text import client_environment
from tests.support.full_screen import terminal
from tests.support.long_tests import parametrize_with_long
from tests.support.observed import ObservedServer, observed_server
from tests.support.processes import CLIENT_COMMAND, end_process
from tests.support.real_terminal import RealTerminal, on_terminal
from tests.support.wire_client import QUICK

pytestmark = pytest.mark.usefixtures("home")

NORMAL = 1000
ONE_PILE = QUICK.model_copy(update={"piles": 1})
"""Our bot gets stuck in each race. With four piles it wins one deal in 500, and the person's race is over with that."""


@pytest.fixture
async def server(redis_url: str, tmp_path: Path) -> AsyncIterator[ObservedServer]:
    async with observed_server(tmp_path / "server.log", "--redis-url", redis_url) as started:
        yield started


async def close_codes(server: ObservedServer, connections: int) -> list[int]:
    """Wait until this many connections have ended; return their close codes."""
    return [line["code"] for line in await server.logged("gone", connections)]


@asynccontextmanager
async def hosted_match(server: ObservedServer) -> AsyncIterator[str]:
    """A room with a bot of ours in one seat, which plays until the match is over; yields the room's code."""
    host = open_unstored(server.url, Create(options=ONE_PILE))
    hosting = asyncio.create_task(play_match(host, Level.CARELESS, random.Random(1), 0))
    try:
        yield await host.entered()
        await hosting
    finally:
        hosting.cancel()


async def run_client(home: Path, *arguments: str) -> int:
    """Run the program behind a pipe with nothing to read; return its exit code."""
    client = await asyncio.create_subprocess_exec(
        *CLIENT_COMMAND, *arguments, stdin=DEVNULL, stdout=PIPE, stderr=PIPE, env=client_environment(home)
    )
    try:
        await client.communicate()
        return client.returncode or 0
    finally:
        await end_process(client)


@pytest.mark.long
@parametrize_with_long("command", [("join",), ("join", "--json"), ("bot",)], quick=1, ids=" ".join)
async def test_both_players_of_a_match_leave_with_1000(
    server: ObservedServer, home: Path, command: tuple[str, ...]
) -> None:
    async with hosted_match(server) as room:
        assert await run_client(home, command[0], room, "--server", server.url, *command[1:]) == 0
    assert await close_codes(server, 2) == [NORMAL] * 2


@pytest.mark.long
async def test_a_spectator_leaves_a_match_that_is_over_with_1000(server: ObservedServer, home: Path) -> None:
    async with hosted_match(server) as room:
        watching = asyncio.create_task(run_client(home, "watch", room, "--server", server.url, "--json"))
        await server.logged("entered", 2)
        assert await run_client(home, "bot", room, "--pace", "0", "--server", server.url) == 0
        await watching
    assert await close_codes(server, 3) == [NORMAL] * 3


def _race_by_keyboard(home: Path, *arguments: str) -> int:
    player = on_terminal(home, *arguments)
    try:
        for prompt, typed in ((b"Press Enter", b"\n"), (b"has stopped", b"stop\n"), (b"or leave.", b"leave\n")):
            _type_after(player, prompt, typed)
        return player.wait()
    finally:
        player.close()


def _type_after(player: RealTerminal, prompt: bytes, typed: bytes) -> None:
    player.read_until(lambda written: prompt in written)
    player.type(typed)


@pytest.mark.long
async def test_a_person_who_types_leave_leaves_with_1000(server: ObservedServer, home: Path) -> None:
    async with hosted_match(server) as room:
        arguments = ("join", room, "--server", server.url, "--plain")
        assert await asyncio.to_thread(_race_by_keyboard, home, *arguments) == 0
    assert await close_codes(server, 2) == [NORMAL] * 2


@pytest.mark.long
async def test_the_full_screen_leaves_a_match_with_1000(server: ObservedServer, home: Path) -> None:
    async with hosted_match(server) as room, terminal(InRoom(Join(room=room), server.url), home) as player:
        await player.sees("Press Enter when you are ready")
        await player.press("enter")
        await player.is_on(RaceScreen)
        await player.session.play(STOP)
        await player.is_on(ResultScreen)
        await player.press("ctrl+q")
    assert await close_codes(server, 2) == [NORMAL] * 2


def _quit(player: RealTerminal) -> None:
    player.type(b"\x11")
    player.wait()


def _interrupt(player: RealTerminal) -> None:
    player.process.send_signal(signal.SIGINT)
    player.wait()


def _terminate(player: RealTerminal) -> None:
    player.process.send_signal(signal.SIGTERM)
    player.wait()


@pytest.mark.long
@parametrize_with_long(
    ("options", "end"),
    [((), _quit), ((), _terminate), (("--plain",), _interrupt)],
    quick=1,
    ids=("Ctrl+Q on the full screen", "SIGTERM on the full screen", "Ctrl-C in lines"),
)
async def test_a_player_who_ends_the_program_in_a_room_leaves_with_1000(
    server: ObservedServer, home: Path, options: tuple[str, ...], end: Callable[[RealTerminal], None]
) -> None:
    player = on_terminal(home, "create", "--server", server.url, *options)
    try:
        await server.logged("entered")
        await asyncio.to_thread(end, player)
    finally:
        player.close()
    assert await close_codes(server, 1) == [NORMAL]


@pytest.mark.long
@pytest.mark.parametrize("command", ["create", "watch"])
async def test_a_pipe_that_is_interrupted_leaves_with_1000(server: ObservedServer, home: Path, command: str) -> None:
    host = open_unstored(server.url, Create(options=QUICK))
    hosting = asyncio.create_task(play_match(host, Level.CARELESS, random.Random(1), 0))
    room = (await host.entered(),) if command == "watch" else ()
    client = await asyncio.create_subprocess_exec(
        *(*CLIENT_COMMAND, command, *room, "--server", server.url, "--json"),
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
        env=client_environment(home),
    )
    try:
        await server.logged("entered", 2)
        os.kill(client.pid, signal.SIGINT)
        await client.wait()
        hosting.cancel()
        assert await close_codes(server, 2) == [NORMAL] * 2
    finally:
        hosting.cancel()
        await end_process(client)
