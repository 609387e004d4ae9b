"""The clients of a load: guests, spectators and racers. They write the messages of the protocol by hand, to be cheap.

They trust the server: a message that they do not expect is an error of the run. `players` has the clients that cope.
"""

import asyncio
import json
import random
import time
from array import array
from collections.abc import MutableSequence
from typing import Any, Final

from fairest_protocol.calculation.seal import commit_entropy
from fairest_server.load.websocket_client import Target, WebSocketClient, frame

MOVES: Final = 48
"""Every card of the stock to the first pile: legal in every deal of classic, and the longest race of equal moves."""
SHORTEST_PAUSE_SHARE: Final = 1 / 3
"""The shortest pause between two moves, as a share of the longest."""
WELCOME, VIEW, SNAPSHOT, PLACED, WATCHING, REFUSED, ERROR = (
    b'{"type":"%s"' % kind for kind in (b"welcome", b"view", b"snapshot", b"placed", b"watching", b"refused", b"error")
)
"""The first bytes of each message of the server."""


class Sender:
    """A client that sends its next message when the last one was answered.

    `pace_seconds` is the longest time between two messages, `SHORTEST_PAUSE_SHARE` of it the shortest; 0 for no pause.
    """

    def __init__(self, target: Target, chance: random.Random, pace_seconds: float = 0.0) -> None:
        self.target = target
        self.chance = chance
        self.pace_seconds = pace_seconds
        self.seconds: MutableSequence[float] = array("d")
        """The time that each answer took."""
        self.is_done = asyncio.get_running_loop().create_future()
        self.number = 0
        """The number of messages that were answered."""
        self.upto = 0
        self.sent_at: float | None = None
        """The time at which the message was sent that has no answer yet."""
        self.timer: asyncio.TimerHandle | None = None
        self.frames = self.make_frames()
        self.socket: WebSocketClient
        self._has_connected = False

    async def connect(self) -> None:
        """Connect to the server. Raises OSError."""
        self.is_ready = asyncio.get_running_loop().create_future()
        if self._has_connected:
            self.socket.mute()
        self._has_connected = True
        self.socket = WebSocketClient(self.target.at_room(self.known_room()), self.on_open, self.on_text)
        await self.socket.connect()

    def known_room(self) -> str | None:
        """Return the code of the room that the client is about to enter, None if it knows none."""
        return None

    def on_open(self) -> None:
        """Begin to talk: the handshake is done."""

    def on_text(self, payload: bytes) -> None:
        """Handle a text frame."""

    def make_frames(self) -> list[bytes]:
        """Return all messages of this client, as frames."""
        return []

    def begin(self, count: int) -> None:
        """Send the next `count` messages, the first of them at a random time within a first pause."""
        self.is_done = asyncio.get_running_loop().create_future()
        self.upto = min(self.number + count, len(self.frames))
        if self.number == self.upto:
            self.is_done.set_result(None)
            return
        pause = self.chance.uniform(0, self.pace_seconds)
        self.timer = asyncio.get_running_loop().call_later(pause, self.send_next)

    def on_answer(self) -> None:
        """Note the latency of the last message and send the next one, after a pause if there is a pace."""
        if self.sent_at is not None:
            self.seconds.append(time.perf_counter() - self.sent_at)
        self.sent_at = None
        self.number += 1
        if self.number >= self.upto:
            if not self.is_done.done():
                self.is_done.set_result(None)
        elif self.pace_seconds:
            pause = self.chance.uniform(self.pace_seconds * SHORTEST_PAUSE_SHARE, self.pace_seconds)
            self.timer = asyncio.get_running_loop().call_later(pause, self.send_next)
        else:
            self.send_next()

    def send_next(self) -> None:
        """Send the next message, unless the connection is closed."""
        if self.socket.closed.done():
            return
        self.sent_at = time.perf_counter()
        self.socket.send_frame(self.frames[self.number])


def _result_of(room: "asyncio.Future[str]") -> str | None:
    """Return the code of a room once it is known."""
    return room.result() if room.done() and not room.cancelled() else None


def play(number: int, move: str = "sa") -> bytes:
    """Return the message for a move."""
    return b'{"type":"play","number":%d,"move":"%s"}' % (number, move.encode())


class Guest(Sender):
    """A client that sends hello and nothing more. Its name is chosen by the server if `name` is empty."""

    def __init__(self, target: Target, chance: random.Random, pace_seconds: float = 0.0, name: str = "") -> None:
        super().__init__(target, chance, pace_seconds)
        self.name = name
        self.token: str | None = None

    def on_open(self) -> None:
        """Send hello, with the token of an earlier connection if there was one."""
        hello = {"token": self.token, "name": self.name if not self.token else None}
        self.send(type="hello", **{key: value for key, value in hello.items() if value})

    def on_text(self, payload: bytes) -> None:
        """Be ready with the first message, which is the welcome."""
        if not self.is_ready.done():
            self.note_welcome(payload)
            self.is_ready.set_result(None)

    def note_welcome(self, payload: bytes) -> None:
        """Keep the token, which comes with the first welcome only."""
        self.token = json.loads(payload)["token"] or self.token

    def send(self, **message: Any) -> None:
        """Send a message."""
        self.socket.send_frame(frame(json.dumps(message).encode()))


class Spectator(Guest):
    """A spectator of the room that `room` resolves to; if `is_stalled`, it stops reading once it has a snapshot."""

    def __init__(
        self,
        target: Target,
        chance: random.Random,
        room: "asyncio.Future[str]",
        is_stalled: bool = False,
        name: str = "",
    ) -> None:
        super().__init__(target, chance, name=name)
        self.received = 0
        """The number of frames after the snapshot."""
        self.room = room
        self._is_stalled = is_stalled

    def known_room(self) -> str | None:
        """Return the room to watch."""
        return _result_of(self.room)

    def on_text(self, payload: bytes) -> None:
        """Ask for the room, wait for its snapshot, then count frames."""
        if self.is_ready.done():
            self.received += 1
        elif payload.startswith(WELCOME):
            self.note_welcome(payload)
            self.send(type="watch", room=self.room.result())
        elif payload.startswith(SNAPSHOT):
            self.is_ready.set_result(None)
            if self._is_stalled:
                self.socket.stop_reading()
        else:
            self.on_refused(json.loads(payload))

    def on_refused(self, message: dict[str, Any]) -> None:
        """Handle an answer that is not the expected one."""
        raise AssertionError(message)


class Racer(Guest):
    """A player. The first of a pair creates a room, and `room` is its code; the second one joins it."""

    OPTIONS: dict[str, Any] = {"countdown_seconds": 0}  # noqa: RUF012  # never changed

    def __init__(
        self,
        target: Target,
        chance: random.Random,
        other: "Racer | None",
        pace_seconds: float = 0.0,
        name: str = "",
    ) -> None:
        super().__init__(target, chance, pace_seconds, name)
        self.room: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.other = other
        self.seat = 0 if other is None else 1
        self.mine = b'"moved","seat":%d' % self.seat
        self.round = ""
        self.ready: set[int] = set()
        """The seats that are ready for the round."""
        self.is_racing = False
        self.last_shown = b""
        """The newest view, or the snapshot: it says where to resume."""
        self.is_resuming = False
        self._entropy = chance.randbytes(32)

    def make_frames(self) -> list[bytes]:
        """Return the moves that lay every card onto the first pile."""
        return [frame(play(number + 1)) for number in range(MOVES)]

    def known_room(self) -> str | None:
        """Return the room that was entered before, or that the other player has made."""
        return _result_of(self.room) or (_result_of(self.other.room) if self.other else None)

    async def connect(self) -> None:
        """Connect to the server, or connect again and resume. Raises OSError."""
        self.is_resuming = bool(self.last_shown)
        await super().connect()

    def on_text(self, payload: bytes) -> None:
        """Prepare the race; once it is on, take our own moves as answers and skip all other messages."""
        if self.is_racing and not self.is_resuming:
            if payload.startswith(VIEW):
                self.last_shown = payload
                if self.mine in payload:
                    self.on_answer()
            elif not payload.startswith((PLACED, WATCHING)):
                self.on_refused(json.loads(payload))
        elif payload.startswith(WATCHING):
            # How many watch may be told at any time, also before the answer to `resume`.
            return
        elif payload.startswith(WELCOME):
            self.note_welcome(payload)
            self.enter()
        elif self.is_resuming:
            self.is_resuming = False
            self.on_resumed(payload)
        else:
            self._prepare(payload)

    def enter(self) -> None:
        """Create the room or join it; after the first time, resume as a client does that has kept its entries."""
        if self.last_shown:
            seen = json.loads(self.last_shown)
            room = seen.get("room") or self.room.result()
            self.send(type="resume", room=room, position=seen["position"], tag=seen["tag"])
        elif self.other:
            self.other.room.add_done_callback(self._join)
        else:
            self.send(type="create", options=self.OPTIONS)

    def _join(self, room: "asyncio.Future[str]") -> None:
        if not room.cancelled():
            self.send(type="join", room=room.result())

    def _prepare(self, payload: bytes) -> None:
        message = json.loads(payload)
        match message["type"]:
            case "snapshot":
                self.last_shown = payload
                if not self.room.done():
                    self.room.set_result(message["room"])
                seats = message["scene"]["seats"]
                self.ready = {seat for seat in (0, 1) if seats[seat]["entropy_hash"]}
                self.round = message["scene"]["round"] or ""
                if self.round:
                    self.follow([{"type": "round_opened", **message["scene"]}])
            case "view":
                self.last_shown = payload
                self.follow(message["entries"])
            case "placed" | "elsewhere":
                # A player of a load is ready at once, and stays on its connection.
                pass
            case _:
                self.on_refused(message)

    def follow(self, entries: list[dict[str, Any]]) -> None:
        """Do what the entries ask for, up to the first card of the race."""
        for entry in entries:
            match entry["type"]:
                case "round_opened":
                    if entry["round"] != self.round:
                        self.ready.clear()
                    self.round = entry["round"]
                    self.send_ready()
                case "player_ready":
                    self.ready.add(entry["seat"])
                    if len(self.ready) == 2:
                        self.send(type="reveal", round=self.round, entropy=self._entropy.hex())
                case "turned" if entry["seat"] == self.seat:
                    self.is_racing = True
                    if not self.is_ready.done():
                        self.is_ready.set_result(None)
                    self.on_race()

    def send_ready(self) -> None:
        """Make ready for the open round."""
        sealed = commit_entropy(bytes.fromhex(self.round), self.seat, self._entropy)
        self.send(type="ready", round=self.round, entropy_hash=sealed.hex())

    def on_race(self) -> None:
        """Handle the start of the race."""

    def on_resumed(self, payload: bytes) -> None:
        """Handle the first message after a resume, which holds the missed entries."""
        assert payload.startswith((VIEW, PLACED)), payload
        self.is_ready.set_result(None)

    def on_refused(self, message: dict[str, Any]) -> None:
        """Handle a refusal, an error, or another answer that is not the expected one."""
        raise AssertionError(message)
