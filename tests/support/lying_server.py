"""A server that follows a real race up to any step, and then ends the round for both players by a generated lie.

It knows the deck and signs as it should: it lies about nothing but how the round ends. Both players are real clients.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from fairest_cli.model.known_room import ConnectionStatus, KnownRoom
from fairest_cli.session.connection import Connection
from fairest_cli.session.identity import Identity
from fairest_protocol.calculation.race import Ending
from fairest_protocol.calculation.seal import commit_secret
from fairest_protocol.messages import entries
from fairest_protocol.messages.codec import decode_from_client, encode
from fairest_protocol.messages.entries import Entry
from fairest_protocol.messages.fast_encoding import decode_entry
from fairest_protocol.messages.fields import Message, Phase, as_seat
from fairest_protocol.messages.from_client import Create, Hello, Join, Leave, Play, Ready, Rematch, Resume, Reveal
from fairest_protocol.messages.from_server import Left, Refused, Snapshot, View, Welcome
from fairest_protocol.messages.refusals import SENTENCES, Refusal
from fairest_protocol.messages.scene import Scene
from fairest_protocol.value import replace
from fairest_server.room.events import (
    Detached,
    Played,
    PlayerReady,
    RematchAsked,
    Revealed,
    RoomClosed,
    RoundOpened,
    SeatFreed,
    SeatsStopped,
)
from fairest_server.room.projection import ProjectedStep, project
from fairest_server.room.state import RoomState
from fairest_server.room.steps import Step
from fairest_server.room.view import scene, view, views_of
from tests.support.honest_race import HonestRace
from tests.support.races import KEY

ROOM: Final = "quiet-amber-otter"
NAMES: Final = ("ann", "bob")
EPOCH_MS: Final = 1_800_000_000_000


@dataclass
class Clock:
    """The clock of both clients, which the server's lies move on."""

    at_ms: int = EPOCH_MS

    def __call__(self) -> int:
        return self.at_ms


@dataclass
class Line:
    """The server's end of the connections of one seat."""

    seat: int
    identity: Identity = field(default_factory=Identity)
    client: Connection | None = None
    inbox: asyncio.Queue[Message | None] = field(default_factory=asyncio.Queue)
    socket: ServerConnection | None = None
    position: int = 0
    is_away: bool = False
    unsent: list[Entry] = field(default_factory=list)
    shown: list[Entry] = field(default_factory=list)
    """All entries since the first snapshot, also those that the client has missed."""
    seen: int = 0
    """The position that the client had seen when it came back."""
    has_ended: bool = False
    on_resume: Callable[["Line"], Message] = field(default=lambda line: line.return_view())

    @property
    def model(self) -> KnownRoom:
        assert self.client is not None
        return self.client.model

    async def is_heard(self) -> None:
        """Wait until the client has taken all that it was shown, and has answered as far as it does so by itself."""
        while not self.has_ended and not self.is_away:
            evidence = self.model.binding.evidence
            owes_reveal = (
                self.model.phase is Phase.DEALING
                and evidence is not None
                and evidence.arrived_ms is None
                and not evidence.revealed[self.seat]
            )
            is_there = self.socket is not None and self.model.binding.down_since_ms is None
            if is_there and self.model.position >= self.position and not owes_reveal:
                return
            await asyncio.sleep(0.001)

    def view(self, *shown: Entry) -> View:
        self.position += len(shown)
        self.shown += shown
        return View(position=self.position, entries=shown, tag="00000000")

    async def is_lost(self) -> None:
        """Wait until the client has noticed that its connection has ended."""
        while not self.has_ended and self.model.status is not ConnectionStatus.LOST:  # noqa: ASYNC110 - a state of the client
            await asyncio.sleep(0.001)

    async def is_back(self) -> None:
        """Wait until the client is in the room again."""
        while not self.has_ended and self.model.binding.down_since_ms is not None:  # noqa: ASYNC110 - a state of the client
            await asyncio.sleep(0.001)
        await self.is_heard()

    def return_view(self) -> View:
        """Return the entries that a client that comes back has missed."""
        missed = self.shown[self.seen - self.position :] if self.seen < self.position else []
        return View(position=self.position, entries=tuple(missed), tag="00000000")

    async def send(self, message: Message) -> None:
        await self.send_text(encode(message).decode())

    async def send_text(self, text: str) -> None:
        if self.socket is not None:
            try:
                await self.socket.send(text)
            except ConnectionClosed:
                # The client has ended at an earlier message of this lie.
                return

    async def show(self, *shown: Entry) -> None:
        if shown:
            await self.send(self.view(*shown))

    async def receive(self, kind: type[Message]) -> None:
        while not isinstance(message := await self.inbox.get(), kind):
            assert message is not None, f"seat {self.seat} ended before the lie"

    def end(self) -> None:
        """Note that the client has ended."""
        self.has_ended = True
        self.inbox.put_nowait(None)

    async def close(self, code: int) -> None:
        if self.socket is not None:
            socket, self.socket = self.socket, None
            await socket.close(code)

    async def cut(self, code: int | None) -> None:
        """End the connection by a close code that is not final, or with None by a failure of the network."""
        if code is not None:
            await self.close(code)
        elif self.socket is not None:
            socket, self.socket = self.socket, None
            socket.transport.abort()


class LyingServer:
    """The server of one room, which shows both players its log as far as `told` said."""

    def __init__(self, race: HonestRace, clock: Clock) -> None:
        self.race, self.clock = race, clock
        self.options = race.options.resolved()
        self.lines = (Line(0), Line(1))
        self.is_gone = False
        self._place = race.entered_at
        self._views = {seat: views_of(race.steps[0].after)[seat] for seat in (0, 1)}
        self._entered = [asyncio.Event(), asyncio.Event()]

    def advance(self, seconds: float) -> None:
        """Move the clock on. A client that is connected hears pongs meanwhile; each is one that it hears itself."""
        until_ms = self.clock.at_ms + round(seconds * 1000)
        while self.clock.at_ms < until_ms:
            self.clock.at_ms = min(until_ms, self.clock.at_ms + 5000)
            for line in self.lines:
                if line.socket is not None and line.client is not None:
                    binding = line.client.model.binding.after_alive(self.clock.at_ms)
                    line.client.model = replace(line.client.model, binding=binding)

    async def play_until(self, cut: int) -> RoomState:
        """Follow the log up to the step `cut`, with both players doing their part; return the state there."""
        steps, entered_at = self.race.steps, self.race.entered_at
        for entered in self._entered:
            await entered.wait()
        for line in self.lines:
            shown = view(steps[: entered_at + 1], line.seat)
            line.position = len(shown)
            fold = scene(steps[entered_at].after, shown)
            await line.send(snapshot(line.seat, len(shown), fold))
            self._views[line.seat].reveal(*(project(step) for step in steps[: entered_at + 1]))
        await self._follow(entered_at + 1, cut)
        await self.is_heard()
        return steps[cut].after

    async def is_heard(self) -> None:
        """Wait until both clients have noticed all that they were shown, so that no time passes for them before."""
        for line in self.lines:
            await line.is_heard()

    async def play_on(self) -> None:
        """Follow the log to its end, and let players who were away come back."""
        await self._follow(self._place + 1, len(self.race.steps) - 1)
        for line in self.lines:
            line.is_away = False

    async def _follow(self, first: int, last: int) -> None:
        for step in self.race.steps[first : last + 1]:
            await self._take_part(step)
            await self.is_heard()
            self.advance((EPOCH_MS + step.at_ms - self.clock.at_ms) / 1000)
            for line in self.lines:
                line.unsent += map(decode_entry, self._views[line.seat].reveal(project(step)))
            if self._has_more(step):
                continue
            for line in self.lines:
                shown, line.unsent = line.unsent, []
                await line.show(*shown)
            if isinstance(step.event, SeatFreed) and step.event.reason == "left":
                await self.lines[step.event.seat].send(Left())
        self._place = last

    def _has_more(self, step: Step) -> bool:
        """Return whether the next step belongs to the same append: a server shows all entries of one in one message."""
        following = self.race.steps[self.race.steps.index(step) + 1 :]
        is_first = isinstance(step.event, (SeatsStopped, SeatFreed))
        return is_first and bool(following) and isinstance(following[0].event, (SeatFreed, RoomClosed))

    async def release(self) -> None:
        """Show each player what is still held back, as before a result."""
        step = self.race.steps[self._place]
        for line in self.lines:
            await line.show(*map(decode_entry, self._views[line.seat].reveal(ProjectedStep(step, (), None))))
        await self.is_heard()

    def happened_ms(self, kind: str) -> int:
        """Return the time of the last step so far that showed an entry of this type."""
        steps = self.race.steps[: self._place + 1]
        times = [step.at_ms for step in steps if f'"type":"{kind}"' in str(project(step).entries)]
        return EPOCH_MS + times[-1]

    def opening_of(self, drawn: RoundOpened, match: bytes | None = None, number: int = 1) -> entries.RoundOpened:
        """Return the entry that opens a round that was drawn."""
        return entries.RoundOpened(
            round=drawn.round,
            match=match or drawn.round,
            round_number=number,
            commitment=commit_secret(drawn.round, drawn.secret),
            signature=drawn.signature,
            until_ms=EPOCH_MS,
        )

    async def _take_part(self, step: Step) -> None:
        """Wait for the message of the player that led to a step, or for the end of a connection that did."""
        event = step.event
        kinds: dict[type, type[Message]] = {
            PlayerReady: Ready,
            Revealed: Reveal,
            Played: Play,
            RematchAsked: Rematch,
        }
        kind = kinds.get(type(event))
        match event:
            case SeatsStopped(ending=Ending.RESIGNED, seats=(seat,)):
                await self._leave(self.lines[seat])
            case SeatFreed(seat=seat, reason="left") if step.before and step.before.phase is Phase.READY:
                await self._leave(self.lines[seat])
            case Detached(seat=seat):
                self.lines[seat].is_away = True
                await self.lines[seat].cut(None)
            case _ if kind is not None:
                await self.lines[getattr(event, "seat", 0)].receive(kind)

    async def _leave(self, line: Line) -> None:
        await line.is_heard()
        assert line.client is not None
        await line.client.request(Leave())
        await line.receive(Leave)

    async def serve_socket(self, socket: ServerConnection) -> None:
        """Serve a connection: greet the client, let it enter or come back, then pass on what it sends."""
        if self.is_gone:
            socket.transport.abort()
            return
        try:
            hello = decode_from_client(await socket.recv())
            assert isinstance(hello, Hello)
            line = self.lines[NAMES.index(hello.name or "")]
            if line.is_away:
                socket.transport.abort()
                return
            token = None if hello.token else "ab"[line.seat] * 43
            await socket.send(
                encode(
                    Welcome(name=NAMES[line.seat], token=token, key=KEY.public, now_ms=EPOCH_MS, version="0.2.0")
                ).decode()
            )
            while not isinstance(request := decode_from_client(await socket.recv()), (Create, Join, Resume)):
                # A player who got ready while the connection was coming back; the client does so again in the room.
                continue
            line.socket = socket
            if isinstance(request, (Create, Join)):
                self._entered[line.seat].set()
            elif isinstance(request, Resume):
                line.seen = request.position
                await line.send(line.on_resume(line))
            async for frame in socket:
                line.inbox.put_nowait(decode_from_client(frame))
        except ConnectionClosed:
            return


def snapshot(seat: int, position: int, fold: Scene, tag: str = "00000000") -> Snapshot:
    return Snapshot(room=ROOM, seat=as_seat(seat), position=position, tag=tag, now_ms=EPOCH_MS, scene=fold)


def refusal(to: str, code: Refusal) -> Refused:
    return Refused(to=to, code=code, sentence=SENTENCES[code], number=None)


@asynccontextmanager
async def lying_server(race: HonestRace, clock: Clock) -> AsyncIterator[tuple[LyingServer, str]]:
    """Serve a race; yield its server and the URL."""
    liar = LyingServer(race, clock)
    async with serve(liar.serve_socket, "127.0.0.1", 0, subprotocols=[Subprotocol("fairest.v1")]) as server:
        yield liar, f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}"


def pick(chance: random.Random, choices: Sequence[Any]) -> Any:
    return choices[chance.randrange(len(choices))]
