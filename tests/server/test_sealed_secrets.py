"""Nothing sealed is sent before its time: not in frames, refusals, errors or `--json`, and never to a server's log."""

import asyncio
import json
import os
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import structlog

from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.calculation.race import Race
from fairest_protocol.calculation.seal import make_seed
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_client import Create, GetRecord, Hello, Play, Resume
from fairest_protocol.messages.from_server import Error, Refused
from fairest_server.ops.events import Event
from fairest_server.ops.logs import configure_logs
from fairest_server.room.state import OpenRound, RoomState
from tests.support.history import read_room
from tests.support.processes import CLIENT_COMMAND, SERVER_COMMAND, START_SECONDS, end_process
from tests.support.waiting import PATIENCE_SECONDS
from tests.support.wire_client import QUICK, WireClient, open_client, open_raw_client, racing_players


@dataclass
class LoggedServer:
    """A server process with a pipe for its log."""

    url: str
    process: asyncio.subprocess.Process

    async def stop_and_read_log(self) -> str:
        """End the process and return all that it has logged."""
        _, logged = await end_process(self.process)
        return logged.decode()


@pytest.fixture
async def serving(redis_url: str) -> AsyncIterator[LoggedServer]:
    command = [*SERVER_COMMAND, "--port", "0", "--redis-url", redis_url]
    process = await asyncio.create_subprocess_exec(*command, stdout=PIPE, stderr=PIPE)
    assert process.stdout is not None
    try:
        async with asyncio.timeout(START_SECONDS):
            url = (await process.stdout.readline()).decode().strip()
        yield LoggedServer(url, process)
    finally:
        if process.returncode is None:
            await end_process(process)


def sealed_values(state: RoomState, upto: int) -> Iterator[str]:
    """Yield, in hexadecimal, the values that a player who has turned the cards up to position `upto` may not see."""
    opened = opened_round(state)
    assert opened.sealed is not None
    entropies = [state.seat(seat).entropy or b"" for seat in (0, 1)]
    yield opened.secret.hex()
    yield make_seed(opened.secret, entropies, opened.round_id).hex()
    yield from (opened.sealed.salt(0, position).hex() for position in range(upto + 1, state.rules.stock))


def opened_round(state: RoomState) -> OpenRound:
    assert state.round is not None
    return state.round


def race_of(state: RoomState) -> Race:
    assert state.race is not None
    return state.race


async def send_requests_that_are_refused(client: WireClient) -> None:
    """Send one request of each kind that is refused in a race."""
    for message in (Play(number=1, move=MOVES["ab"]), Play(number=99, move=MOVES["sa"]), GetRecord()):
        assert isinstance(await client.expect_refusal(message), Refused)


async def test_frames_and_refusals_hold_nothing_sealed(serving: LoggedServer, redis_url: str) -> None:
    async with racing_players(serving.url) as (first, second):
        for _ in range(12):
            await first.play("sa")
        await second.play("sb")
        await send_requests_that_are_refused(first)
        await send_requests_that_are_refused(second)
        async with open_client(serving.url, token=second.token) as again:
            await again.send(Resume(room=first.room, position=0))
            await again.receive_until(lambda scene: scene.phase is Phase.RACING)
        state = await read_room(redis_url, first.room)
        for client, upto in ((first, 12), (second, 1), (again, 1)):
            told = "".join(frame for frame in client.frames if '"welcome"' not in frame)
            assert race_of(state).racers[client.seat or 0].turn.position == upto
            assert not [word for word in sealed_values(state, upto) if word in told]
            assert not [each.token for each in (first, second) if each.token in told]


@pytest.mark.long
async def test_a_breach_is_answered_without_the_token_that_it_held(serving: LoggedServer) -> None:
    token = "T" * 43
    async with open_raw_client(serving.url) as client:
        await client.send(Hello(token=token))
        await client.receive_a(Error)
        assert token not in "".join(client.frames)
    async with open_raw_client(serving.url) as client:
        await client.socket.send(json.dumps({"type": "hello", "token": token, "colour": 1}))
        await client.receive_a(Error)
        assert token not in "".join(client.frames)
    assert token not in await serving.stop_and_read_log()


async def test_the_log_of_a_server_holds_nothing_sealed_not_even_afterwards(
    serving: LoggedServer, redis_url: str
) -> None:
    async with racing_players(serving.url) as (first, second):
        await first.play("sa")
        await send_requests_that_are_refused(second)
        await first.play("resign")
        state = await read_room(redis_url, first.room)
        tokens = [first.token, second.token]
    log = await serving.stop_and_read_log()
    assert "stopping" in log
    assert not [word for word in (*sealed_values(state, -1), *tokens) if word in log]


def test_the_traceback_of_a_fault_shows_no_values(capfd: pytest.CaptureFixture[str]) -> None:
    def fail(secret: str) -> None:
        raise RuntimeError(f"a fault of ours with {len(secret)} letters")

    value = "".join(["dead", "beef"]) * 8
    before = structlog.get_config()
    try:
        configure_logs()
        log = structlog.get_logger("test")
        try:
            fail(value)
        except RuntimeError:
            log.exception(Event.FAULT, room="a-b")
    finally:
        structlog.configure(**before)
    told = capfd.readouterr().err
    assert "a fault of ours with 64 letters" in told
    assert "deadbeef" not in told


@pytest.mark.long
async def test_json_shows_the_secret_with_the_result_and_no_token_ever(
    serving: LoggedServer, redis_url: str, tmp_path: Path
) -> None:
    """The client that joins plays through a pipe to the end; no line before the result holds a sealed value."""
    environment = {**os.environ, "HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)}
    async with open_client(serving.url) as first:
        room = (await first.enter(Create(options=QUICK))).room
        command = [*CLIENT_COMMAND, "join", room, "--server", serving.url, "--json"]
        player = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=environment)
        playing = asyncio.create_task(player.communicate(b"sa\nsb\n"))
        await first.take_part_in_deal()
        await first.play("sa")
        await first.play("stop")
        async with asyncio.timeout(PATIENCE_SECONDS):
            told, notes = await playing
        state = await read_room(redis_url, room)
    lines = told.decode().splitlines()
    end = next(place for place, line in enumerate(lines) if '"round_finished"' in line)
    before = "".join(line for line in lines[:end])
    assert not [word for word in sealed_values(state, 2) if word in before]
    assert opened_round(state).secret.hex() in lines[end]
    stored = next((tmp_path / "fairest" / "players").rglob("*.json")).read_text()
    assert json.loads(stored)["token"] not in told.decode() + notes.decode()
    receipts = "".join(path.read_text() for path in (tmp_path / "fairest" / "receipts").iterdir())
    assert json.loads(stored)["token"] not in receipts
