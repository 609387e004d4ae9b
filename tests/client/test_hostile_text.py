"""Every command of the client against servers and files that try to steer the terminal: real processes and terminals.

Hostile text is shown as text and does nothing else: the client prints none of its control characters, begins no line
with it, and does not let it fill the screen.
"""

import asyncio
import json
import os
import pty
import subprocess
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Literal

import pytest
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from fairest_cli.commands.main import app
from fairest_protocol.calculation.seal import chain_line
from fairest_protocol.messages.codec import encode
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_server import Snapshot, Welcome
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.messages.scene import Scene, SeatScene
from tests.support.forging import lines_of
from tests.support.long_tests import parametrize_with_long
from tests.support.processes import CLIENT_COMMAND
from tests.support.races import KEY, make_listed_room, raced
from tests.support.records import signed_record, text_of

ROOM = "quiet-amber-otter"
LATER = 1_900_000_000_000
SEEN = "OWNED"
"""A printable part of the hostile text, by which a test notices that the client showed the text."""
STEERING = (
    f"{SEEN}\x1b]8;;http://evil.example\x07a link\x1b]8;;\x07"  # a link that leads elsewhere
    "\x1b]52;c;cm0gLXJmIC8=\x07"  # the clipboard
    "\x1bP1$r0m\x1b\\\x90q\x9c"  # device control, which some terminals answer as if it were typed
    "\x1b[2J\x9b2J\x9d0;title\x9c\x1bc"  # an empty screen, with C0 and with C1; a title; a reset
    "\b\b\b\x7f\x00\x0e"  # overwriting; another character set
    "\rFORGED\nFORGED\x0bFORGED\x0cFORGED\x85FORGED\u2028FORGED\u2029FORGED"  # lines of their own
    "\u202e\u202a\u2066\u2067\u2068\u2069\u200e\u061c"  # the other direction
    "\u200b\u200d\u2060\ufeff\u00ad\U000e0041"  # invisible characters
)
LONG = SEEN + 900_000 * "A"
MOST_BYTES = 10_000
"""The most that one run of the client may write."""

Script = Callable[[ServerConnection, int], Awaitable[None]]
"""A server's end of one connection; the number counts the connections of one client, from 0."""
Arguments = tuple[str, ...]

ENTRY_COMMANDS: list[Arguments] = [("join", ROOM), ("watch", ROOM), ("bot", ROOM), ("create",)]
WITH_JSON: list[Arguments] = [("join", ROOM, "--json"), ("watch", ROOM, "--json")]
ON_A_TERMINAL: list[Arguments] = [("join", ROOM, "--plain"), ("watch", ROOM, "--plain")]


def faults_of(output: bytes, *, is_shown: bool = True) -> list[str]:
    """Return a sentence for each fault of a client's output; with `is_shown`, the output must show the hostile text."""
    text = output.decode()
    found = [f"{letter!r} is not a printable character" for letter in sorted(set(text)) if not _may_be_shown(letter)]
    found += [f"a line of the hostile text: {line[:40]!r}" for line in text.splitlines() if line.startswith("FORGED")]
    if len(output) > MOST_BYTES:
        found.append(f"{len(output)} bytes")
    if "Traceback" in text:
        found.append(text[-2_000:])
    if is_shown and SEEN not in text:
        found.append(f"the hostile text is not shown: {text[-500:]!r}")
    return found


def _may_be_shown(letter: str) -> bool:
    return letter == "\n" or letter.isprintable()


def client_environment(home: Path) -> dict[str, str]:
    return {**os.environ, "HOME": str(home), "XDG_DATA_HOME": str(home / "data"), "PYTHONPATH": str(Path.cwd())}


async def run(home: Path, *arguments: str) -> bytes:
    """Return all that the client writes to pipes."""
    command = [*CLIENT_COMMAND, *arguments]
    process = await asyncio.create_subprocess_exec(
        *command, stdin=DEVNULL, stdout=PIPE, stderr=PIPE, env=client_environment(home)
    )
    async with asyncio.timeout(30):
        output, errors = await process.communicate()
    return output + errors


async def run_on_terminal(home: Path, *arguments: str) -> bytes:
    """Return all that the client writes to a terminal."""
    return await asyncio.to_thread(_run_on_terminal, home, *arguments)


def _run_on_terminal(home: Path, *arguments: str) -> bytes:
    reader, writer = pty.openpty()
    command = [*CLIENT_COMMAND, *arguments]
    # A terminal that can draw gets a prompt, which is not text; `text/test_prompt.py` is about that one.
    environment = {**client_environment(home), "TERM": "dumb"}
    with subprocess.Popen(command, stdin=writer, stdout=writer, stderr=writer, env=environment):
        os.close(writer)
        written = bytearray()
        while chunk := _read(reader):
            written += chunk
    os.close(reader)
    # A terminal turns a line feed into a carriage return and a line feed.
    return bytes(written).replace(b"\r\n", b"\n")


def _read(descriptor: int) -> bytes:
    """Return the next bytes, empty at the end, which Linux reports as an error."""
    try:
        return os.read(descriptor, 65_536)
    except OSError:
        return b""


async def output_against(script: Script, client: Callable[[str], Awaitable[bytes]]) -> bytes:
    """Return the output of a client that connects to a server with this script."""
    count = 0

    async def handle(websocket: ServerConnection) -> None:
        nonlocal count
        count += 1
        try:
            await script(websocket, count - 1)
            async for _ in websocket:
                continue
        except ConnectionClosed:
            return

    protocols = [Subprotocol("fairest.v1")]
    async with serve(handle, "127.0.0.1", 0, subprotocols=protocols, max_size=None) as server:
        return await client(f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}")


async def output_against_bytes(answer: bytes, client: Callable[[str], Awaitable[bytes]]) -> bytes:
    """Return the output of a client whose server answers every request with these bytes."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        writer.close()

    async with await asyncio.start_server(handle, "127.0.0.1", 0) as server:
        return await client(f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}")


# Messages of a hostile server.


async def send(websocket: ServerConnection, kind: str, **fields: Any) -> None:
    await websocket.send(json.dumps({"type": kind, **fields}))


async def welcome_client(websocket: ServerConnection) -> dict[str, Any]:
    """Welcome a client, and return its request to enter a room."""
    await websocket.recv()
    await websocket.send(
        encode(Welcome(name="ann", token=None, key=KEY.public, now_ms=LATER, version="0.2.0")).decode()
    )
    entry_request: dict[str, Any] = json.loads(await websocket.recv())
    return entry_request


async def refuse(websocket: ServerConnection, to: str, sentence: str) -> None:
    await send(websocket, "refused", to=to, code="room_full", sentence=sentence, number=None)


async def show_room(websocket: ServerConnection, phase: Phase = Phase.WAITING) -> None:
    entry_request = await welcome_client(websocket)
    seat: Literal[0] | None = None if entry_request["type"] == "watch" else 0
    options = RoomOptions.model_validate_json(json.dumps(entry_request.get("options", {}))).resolved()
    scene = Scene(options=options, phase=phase, seats=(SeatScene(name="ann"), SeatScene(name="bob")))
    snapshot = Snapshot(room=ROOM, seat=seat, position=0, tag="00000000", now_ms=LATER, scene=scene)
    await websocket.send(encode(snapshot).decode())


async def sends_steering_sentences(websocket: ServerConnection, number: int) -> None:
    """Send hostile text in a room, then as the reason for closing, then as the reason for a refusal to enter."""
    if number == 0:
        await show_room(websocket)
        await send(websocket, "refused", to=STEERING, code="wrong_phase", sentence=STEERING, number=None)
        await send(websocket, "error", code="restarting", sentence=STEERING)
        await websocket.close(1012, STEERING[:60])
    else:
        entry_request = await welcome_client(websocket)
        await refuse(websocket, entry_request["type"], STEERING)


async def refuses_hello(websocket: ServerConnection, _: int) -> None:
    await websocket.recv()
    await refuse(websocket, "hello", STEERING)


async def refuses_with_a_long_sentence(websocket: ServerConnection, _: int) -> None:
    entry_request = await welcome_client(websocket)
    await refuse(websocket, entry_request["type"], LONG)


async def sends_a_long_sentence(websocket: ServerConnection, _: int) -> None:
    await show_room(websocket)
    await send(websocket, "refused", to="ready", code="wrong_phase", sentence=LONG, number=None)
    await send(websocket, "left")


async def closes_with_a_steering_reason(websocket: ServerConnection, _: int) -> None:
    await welcome_client(websocket)
    await websocket.close(4403, STEERING[:60])


async def show_options(websocket: ServerConnection, options: dict[str, Any]) -> None:
    """Show a room with these options, of which the client takes none that it does not know."""
    await welcome_client(websocket)
    shown = {"room": ROOM, "seat": 0, "position": 1, "tag": "00000000", "now_ms": 0}
    await send(websocket, "snapshot", **shown, scene={"options": options})


async def sends_a_hostile_option(websocket: ServerConnection, _: int) -> None:
    await show_options(websocket, {STEERING: STEERING})


async def sends_a_hostile_long_option(websocket: ServerConnection, _: int) -> None:
    await show_options(websocket, {LONG: 1})


async def forges_a_record(websocket: ServerConnection, _: int) -> None:
    await show_room(websocket, Phase.FINISHED)
    await send(websocket, "record", match=STEERING, lines=[json.dumps({"type": STEERING, "format": 2}), STEERING])


async def forges_a_long_record(websocket: ServerConnection, _: int) -> None:
    await show_room(websocket, Phase.FINISHED)
    stop = {"type": "stop", "at_ms": 0, "seats": [], "ending": "away"}
    lines = [json.dumps(line) for line in (*heading_and_round(), {**stop, "seats": SEEN}, {**stop, "type": LONG})]
    await send(websocket, "record", match=SEEN, lines=lines)


async def makes_time_overflow(websocket: ServerConnection, _: int) -> None:
    await show_room(websocket)
    await send(websocket, "refused", to="ready", code="wrong_phase", sentence=SEEN, number=None)
    paused = {"type": "paused", "length_ms": 10**4_000}
    await send(websocket, "view", position=1, tag="00000000", entries=[paused])


@pytest.mark.long
@parametrize_with_long("arguments", [*ENTRY_COMMANDS, *WITH_JSON], quick=1, ids=" ".join)
async def test_a_server_s_sentences_steer_no_pipe(tmp_path: Path, arguments: Arguments) -> None:
    written = await output_against(sends_steering_sentences, lambda url: run(tmp_path, *arguments, "--server", url))
    assert faults_of(written) == []


@pytest.mark.long
@pytest.mark.parametrize("arguments", ON_A_TERMINAL, ids=" ".join)
async def test_a_server_s_sentences_steer_no_terminal(tmp_path: Path, arguments: Arguments) -> None:
    written = await output_against(
        sends_steering_sentences, lambda url: run_on_terminal(tmp_path, *arguments, "--server", url)
    )
    assert faults_of(written) == []


@pytest.mark.long
@parametrize_with_long(
    "script",
    [
        refuses_hello,
        refuses_with_a_long_sentence,
        sends_a_long_sentence,
        closes_with_a_steering_reason,
        sends_a_hostile_option,
        sends_a_hostile_long_option,
        makes_time_overflow,
    ],
    quick=1,
    ids=lambda script: script.__name__,
)
async def test_text_of_a_hostile_server_is_only_text(tmp_path: Path, script: Script) -> None:
    written = await output_against(script, lambda url: run(tmp_path, "join", ROOM, "--server", url))
    assert faults_of(written) == []


@parametrize_with_long("script", [forges_a_record, forges_a_long_record], quick=1, ids=lambda script: script.__name__)
async def test_a_forged_record_steers_nothing(tmp_path: Path, script: Script) -> None:
    written = await output_against(script, lambda url: run(tmp_path, "join", ROOM, "--server", url))
    assert faults_of(written, is_shown=False) == []


@pytest.mark.long
@parametrize_with_long("name", [STEERING, "\udc9b2J", LONG], quick=1, ids=("steering", "half a character", "long"))
async def test_an_invalid_name_is_not_shown(tmp_path: Path, name: str) -> None:
    async def script(websocket: ServerConnection, _: int) -> None:
        await show_room(websocket)
        await send(websocket, "refused", to="ready", code="wrong_phase", sentence=SEEN, number=None)
        await send(websocket, "view", position=1, tag="00000000", entries=[{"type": "seated", "seat": 1, "name": name}])

    written = await output_against(script, lambda url: run(tmp_path, "join", ROOM, "--server", url))
    assert faults_of(written) == []
    assert b"contradicts itself" in written


STEERING_BYTES = STEERING.encode().replace(b"\n", b"").replace(b"\r", b"")
ANSWERS = {
    "a hostile status": b"HTTP/1.1 " + STEERING_BYTES + b"\r\n\r\n",
    "no status": STEERING_BYTES + b"\r\n\r\n",
    "a hostile phrase": b"HTTP/1.1 403 " + STEERING_BYTES + b"\r\n\r\n",
    "a hostile upgrade": b"HTTP/1.1 101 x\r\nUpgrade: OWNED\x9b2J\xc2\x9b\r\nConnection: Upgrade\r\n\r\n",
    "a hostile header": b"HTTP/1.1 200 x\r\n" + STEERING_BYTES + b": x\r\nX: " + STEERING_BYTES + b"\r\n\r\n",
    "a hostile redirection": b"HTTP/1.1 302 x\r\nLocation: ws://\x9b2J" + SEEN.encode() + b"/\xc2\x9b\r\n\r\n",
    "a hostile body": b"HTTP/1.1 503 x\r\n\r\n" + STEERING.encode(),
    "a long body": b"HTTP/1.1 503 x\r\n\r\n" + LONG.encode(),
    "broken chunks": b"HTTP/1.1 503 x\r\nTransfer-Encoding: chunked\r\n\r\n" + STEERING.encode() + b"\r\n",
}
"""Answers that claim to be HTTP."""


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("arguments", [("watch", ROOM), ("lobby",)], ids=" ".join)
@pytest.mark.long
async def test_a_hostile_http_answer_steers_nothing(tmp_path: Path, arguments: Arguments, answer: str) -> None:
    written = await output_against_bytes(ANSWERS[answer], lambda url: run(tmp_path, *arguments, "--server", url))
    assert faults_of(written, is_shown=False) == []


def lobby_of(**changes: Any) -> bytes:
    fields = {**json.loads(encode(make_listed_room())), **changes}
    page = {"type": "lobby", "page": 0, "pages": 1, "total": 1, "rooms": [fields]}
    return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n" + json.dumps(page).encode()


@pytest.mark.long
@parametrize_with_long("option", [(), ("--json",)], quick=1, ids=("for people", "json"))
async def test_hostile_rules_in_a_lobby_are_only_text(tmp_path: Path, option: Arguments) -> None:
    written = await output_against_bytes(
        lobby_of(rules=STEERING), lambda url: run(tmp_path, "lobby", "--server", url, *option)
    )
    assert faults_of(written) == []


@pytest.mark.long
async def test_hostile_rules_in_a_lobby_steer_no_terminal(tmp_path: Path) -> None:
    written = await output_against_bytes(
        lobby_of(rules=STEERING), lambda url: run_on_terminal(tmp_path, "lobby", "--plain", "--server", url)
    )
    assert faults_of(written) == []


@pytest.mark.long
@parametrize_with_long(
    "changes",
    [{"rules": LONG}, {"names": [STEERING, None]}, {"room": STEERING}, {"wins": [10**4_000, 0]}, {STEERING: 1}],
    quick=1,
    ids=("long rules", "name", "room", "score", "key"),
)
async def test_a_hostile_lobby_steers_nothing(tmp_path: Path, changes: dict[str, Any]) -> None:
    written = await output_against_bytes(lobby_of(**changes), lambda url: run(tmp_path, "lobby", "--server", url))
    assert faults_of(written, is_shown=False) == []


# Hostile files.


def heading_and_round() -> list[dict[str, Any]]:
    """Return the first two lines of a sound record, without their chains."""
    return lines_of(signed_record(raced(4)))[:2]


def write_record(folder: Path, *lines: dict[str, Any]) -> Path:
    """Write lines with the right chains and an invalid seal, and return the path of the file."""
    chain, written = b"", []
    for line in lines:
        text = json.dumps(line, separators=(",", ":"))
        chain = chain_line(chain, text)
        written.append(json.dumps({**line, "chain": chain.hex()}, separators=(",", ":")))
    path = folder / "record.jsonl"
    path.write_text("".join(f"{line}\n" for line in (*written, '{"type":"seal","signature":""}')))
    return path


def records_with(value: Any) -> dict[str, list[dict[str, Any]]]:
    """Return by place the lines of a record that holds `value` in that place."""
    heading, opened = heading_and_round()
    move = {"type": "move", "at_ms": 0, "seat": 0, "move": "sa"}
    stop = {"type": "stop", "at_ms": 0, "seats": [0], "ending": "away"}
    return {
        "room": [{**heading, "room": value}, opened],
        "name": [{**heading, "names": ["ann", value]}, opened],
        "rules": [{**heading, "rules": {"name": value, "piles": 4, "redeals": 0}}, opened],
        "match": [{**heading, "match": value}, opened],
        "best of": [{**heading, "best_of": value}, opened],
        "key": [{**heading, "key": value}, opened],
        "type": [heading, opened, {**move, "type": value}],
        "move": [heading, opened, {**move, "move": value}],
        "seats": [heading, opened, {**stop, "seats": value}],
        "ending": [heading, opened, {**stop, "ending": value}],
        "secret": [heading, {**opened, "secret": value}],
    }


def output_in_process(capture: pytest.CaptureFixture[bytes], *arguments: str) -> bytes:
    """Return all that the client writes when it runs in this process, which is quick enough for many files."""
    with pytest.raises(SystemExit):
        app(arguments)
    captured = capture.readouterr()
    return captured.out + captured.err


@pytest.mark.parametrize("command", ["replay", "verify"])
@pytest.mark.parametrize("value", [STEERING, f"{SEEN}\udc9b2J", LONG], ids=("steering", "half a character", "long"))
@pytest.mark.parametrize("place", sorted(records_with("")))
def test_a_hostile_record_steers_nothing(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes], command: str, value: str, place: str
) -> None:
    path = write_record(tmp_path, *records_with(value)[place])
    assert faults_of(output_in_process(capfdbinary, command, str(path)), is_shown=False) == []


@pytest.mark.parametrize("command", ["replay", "verify"])
def test_a_file_that_is_not_a_record_steers_nothing(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes], command: str
) -> None:
    path = tmp_path / "record.jsonl"
    path.write_bytes(STEERING.encode() + b"\xff\x9b2J\n")
    assert faults_of(output_in_process(capfdbinary, command, str(path)), is_shown=False) == []


@pytest.mark.parametrize("command", ["replay", "verify"])
def test_a_hostile_file_name_steers_nothing(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes], command: str
) -> None:
    assert faults_of(output_in_process(capfdbinary, command, f"{tmp_path}/{SEEN}\x1b[2J\u202e")) == []


RECEIPTS = {
    "no json": STEERING,
    "key": json.dumps({"type": "receipt", "server": STEERING, "key": STEERING}),
    "half a character": json.dumps({"type": "receipt", "server": "\udc9b", "key": "\udc9b2J"}),
    "long key": json.dumps({"type": "receipt", "server": LONG, "key": LONG}),
    "message": json.dumps({"at_ms": 0, "heard": {"type": STEERING, STEERING: STEERING}}),
    "own word": json.dumps({"at_ms": 0, "said": {"type": "ready", STEERING: STEERING}}),
}


@pytest.mark.parametrize("name", RECEIPTS)
def test_a_hostile_receipt_steers_nothing(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes], name: str) -> None:
    path, receipt = tmp_path / "record.jsonl", tmp_path / "receipt.jsonl"
    path.write_text(text_of(signed_record(raced(4))))
    receipt.write_text(f"{RECEIPTS[name]}\n")
    assert (
        faults_of(output_in_process(capfdbinary, "verify", str(path), "--receipt", str(receipt)), is_shown=False) == []
    )


@parametrize_with_long(
    "arguments",
    [
        ("practice", "--seed", STEERING.replace("\0", "")),
        ("deal", STEERING.replace("\0", "")),
        ("rules", STEERING.replace("\0", "")),
        ("join", STEERING.replace("\0", "")),
        ("lobby", "--server", STEERING.replace("\0", "")),
    ],
    quick=1,
    ids=lambda arguments: arguments[0],
)
async def test_a_hostile_argument_steers_nothing(tmp_path: Path, arguments: Arguments) -> None:
    assert faults_of(await run(tmp_path, *arguments), is_shown=False) == []
