"""Standard input against a scripted server: the lines of a person, and those that a program writes into a pipe."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from fairest_cli.session.connection import Connection
from fairest_cli.session.identity import Identity
from fairest_cli.session.room_session import RoomSession
from fairest_cli.text.line_player import LinePlayer
from fairest_cli.text.narration import describe_update
from fairest_protocol.calculation.moves import MOVES, STOP
from fairest_protocol.messages.fields import Message
from fairest_protocol.messages.from_client import Create, Hello, Play, Ready
from fairest_protocol.messages.from_server import Welcome
from tests.support.races import KEY
from tests.support.scripted_server import LATER, Script, scripted_server
from tests.support.wire_client import QUICK

DEADLINE_SECONDS = 10


class Typist:
    """A line player under test: a pipe in place of its standard input, its hints, and the task that runs it."""

    def __init__(self, url: str, *, is_person: bool) -> None:
        reader, self._input = os.pipe()
        self.standard_input = os.fdopen(reader)
        self.hints: asyncio.Queue[str] = asyncio.Queue()
        connection = Connection(url, Identity(), Create(options=QUICK))
        session = RoomSession(connection, rejoin_option="", ends_with_record=not is_person)
        self.player = LinePlayer(session, describe_update, lambda _: None, self.hints.put_nowait, is_person=is_person)

    def type(self, text: str) -> None:
        os.write(self._input, text.encode())

    def end_input(self) -> None:
        os.close(self._input)

    async def read_hint(self, beginning: str) -> None:
        """Wait for a hint that begins like this."""
        while not (await self.hints.get()).startswith(beginning):
            pass


@asynccontextmanager
async def typing(
    run_script: Callable[[Script], Awaitable[None]], monkeypatch: pytest.MonkeyPatch, *, is_person: bool
) -> AsyncIterator[Typist]:
    """Let a line player meet a scripted server."""
    async with scripted_server(run_script) as url:
        typist = Typist(url, is_person=is_person)
        monkeypatch.setattr(sys, "stdin", typist.standard_input)
        playing = asyncio.create_task(typist.player.run())
        try:
            async with asyncio.timeout(DEADLINE_SECONDS):
                yield typist
        finally:
            playing.cancel()
            await asyncio.gather(playing, return_exceptions=True)
            typist.standard_input.close()


class Server:
    """A script that opens a room, plays up to some point, and keeps the requests of one kind from there on."""

    def __init__(self, play: Callable[[Script], Awaitable[object]], kind: type[Message]) -> None:
        self.requests: asyncio.Queue[Message] = asyncio.Queue()
        self._play = play
        self._kind = kind

    async def run(self, script: Script) -> None:
        await self._play(script)
        while True:
            await self.requests.put(await script.receive(self._kind))


async def open_a_round(script: Script) -> None:
    await script.enter()
    await script.open_round()


async def test_a_person_gets_ready_with_enter(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server(open_a_round, Ready)
    async with typing(server.run, monkeypatch, is_person=True) as typist:
        await typist.read_hint("Press Enter when you are ready")
        assert server.requests.empty()
        typist.type("\n")
        await server.requests.get()
        typist.end_input()


async def test_a_pipe_gets_ready_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server(open_a_round, Ready)
    async with typing(server.run, monkeypatch, is_person=False) as typist:
        await server.requests.get()
        typist.end_input()


async def test_a_line_of_a_pipe_waits_until_a_move_may_be_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server(Script.start_race, Play)
    async with typing(server.run, monkeypatch, is_person=False) as typist:
        typist.type("sa\nsb\n")
        assert await server.requests.get() == Play(number=1, move=MOVES["sa"])
        assert server.requests.empty(), "the first move was not answered"
        typist.end_input()


async def test_the_end_of_a_pipe_stops_the_race(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server(Script.start_race, Play)
    async with typing(server.run, monkeypatch, is_person=False) as typist:
        typist.end_input()
        assert await server.requests.get() == Play(number=1, move=STOP)


async def test_a_person_who_ends_the_input_is_told_how_to_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server(open_a_round, Ready)
    async with typing(server.run, monkeypatch, is_person=True) as typist:
        await typist.read_hint("Press Enter when you are ready")
        typist.end_input()
        await typist.read_hint("  fairest join quiet-amber-otter")


async def test_leaving_in_a_race_is_not_done_without_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    is_racing = asyncio.Event()

    async def start_race(script: Script) -> None:
        await script.start_race()
        is_racing.set()

    server = Server(start_race, Play)
    async with typing(server.run, monkeypatch, is_person=True) as typist:
        await typist.read_hint("Press Enter when you are ready")
        typist.type("\n")
        await is_racing.wait()
        typist.type("time\nleave\n")
        await typist.read_hint("Leaving now is resigning")
        typist.end_input()


async def welcome_back(script: Script) -> None:
    """Welcome a player who has a seat in another room."""
    await script.receive(Hello)
    rooms = ("calm-blue-heron",)
    await script.send(Welcome(name="ann", token=None, key=KEY.public, now_ms=LATER, version="0.2.0", rooms=rooms))
    await script.receive(Create)
    await script.show_scene()


async def test_a_person_is_told_of_a_seat_in_another_room(monkeypatch: pytest.MonkeyPatch) -> None:
    async with typing(welcome_back, monkeypatch, is_person=True) as typist:
        await typist.read_hint("You have a seat in calm-blue-heron as well: fairest join calm-blue-heron --server ws:")


async def test_a_pipe_is_told_of_no_other_seat(monkeypatch: pytest.MonkeyPatch) -> None:
    is_ready = asyncio.Event()

    async def open_round(script: Script) -> None:
        await welcome_back(script)
        await script.open_round()
        await script.bind()
        is_ready.set()

    async with typing(open_round, monkeypatch, is_person=False) as typist:
        await is_ready.wait()
        assert typist.hints.empty()
