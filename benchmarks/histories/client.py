"""A client of fairest.v1, written from docs/protocol.md alone: it plays or watches one room and records a history.

It is careless on purpose: it sends moves twice, several ahead, against the rules; it drops its connection, comes back
at earlier positions, and leaves and watches again on one connection.
"""

import asyncio
import json
import random
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidMessage

from benchmarks.histories.board import Chooser
from benchmarks.histories.habits import AWAY_SECONDS, Habits
from benchmarks.histories.history import Event, History, Message
from benchmarks.histories.scene import Knowledge
from benchmarks.histories.sealing import entropy_hash

ANSWER_SECONDS = 20.0
"""A connection that leaves a request unanswered for as long is given up, and that is a problem."""
WAIT_SECONDS = 0.1, 1.0
"""Between two attempts to connect, and before a message is sent again: at first, and at most."""
AGAIN = "try_again", "in_doubt", "no_record"
"""Codes of refusals after which the same message is sent again; a record is stored just after the end of a match."""
ENTERING = "create", "join", "watch", "resume"


@dataclass(eq=False)
class Client:
    """One viewer of one room, over as many connections as it takes.

    `urls` returns the addresses to try. `room` is None for the player that creates the room. The player stays for
    `matches` matches.
    """

    viewer: str
    urls: Callable[[], list[str]]
    chance: random.Random
    is_player: bool
    options: Message = field(default_factory=dict)
    room: str | None = None
    matches: int = 1
    habits: Habits = field(default_factory=Habits)
    records: list[list[str]] = field(default_factory=list)
    """One for each match, as the server makes it of the room's log."""
    knowledge: Knowledge = field(default_factory=Knowledge)
    problems: list[str] = field(default_factory=list)
    is_done: bool = False
    is_lost: bool = False
    """Whether the room, the seat or the player is gone."""
    entered: asyncio.Event = field(default_factory=asyncio.Event)
    history: History = field(init=False)
    _token: str | None = None
    _entropies: dict[str, bytes] = field(default_factory=dict)
    _connections: int = 0
    _tags: dict[int, str] = field(default_factory=dict)
    _waiting: deque[Message] = field(default_factory=deque)
    """Messages of this connection that were not answered yet."""
    _sent_once: set[str] = field(default_factory=set)
    """The requests that were sent on this connection and have no answer if nothing changes."""
    _again: Message | None = None
    _compared: list[str] | None = None
    """The last record with which the one that the server keeps, and shows to everybody, was compared."""
    _is_inside: bool = False
    _last: Message | None = None
    _last_received_s: float = 0.0

    def __post_init__(self) -> None:
        self.history = History(self.viewer)

    @property
    def is_over(self) -> bool:
        return self.is_done or self.is_lost

    async def run(self) -> None:
        """Play or watch until the matches are over, or the room is gone."""
        wait, most = WAIT_SECONDS
        while not self.is_over:
            with suppress(OSError, TimeoutError, InvalidHandshake, InvalidMessage, EOFError):
                async with asyncio.timeout(10):
                    socket = await connect(
                        self.chance.choice(self.urls()),
                        subprotocols=["fairest.v1"],  # type: ignore[list-item]
                        compression=None,
                        max_size=1 << 20,
                        ping_interval=3,
                        ping_timeout=5,
                        close_timeout=1,
                    )
                if await self._speak(socket):
                    wait = WAIT_SECONDS[0]
            if not self.is_over:
                await asyncio.sleep(wait * self.chance.uniform(0.5, 1.0))
                wait = min(wait * 2, most)

    async def _speak(self, socket: ClientConnection) -> bool:
        """Use a connection until it ends; return whether the room was entered."""
        self._connections += 1
        self._record("opened", {})
        self._waiting.clear()
        self._sent_once.clear()
        self._is_inside, self._last, self._again = False, None, None
        self._forget_record()
        by = "server"
        try:
            await self._send(socket, {"type": "hello"} | ({"token": self._token} if self._token else {}))
            while not self.is_over:
                if self._is_inside and self.chance.random() < self.habits.drop:
                    by = "client"
                    socket.transport.abort()
                    if self.chance.random() < self.habits.stay_away:
                        await asyncio.sleep(self.chance.uniform(*AWAY_SECONDS))
                    break
                await self._step(socket)
            await socket.close()
        except (ConnectionClosed, OSError):
            pass
        self._record("closed", {"code": socket.close_code or 1006, "by": by})
        if socket.close_code in (4407, 4410):
            self.is_lost = True
        return self._is_inside

    async def _step(self, socket: ClientConnection) -> None:
        """Read one message, or do something when none comes."""
        try:
            async with asyncio.timeout(self.habits.pace_seconds * self.chance.uniform(0.5, 1.5)):
                text = await socket.recv()
        except TimeoutError:
            if self._waiting and time.monotonic() - self._last_received_s > ANSWER_SECONDS:
                self.problems.append(f"{self.viewer}: {self._waiting[0]['type']} has no answer in {ANSWER_SECONDS} s")
                socket.transport.abort()
            await self._act(socket)
            return
        message = json.loads(text)
        self._record("received", message)
        self._last_received_s = time.monotonic()
        await self._handle(socket, message)

    def _record(self, kind: str, message: Message) -> None:
        self.history.events.append(Event(time.monotonic(), self._connections, kind, message))

    async def _send(self, socket: ClientConnection, message: Message) -> None:
        self._record("sent", message)
        if message["type"] not in ("ready", "reveal", "rematch"):
            self._waiting.append(message)
            self._last_received_s = time.monotonic()
        await socket.send(json.dumps(message))

    async def _handle(self, socket: ClientConnection, message: Message) -> None:
        match message["type"]:
            case "welcome":
                self._answered("hello")
                self._token = message["token"] or self._token
                await self._enter(socket)
            case "snapshot":
                self._answered(*ENTERING)
                self.knowledge.begin(message)
                self._tags = {message["position"]: message["tag"]}
                self._enters(message["room"])
            case "view":
                if self._answered("resume"):
                    self._enters(self.knowledge.room)
                # The checker reads the history again; here only the state that follows is wanted.
                list(self.knowledge.read(message))
                if self.knowledge.is_stale:
                    socket.transport.abort()
                self._tags[self.knowledge.cursor] = message["tag"]
                for entry in message["entries"]:
                    if entry["type"] == "moved" and entry["seat"] == self.knowledge.seat:
                        self._last = self._answered("play", number=entry["number"]) or self._last
            case "accepted":
                self._answered("play", number=message["number"])
            case "refused":
                self._handle_refused(message)
            case "record":
                self._take_record(self._answered("get_record") or {}, message["lines"])
            case "left":
                if not self._answered("leave"):
                    self.is_lost = True
                self._is_inside = False

    def _take_record(self, asked: Message, lines: list[str]) -> None:
        if "match" not in asked:
            self.records.append(lines)
            return
        self._compared = self.records[-1]
        if lines != self.records[-1]:
            self.problems.append(f"{self.viewer}: the stored record of {asked['match']} is not that of the room's log")

    def _forget_record(self) -> None:
        """Forget the record of the round that was shown last: a fail-over may have lost the end of its match."""
        if self._has_record():
            self.records.pop()

    def _enters(self, room: str) -> None:
        self.room, self._is_inside = room, True
        self.entered.set()

    def _answered(self, *types: str, number: int | None = None) -> Message | None:
        """Remove the first request of these types that waits for its answer; return it."""
        for waiting in self._waiting:
            if waiting["type"] in types and number in (None, waiting.get("number")):
                self._waiting.remove(waiting)
                return waiting
        return None

    async def _enter(self, socket: ClientConnection) -> None:
        if self.room is None:
            await self._send(socket, {"type": "create", "options": self.options})
        elif not self.is_player:
            await self._send(socket, {"type": "watch", "room": self.room})
        elif not self.knowledge.room:
            await self._send(socket, {"type": "join", "room": self.room})
        else:
            position, tag = self.knowledge.position, self.knowledge.tag
            if self.knowledge.is_stale:
                position, tag = 0, None
            elif self.chance.random() < self.habits.go_back:
                position = self.chance.choice([0, *self._tags])
                tag = self._tags.get(position)
            self.knowledge.cursor = position
            await self._send(socket, {"type": "resume", "room": self.room, "position": position, "tag": tag})

    def _handle_refused(self, message: Message) -> None:
        to, code = message["to"], message["code"]
        asked = self._answered(to, number=message["number"]) or {"type": to}
        if code in AGAIN:
            self._sent_once.clear()
            is_another = to == "play" and code == "try_again" and self.chance.random() < self.habits.another_move
            if to not in ("ready", "reveal", "rematch") and not is_another and self._again is None:
                self._again = asked
        elif to in ENTERING:
            # A seat cannot be entered twice: the room is gone, or somebody else has the seat.
            self.is_lost = True
        elif code == "not_seated":
            self._is_inside = False

    async def _act(self, socket: ClientConnection) -> None:
        """Do what the phase asks for, when no answer is waited for."""
        if self._waiting:
            return
        if self._again is not None:
            again, self._again = self._again, None
            await asyncio.sleep(self.chance.uniform(*WAIT_SECONDS) / 2)
            await self._send(socket, again)
        elif not self._is_inside:
            if not self.is_player:
                await self._enter(socket)
        elif not self.is_player:
            if self.chance.random() < self.habits.wander:
                await self._send(socket, {"type": "leave"})
        elif self.knowledge.phase == "racing":
            self._forget_record()
            await self._race(socket)
        else:
            await self._prepare(socket)

    async def _prepare(self, socket: ClientConnection) -> None:
        known = self.knowledge
        round_id, seat = bytes.fromhex(known.round.id), known.seat or 0
        entropy = self._entropies.setdefault(known.round.id, self.chance.randbytes(32))
        match known.phase:
            case "ready":
                hashed = entropy_hash(round_id, seat, entropy)
                await self._send_once(socket, {"type": "ready", "round": known.round.id, "entropy_hash": hashed})
            case "dealing":
                await self._send_once(socket, {"type": "reveal", "round": known.round.id, "entropy": entropy.hex()})
            case "closed":
                self.is_lost = True
            case "finished" | "waiting" if known.match_is_over:
                if not self._has_record():
                    await self._send(socket, {"type": "get_record"})
                elif self._compared is not self.records[-1]:
                    match_id = json.loads(self.records[-1][0])["match"]
                    await self._send(socket, {"type": "get_record", "match": match_id})
                elif len(self.records) >= self.matches or None in known.names:
                    self.is_done = True
                else:
                    await self._send_once(socket, {"type": "rematch"})

    def _has_record(self) -> bool:
        """Whether the record of the round that was shown last is here."""
        return bool(self.records) and any(self.knowledge.round.id in line for line in self.records[-1])

    async def _send_once(self, socket: ClientConnection, message: Message) -> None:
        """Send a message once on this connection."""
        text = json.dumps(message)
        if text not in self._sent_once:
            self._sent_once.add(text)
            await self._send(socket, message)

    async def _race(self, socket: ClientConnection) -> None:
        board, seat = self.knowledge.own, self.knowledge.seat
        if board is None or seat is None or self.knowledge.round.has_stopped[seat]:
            return
        chooser, luck, habits = Chooser(self.chance), self.chance.random, self.habits
        move = chooser.choose(board)
        if move is None:
            return
        if self._last and self._last["number"] == board.moves and luck() < habits.twice:
            await self._send(socket, self._last)
            return
        if board.moves and luck() < habits.same_number:
            await self._send(socket, {"type": "play", "number": board.moves, "move": "ab"})
            return
        if luck() < habits.illegal:
            await self._send(socket, {"type": "play", "number": board.moves + 1, "move": chooser.choose_illegal(board)})
            return
        await self._send(socket, {"type": "play", "number": board.moves + 1, "move": move})
        if luck() < habits.ahead and (board.stock > 0 or move[0] != "s"):
            pile = "abcdefgh"[self.chance.randrange(len(board.piles))]
            await self._send(socket, {"type": "play", "number": board.moves + 2, "move": f"s{pile}"})
