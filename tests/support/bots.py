"""Bots behind the client that people use, with its reconnection: for races that go through faults."""

import asyncio
import random
from collections.abc import Awaitable
from contextlib import aclosing
from dataclasses import dataclass, field

from fairest_cli.bots.policies import choose_greedy
from fairest_cli.records.record_check import verify_record
from fairest_cli.session.connection import Connection, Update
from fairest_cli.session.identity import Identity
from fairest_cli.session.websocket import EntryRequest
from fairest_protocol.calculation.record import Record
from fairest_protocol.messages.entries import Moved
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_client import Create, GetRecord, Join, Watch
from fairest_protocol.messages.from_server import MatchRecord, View
from fairest_protocol.messages.options import RoomOptions
from tests.support.history import ViewerTranscript


@dataclass
class Bot:
    """A player or spectator. `acknowledged` are its own moves that the server has shown, in order."""

    connection: Connection
    chance: random.Random
    pace_seconds: float = 0.0
    has_moved: asyncio.Event = field(default_factory=asyncio.Event)
    acknowledged: list[str] = field(default_factory=list)
    updates: list[Update] = field(default_factory=list)
    record: Record | None = None
    record_text: str = ""
    """The record as it came, for a bot that does not verify it at once."""
    verifies_at_once: bool = True
    gets_ready: bool = True

    @property
    def transcript(self) -> ViewerTranscript:
        """All messages that the bot has received."""
        heard = [update.message for update in self.updates if update.message is not None]
        return ViewerTranscript(self.connection.model.seat, heard)

    async def race(self) -> None:
        """Race or watch until the match is over, through any fault; a player ends with the proved record."""
        async with aclosing(self.connection.updates()) as updates:
            async for update in updates:
                self._note(update)
                model = update.model
                if isinstance(update.message, MatchRecord):
                    self.record_text = "".join(f"{line}\n" for line in update.message.lines)
                    if self.verifies_at_once:
                        self.verify()
                    return
                if update.message is None or model.scene is None:
                    continue
                if model.own is None:
                    if model.phase is Phase.FINISHED:
                        return
                elif model.phase is Phase.READY and not model.own.entropy_hash:
                    if self.gets_ready:
                        await self.connection.get_ready()
                elif model.phase is Phase.FINISHED:
                    await self.connection.request(GetRecord())
                elif model.may_send_next_move and model.board is not None and any(model.board.legal_moves()):
                    await asyncio.sleep(self.pace_seconds * self.chance.uniform(0.5, 1.5))
                    await self.connection.play(choose_greedy(model.board, self.chance))

    def verify(self) -> None:
        """Prove the record that came, which takes a tenth of a second."""
        self.record, checks = verify_record(self.record_text)
        list(checks)

    def _note(self, update: Update) -> None:
        self.updates.append(update)
        for entry in update.message.entries if isinstance(update.message, View) else ():
            if isinstance(entry, Moved) and entry.seat == self.connection.model.seat:
                self.has_moved.set()
                self.acknowledged.append(entry.move.text)


def bot(url: str, entry_request: EntryRequest, seed: int = 0, pace_seconds: float = 0.0) -> Bot:
    """Return a bot for a new player, or a spectator, of this server."""
    return Bot(Connection(url, Identity(), entry_request), random.Random(seed), pace_seconds)


@dataclass(eq=False)
class Match:
    """Two bots and some spectators in one room. `playing` ends when the players have proved their records."""

    room: str
    players: tuple[Bot, Bot]
    spectators: list[Bot]
    playing: asyncio.Task[None]
    watching: asyncio.Task[None]

    @property
    def transcripts(self) -> list[ViewerTranscript]:
        return [each.transcript for each in (*self.players, *self.spectators)]

    async def moved(self, count: int) -> None:
        """Wait until both players have `count` moves acknowledged, or have ended."""
        for player in self.players:
            while len(player.acknowledged) < count and not self.playing.done():
                player.has_moved.clear()
                waiting = asyncio.ensure_future(player.has_moved.wait())
                await asyncio.wait((waiting, self.playing), return_when=asyncio.FIRST_COMPLETED)
                waiting.cancel()

    async def end(self) -> None:
        """Wait until the race is over for players and spectators."""
        await self.playing
        await self.watching


async def start_match(
    urls: tuple[str, ...], options: RoomOptions, seed: int = 0, pace_seconds: float = 0.0, spectators: int = 1
) -> Match:
    """Start a race between two bots; each of them, and each spectator, connects to the next of these servers."""
    first = bot(urls[0], Create(options=options), seed, pace_seconds)
    hosting = asyncio.create_task(first.race())
    room = await first.connection.entered()
    second = bot(urls[1 % len(urls)], Join(room=room), seed + 1, pace_seconds)
    seen_by = [bot(urls[(2 + number) % len(urls)], Watch(room=room)) for number in range(spectators)]
    playing = asyncio.create_task(_all(hosting, second.race()))
    watching = asyncio.create_task(_all(*(each.race() for each in seen_by)))
    return Match(room, (first, second), seen_by, playing, watching)


async def _all(*races: Awaitable[None]) -> None:
    await asyncio.gather(*races)
