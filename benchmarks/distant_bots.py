"""Bots that race one another from different distances, each honest or with a trick: cheap clients, one race each.

Both seats play a deal by the same policy without chance, and think for as long on average, so only time decides, and
without distance each would win one race of two.
"""

import asyncio
import hashlib
import json
import os
import random
from dataclasses import dataclass, field
from typing import Any, Final, cast

from fairest_protocol.calculation.board import Board, lay_out
from fairest_protocol.calculation.deal import make_deal
from fairest_protocol.calculation.moves import REDEAL, Move
from fairest_protocol.calculation.rules import choose_rules
from fairest_protocol.calculation.seal import commit_entropy
from fairest_server.edge.round_trip import ROUND_TRIP_HEADER
from fairest_server.load.websocket_client import Target, WebSocketClient, frame
from tests.support.races_apart import choose

RULES: Final = choose_rules("classic", 8, 2)
"""The policy places every card of nearly all of these deals, with 58 cards turned and 85 moves."""
OPTIONS: Final = {"rules": "classic", "piles": 8, "redeals": 2, "countdown_seconds": 0, "idle_seconds": 60}
"""The policy placed every card of 1,500 such deals, and of 1,458 with one redeal; a race has a ledger only then."""
EMPTY: Final = lay_out(RULES, make_deal(RULES, bytes(32)))
THINK_SECONDS: Final = 0.5
"""The mean think about a card, exponentially distributed. The more of it, the less a busy machine decides, which adds
some milliseconds to each card, more to a rare packet than to many: at ten times its cores in load, 20 ms a card."""
AT_ONCE: Final = 0.2
"""The share of cards that a player answers at once, who hides nothing."""
RACE_SECONDS: Final = 240.0
_PONG: Final = 0x8A


@dataclass(frozen=True)
class Player:
    """One seat: where it is, and what it does besides racing. Times are in seconds; `think` is the mean for a card."""

    address: str
    pong_delay: float = 0.0
    move_delay: float = 0.0
    think: float = THINK_SECONDS
    at_once: float = AT_ONCE
    least: float = 0.0
    """The least that it thinks about a card."""
    stated_us: int | None = None
    """The round trip to this player that a proxy states, in microseconds; None if none does."""


class _StatingTarget(Target):
    """A server behind a proxy that states in the request how far away the client is."""

    stated_us: int

    @property
    def request(self) -> bytes:
        """The opening handshake as the proxy passes it on."""
        return super().request.removesuffix(b"\r\n") + f"{ROUND_TRIP_HEADER}: {self.stated_us}\r\n\r\n".encode()


@dataclass
class Result:
    """The result of a race: its outcome as on the wire, and the lines of its record if they were asked for."""

    outcome: dict[str, Any]
    record: list[str] = field(default_factory=list)


class _LatePongs:
    """A transport that holds pongs back."""

    def __init__(self, transport: asyncio.Transport, seconds: float) -> None:
        self._transport = transport
        self._seconds = seconds

    def write(self, data: bytes) -> None:
        if data[0] == _PONG:
            asyncio.get_running_loop().call_later(self._seconds, self._write_late, data)
        else:
            self._transport.write(data)

    def _write_late(self, data: bytes) -> None:
        if not self._transport.is_closing():
            self._transport.write(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class _Socket(WebSocketClient):
    pong_delay = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        late = _LatePongs(cast("asyncio.Transport", transport), self.pong_delay)
        super().connection_made(cast("asyncio.BaseTransport", late if self.pong_delay else transport))


class DistantBot:
    """One player of one race."""

    def __init__(self, seat: int, player: Player, port: int, chance: random.Random, *, has_credit: bool) -> None:
        self._seat, self._player, self._chance = seat, player, chance
        self._has_credit = has_credit
        self._board: Board = EMPTY
        self._number, self._is_over = 0, False
        self._entropy, self._round, self._match = os.urandom(32), "", ""
        self._ready_seats: set[int] = set()
        self._is_bound = False
        loop = asyncio.get_running_loop()
        self.room: asyncio.Future[str] = loop.create_future()
        self.outcome: asyncio.Future[dict[str, Any]] = loop.create_future()
        self.record: asyncio.Future[list[str]] = loop.create_future()
        self._socket = _Socket(_target(player, port), self._hello, self._on_text)
        self._socket.pong_delay = player.pong_delay

    async def enter(self, room: str | None) -> None:
        """Connect, and open a room or join it. Raises OSError."""
        self._entry = (
            {"type": "join", "room": room}
            if room
            else {"type": "create", "options": OPTIONS | ({"credit": 1} if self._has_credit else {})}
        )
        await self._socket.connect()

    def close(self) -> None:
        """End the connection."""
        self._is_over = True
        self._socket.close()

    def ask_record(self) -> None:
        """Ask for the record of the match, which is stored a moment after its end."""
        self._send(type="get_record", match=self._match)

    def _send(self, **message: Any) -> None:
        if not self._socket.closed.done():
            self._socket.send_frame(frame(json.dumps(message).encode()))

    def _hello(self) -> None:
        self._send(type="hello", capabilities=["credit"])

    def _on_text(self, payload: bytes) -> None:
        message = json.loads(payload)
        match message["type"]:
            case "welcome":
                self._send(**self._entry)
            case "snapshot":
                if not self.room.done():
                    self.room.set_result(message["room"])
                scene = message["scene"]
                if scene["phase"] == "ready":
                    self._open(scene["round"], scene["match"])
                    self._ready_seats = {each for each in (0, 1) if scene["seats"][each]["entropy_hash"]}
            case "view":
                for entry in message["entries"]:
                    self._on_entry(entry)
                self._act()
            case "record":
                if not self.record.done():
                    self.record.set_result(message["lines"])
            case "refused" if message["to"] == "get_record":
                asyncio.get_running_loop().call_later(0.2, self.ask_record)
            case "refused" | "error" if not self._is_over and message.get("code") not in ("race_over", "seat_stopped"):
                self._fail(RuntimeError(f"seat {self._seat}: {message}"))

    def _fail(self, fault: Exception) -> None:
        for awaited in (self.room, self.outcome):
            if not awaited.done():
                awaited.set_exception(fault)

    def _open(self, round_id: str, match_id: str) -> None:
        self._round, self._match = round_id, match_id
        sealed = commit_entropy(bytes.fromhex(round_id), self._seat, self._entropy)
        self._send(type="ready", round=round_id, entropy_hash=sealed.hex())

    def _on_entry(self, entry: dict[str, Any]) -> None:
        match entry["type"]:
            case "round_opened":
                self._open(entry["round"], entry["match"])
            case "player_ready":
                self._ready_seats.add(entry["seat"])
                if len(self._ready_seats) == 2 and not self._is_bound:
                    self._is_bound = True
                    self._send(type="reveal", round=self._round, entropy=self._entropy.hex())
            case "turned" if entry["seat"] == self._seat:
                self._board = self._board.turn(entry["card"])
                player = self._player
                think = 0.0 if self._chance.random() < player.at_once else self._chance.expovariate(1.0) * player.think
                asyncio.get_running_loop().call_later(max(player.least, think) + player.move_delay, self._take)
            case "round_finished":
                self._is_over = True
                if not self.outcome.done():
                    self.outcome.set_result(entry["outcome"])

    def _take(self) -> None:
        if self._board.turned is not None and not self._is_over:
            self._place_waste()
            self._play(choose(self._board))
            self._act()

    def _act(self) -> None:
        """Play what needs no further card: they cost no distance, since nobody waits for an answer."""
        if self._is_over or self._board.turned is not None:
            return
        self._place_waste()
        if self._board.turned is None and not self._board.stock and REDEAL in self._board.legal_moves():
            self._play(REDEAL)

    def _place_waste(self) -> None:
        while not self._board.is_won:
            moves = [each for each in self._board.legal_moves() if each.places and not each.takes_turned]
            if not moves:
                return
            self._play(choose(self._board))

    def _play(self, move: Move) -> None:
        self._number += 1
        self._board = self._board.play(move)
        self._socket.send_frame(frame(b'{"type":"play","number":%d,"move":"%s"}' % (self._number, move.text.encode())))


def _target(player: Player, port: int) -> Target:
    if player.stated_us is None:
        return Target(player.address, port)
    target = _StatingTarget(player.address, port)
    target.stated_us = player.stated_us
    return target


async def race(
    players: tuple[Player, Player], port: int, seed: str, *, has_credit: bool = True, wants_record: bool = False
) -> Result:
    """Race two players once, over a server on this port. Raises TimeoutError, OSError and RuntimeError."""
    digest = int.from_bytes(hashlib.sha256(seed.encode()).digest()[:8], "big")
    first, second = (
        DistantBot(seat, players[seat], port, random.Random(digest + seat), has_credit=has_credit) for seat in (0, 1)
    )
    try:
        async with asyncio.timeout(RACE_SECONDS):
            await first.enter(None)
            await second.enter(await first.room)
            outcome = await first.outcome
            if not wants_record:
                return Result(outcome)
            first.ask_record()
            return Result(outcome, await first.record)
    finally:
        first.close()
        second.close()
