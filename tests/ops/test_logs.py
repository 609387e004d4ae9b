"""The log of a server process while clients race and some misbehave: it names rooms and seats, and holds no secret."""

import asyncio
import json
import os
import pty
import re
import subprocess
import sys
from asyncio.subprocess import PIPE
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis
from websockets.asyncio.client import connect
from websockets.typing import Origin

from fairest_protocol.calculation.cards import is_card
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_client import Create, Join, Leave, Watch
from fairest_protocol.messages.from_server import Error, Left
from fairest_server.store.log_entries import read_entry
from tests.support.long_tests import parametrize_with_long
from tests.support.processes import SERVER_COMMAND
from tests.support.stored_logs import entry_text, store_entries, stored_entries
from tests.support.wire_client import QUICK, WireClient, open_client, open_raw_client, racing_players

SERVER = Path(__file__).parents[2] / "server" / "fairest_server"
MOVES = 30
UNKNOWN_TOKEN = "A" * 43


@dataclass
class ServerLog:
    """A server's log, and what the clients know and the log must not hold."""

    text: str = ""
    room: str = ""
    unreadable: str = ""
    secrets: set[str] = field(default_factory=set)

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.text.splitlines()]

    def about(self, event: str) -> list[dict[str, Any]]:
        """The lines of this event."""
        return [line for line in self.lines if line["event"] == event]

    def places(self, event: str) -> set[tuple[str | None, int | None]]:
        """The rooms and seats in the lines of this event."""
        return {(line["room"], line["seat"]) for line in self.about(event) if "room" in line}

    def learn(self, client: WireClient) -> None:
        """Remember everything long and random that a client was sent: tokens, entropies, secrets, salts."""
        self.secrets.update(re.findall(r"[0-9a-f]{32,}", "".join(client.frames)), {client.token})


async def _cut_off(client: WireClient, frame: str | bytes) -> None:
    await client.send(frame)
    await client.receive_a(Error)


async def _race(url: str, server_log: ServerLog) -> None:
    """Race with many moves, a spectator and a seat that is taken over; at the end a client breaks the protocol."""
    async with racing_players(url) as (first, second), open_client(url) as spectator:
        server_log.room = first.room
        await spectator.enter(Watch(room=first.room))
        for _ in range(MOVES):
            await first.play("sa")
            await second.play("sb")
        async with open_client(url, token=second.token) as again:
            await again.resume(first.room)
            await second.receive_a(Error)
            await again.play("resign")
            await first.receive_until(lambda seen: seen.phase is Phase.FINISHED)
            await again.receive_until(lambda seen: seen.phase is Phase.FINISHED)
            await spectator.send(Leave())
            await spectator.receive_a(Left)
            await _cut_off(again, f'{{"type":"hello","token":"{second.token}"')
            for client in (first, second, spectator, again):
                server_log.learn(client)


async def _misbehave(url: str, server_log: ServerLog) -> None:
    """Break the protocol outside of a room, in frames that hold secrets."""
    for frame in (f'{{"type":"hello","token":"{UNKNOWN_TOKEN}"}}', b"\0", f'{{"type":"hello","{UNKNOWN_TOKEN}":1}}'):
        async with open_raw_client(url) as stranger:
            await _cut_off(stranger, frame)
    async with open_client(url) as stranger:
        await stranger.expect_refusal(Join(room="no-such-room"))
        await stranger.expect_refusal(Watch(room="no-such-room-either"))
        await stranger.expect_refusal(Join(room=server_log.room))
        server_log.learn(stranger)
    async with connect(url, origin=Origin("https://evil.example"), proxy=None) as refused:
        assert '"other_site"' in str(await refused.recv())
    server_log.secrets.add(UNKNOWN_TOKEN)


async def _break_a_log(url: str, redis: Redis, server_log: ServerLog) -> None:
    """Cut a room's newest entry, which holds the server's secret, in half; then let a spectator watch the room."""
    async with open_client(url) as host, open_client(url) as guest:
        server_log.unreadable = (await host.enter(Create(options=QUICK))).room
        await guest.enter(Join(room=server_log.unreadable))
        await host.receive_until(lambda seen: seen.phase is Phase.READY)
        entries = [read_entry(text) for text in await stored_entries(redis, server_log.unreadable)]
        opened = next(text.decode() for entry in entries for text in entry.texts if b'"secret"' in text)
        secret = json.loads(opened)["secret"]
        half, end = opened[: opened.index(secret) + len(secret)], entries[-1]
        torn = entry_text(end.last_index + 1, end.tag, end.at_ms, half)
        await store_entries(redis, server_log.unreadable, torn)
        # Errors quote the beginning and the end of what they are about.
        server_log.secrets.add(secret[-16:])
        noticed = asyncio.create_task(host.receive_a(Error))
        while not noticed.done():
            # For a moment after a client came, the next ones are shown the log as it was read then.
            async with open_client(url) as spectator:
                await spectator.send(Watch(room=server_log.unreadable))
                await asyncio.wait([noticed], timeout=0.2)
        await noticed


async def _serve_and_race(redis_url: str, log: Path) -> ServerLog:
    server_log = ServerLog()
    command = [*SERVER_COMMAND, "--port", "0", "--redis-url", redis_url]
    with log.open("wb") as written:
        server = await asyncio.create_subprocess_exec(*command, stdout=PIPE, stderr=written)
        assert server.stdout is not None
        try:
            url = (await server.stdout.readline()).decode().strip()
            async with Redis.from_url(redis_url, protocol=2) as redis:
                await _race(url, server_log)
                await _misbehave(url, server_log)
                await _break_a_log(url, redis, server_log)
        finally:
            # Or it would beat on, beside servers of other tests.
            server.terminate()
            await server.wait()
    server_log.text = log.read_text()
    return server_log


@pytest.fixture(scope="module")
def server_log(redis_server: str, tmp_path_factory: pytest.TempPathFactory) -> ServerLog:
    return asyncio.run(_serve_and_race(redis_server, tmp_path_factory.mktemp("log") / "server.log"))


def words(line: dict[str, Any]) -> Iterator[str]:
    """All words in the values of a line."""
    for value in line.values():
        yield from re.split(r"\W+", str(value))


def test_every_line_has_an_event_a_level_and_a_time(server_log: ServerLog) -> None:
    assert all({"event", "level", "timestamp"} <= line.keys() for line in server_log.lines)


def test_the_log_holds_nothing_random_that_a_client_was_sent(server_log: ServerLog) -> None:
    assert len(server_log.secrets) > MOVES
    assert [secret for secret in server_log.secrets if secret in server_log.text] == []


def test_the_log_holds_no_card(server_log: ServerLog) -> None:
    assert [word for line in server_log.lines for word in words(line) if is_card(word)] == []


def test_an_entrance_is_logged_with_room_and_seat(server_log: ServerLog) -> None:
    entered = {place for place in server_log.places("entered") if place[0] == server_log.room}
    assert entered == {(server_log.room, 0), (server_log.room, 1), (server_log.room, None)}


def test_a_client_cut_off_in_a_room_is_logged_with_room_and_seat(server_log: ServerLog) -> None:
    cut = {
        (line["seat"], line["breach"]) for line in server_log.about("cut_off") if line.get("room") == server_log.room
    }
    assert cut == {(1, "replaced"), (1, "bad_json")}


def test_a_client_that_leaves_is_logged_with_room_and_seat(server_log: ServerLog) -> None:
    assert server_log.places("left") == {(server_log.room, None)}


def test_the_end_of_a_connection_is_logged_with_room_and_seat(server_log: ServerLog) -> None:
    assert {(server_log.room, 0), (server_log.room, 1)} <= server_log.places("gone")


def test_a_client_that_is_not_let_in_is_logged_with_the_room_and_the_refusal(server_log: ServerLog) -> None:
    refused = {(line["room"], line["refusal"]) for line in server_log.about("not_let_in")}
    assert refused >= {
        ("no-such-room", "no_such_room"),
        ("no-such-room-either", "no_such_room"),
        (server_log.room, "room_full"),
    }


def test_a_request_that_is_turned_away_is_logged_with_address_and_reason(server_log: ServerLog) -> None:
    (line,) = server_log.about("turned_away")
    assert (line["address"], "evil.example" in line["reason"]) == ("127.0.0.1", True)


def test_a_breach_outside_of_a_room_is_logged_with_its_code(server_log: ServerLog) -> None:
    cut = {line["breach"] for line in server_log.about("cut_off") if "room" not in line}
    assert cut == {"bad_token", "binary_frame", "unknown_key"}


def test_a_connection_has_a_line_for_its_beginning_its_entrance_and_its_end_whatever_it_plays(
    server_log: ServerLog,
) -> None:
    (link,) = {
        line["link"] for line in server_log.about("entered") if (line["room"], line["seat"]) == (server_log.room, 0)
    }
    assert [line["event"] for line in server_log.lines if line.get("link") == link] == ["connected", "entered", "gone"]


def test_a_room_log_that_cannot_be_read_is_logged_with_its_room_and_without_its_content(server_log: ServerLog) -> None:
    assert {(line["room"], line["level"]) for line in server_log.about("log_unreadable")} == {
        (server_log.unreadable, "error")
    }


@pytest.mark.long
def test_nothing_that_a_client_does_is_a_warning(server_log: ServerLog) -> None:
    """Otherwise any client could fill the log that wakes an operator."""
    loud = [line for line in server_log.lines if line["level"] != "info" and line.get("room") != server_log.unreadable]
    assert [line for line in loud if line["event"] != "durability_problem"] == []


TRACEBACK_PROGRAM = """
import structlog
from fairest_server.ops.events import Event
from fairest_server.ops.logs import configure_logs

def fail(secret):
    raise RuntimeError("we have a bug")

configure_logs()
try:
    fail("".join(["dead", "beef"]))
except RuntimeError as fault:
    structlog.get_logger().error(Event.FAULT, exc_info=fault)
"""


def test_a_traceback_on_a_terminal_is_plain_and_shows_no_values() -> None:
    ours, terminal = pty.openpty()
    with os.fdopen(ours, "rb", buffering=0) as shown, os.fdopen(terminal, "wb") as stderr:
        command = [sys.executable, "-W", "error", "-c", TRACEBACK_PROGRAM]
        subprocess.run(command, check=True, timeout=30, stderr=stderr)
        text = shown.read(65_536).decode()
    assert "Traceback (most recent call last)" in text
    assert "deadbeef" not in text


def test_warnings_of_libraries_are_json_too(capfd: pytest.CaptureFixture[str]) -> None:
    program = (
        "import logging; from fairest_server.ops.logs import configure_logs; configure_logs();"
        "logging.getLogger('asyncio').error('a task has failed')"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=30)
    assert json.loads(capfd.readouterr().err)["event"] == "a task has failed"


LEVELS_PROGRAM = """
import logging, sys
import structlog
from fairest_server.ops.logs import configure_logs

configure_logs(sys.argv[1])
for level in ("debug", "info", "warning", "error"):
    getattr(structlog.get_logger(), level)(f"ours {level}")
    getattr(logging.getLogger("library"), level)(f"theirs {level}")
    getattr(logging.getLogger("websockets"), level)("a frame with a token")
"""


@parametrize_with_long(
    ("level", "ours", "theirs"),
    [
        ("debug", ["debug", "info", "warning", "error"], ["debug", "info", "warning", "error"]),
        ("info", ["info", "warning", "error"], ["warning", "error"]),
        ("warning", ["warning", "error"], ["warning", "error"]),
        ("error", ["error"], ["error"]),
    ],
    quick=2,
)
def test_events_below_the_level_are_left_out(level: str, ours: list[str], theirs: list[str]) -> None:
    command = [sys.executable, "-c", LEVELS_PROGRAM, level]
    done = subprocess.run(command, check=True, timeout=30, capture_output=True, text=True)
    events = [json.loads(line)["event"].split() for line in done.stderr.splitlines()]
    assert [word for origin, word in events if origin == "ours"] == ours
    assert [word for origin, word in events if origin == "theirs"] == theirs


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a file that takes nothing")
def test_output_that_cannot_be_written_does_not_change_the_exit_code() -> None:
    program = "from fairest_server.ops.logs import drop_unwritable_output as drop; print('lost'); drop()"
    with Path("/dev/full").open("w") as full:
        assert (
            subprocess.run([sys.executable, "-E", "-c", program], stdout=full, timeout=60, check=False).returncode == 0
        )
