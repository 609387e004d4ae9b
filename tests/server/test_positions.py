"""Positions on one connection: whatever it leaves, watches, joins and resumes, its next view starts at position + 1."""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from hypothesis import example, given
from hypothesis import strategies as st

from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.calculation.seal import commit_entropy
from fairest_protocol.messages.codec import decode_from_server
from fairest_protocol.messages.fields import Message, Phase
from fairest_protocol.messages.from_client import (
    GetLobby,
    Join,
    Leave,
    Play,
    Ready,
    Rematch,
    Resume,
    Reveal,
    Watch,
)
from fairest_protocol.messages.from_server import FromServer, Left, LobbyPage, Refused, Snapshot, View
from fairest_protocol.messages.options import RoomOptions, Spectators
from fairest_protocol.messages.scene import Scene
from fairest_server.app import running
from fairest_server.settings import Settings
from tests.support.waiting import PATIENCE_SECONDS, until
from tests.support.wire_client import WireClient, open_client, racing_players

VISITORS: Final = 4
"""Two players in a race, one spectator, and a player who has just come."""
ENTROPY: Final = hashlib.sha256(b"entropy").digest()
ACTIONS: Final = ("leave", "watch", "join", "resume", "play", "stop", "go on", "look around")
actions = st.tuples(st.integers(0, VISITORS - 1), st.sampled_from(ACTIONS))
rooms = st.sampled_from(
    [
        RoomOptions(countdown_seconds=0),
        RoomOptions(countdown_seconds=0, spectators=Spectators.OPEN, best_of=3),
    ]
)


@dataclass(frozen=True)
class Seen:
    """How far a view was seen: its last position, the tag there, and the scene."""

    position: int
    tag: str
    scene: Scene
    seat: int | None = None


@dataclass(eq=False)
class Visitor:
    """One connection, which folds what it is sent and notes every message that breaks the contract."""

    client: WireClient
    room: str
    seen: Seen | None = None
    """How far it has seen the room that it is in; None outside."""
    as_player: Seen | None = None
    """How far it had seen the room when it last was a player there."""
    entries: dict[str, Seen | None] = field(default_factory=dict)
    """By their ids the requests to enter that are not answered, and for each how far had been seen what it resumes."""
    requests: int = 0
    pages: int = 0
    faults: list[str] = field(default_factory=list)

    async def read(self) -> None:
        """Take messages until cancelled."""
        async for frame in self.client.socket:
            assert isinstance(frame, str)
            self.take(decode_from_server(frame))

    def take(self, message: FromServer) -> None:
        """Fold a message, and note what it contradicts."""
        if isinstance(message, Snapshot):
            self.expect(self.seen is None and message.id in self.entries, message)
            self.answered(message)
            self.note(Seen(message.position, message.tag, message.scene, message.seat))
        elif isinstance(message, View):
            known = self.seen or self.answered(message)
            self.expect(known is not None and message.first == known.position + 1, message)
            if known is not None:
                scene = known.scene
                for entry in message.entries:
                    scene = scene.after(entry)
                self.note(Seen(message.position, message.tag, scene, known.seat))
        elif isinstance(message, Left):
            # A leave right behind the request to enter is answered for both.
            self.expect(self.seen is not None or bool(self.entries), message)
            if self.seen is None and self.entries:
                del self.entries[next(iter(self.entries))]
            self.seen = None
        elif isinstance(message, Refused):
            self.answered(message)
        elif isinstance(message, LobbyPage):
            self.pages += 1

    def answered(self, message: Snapshot | View | Refused) -> Seen | None:
        """Forget the request to enter that this answers, if it answers one; return how far was seen what it resumes."""
        return None if message.id is None else self.entries.pop(message.id, None)

    def note(self, seen: Seen) -> None:
        self.seen = seen
        if seen.seat is not None:
            self.as_player = seen

    def expect(self, is_as_promised: bool, message: FromServer) -> None:
        if not is_as_promised:
            known = None if self.seen is None else self.seen.position
            self.faults.append(f"at position {known}: {message!r}"[:300])

    async def act(self, action: str) -> None:
        """Send the messages of this action, and wait for an answer only if it looks around."""
        for message in self.messages(action):
            if isinstance(message, (Join, Watch, Resume)):
                await self.client.send(message.with_id(self.named_entry(message)))
            else:
                await self.client.send(message)
        if action == "look around":
            await self.look_around()

    def named_entry(self, message: Message) -> str:
        """Return an id for a request to enter, and wait for its answer from now on."""
        self.requests += 1
        request_id = f"entry-{self.requests}"
        self.entries[request_id] = self.as_player if isinstance(message, Resume) else None
        return request_id

    async def look_around(self) -> None:
        """Wait until everything is answered that was sent by now."""
        wanted = self.pages + 1
        await self.client.send(GetLobby())

        async def is_answered() -> bool:
            return self.pages >= wanted

        await until(is_answered, "the lobby is shown")

    def messages(self, action: str) -> list[Message]:
        match action:
            case "leave":
                return [Leave()]
            case "watch":
                return [Watch(room=self.room)]
            case "join":
                return [Join(room=self.room)]
            case "resume" if self.as_player is not None and not (self.seen and self.seen.seat is not None):
                return [Resume(room=self.room, position=self.as_player.position, tag=self.as_player.tag)]
            case "play" | "stop":
                return self.move("stop" if action == "stop" else "sa")
            case "go on":
                return self.go_on()
            case _:
                return []

    def move(self, text: str) -> list[Message]:
        if self.seen is None or self.seen.seat is None or self.seen.scene.phase is not Phase.RACING:
            return []
        return [Play(number=self.seen.scene.seats[self.seen.seat].moves + 1, move=MOVES[text])]

    def go_on(self) -> list[Message]:
        """Do what the phase asks of a player."""
        if self.seen is None or self.seen.seat is None:
            return []
        scene, seat = self.seen.scene, self.seen.seat
        match scene.phase:
            case Phase.READY if scene.round is not None:
                return [Ready(round=scene.round, entropy_hash=commit_entropy(scene.round, seat, ENTROPY))]
            case Phase.DEALING if scene.round is not None:
                return [Reveal(round=scene.round, entropy=ENTROPY)]
            case Phase.FINISHED:
                return [Rematch()]
            case _:
                return self.move("sa")


@asynccontextmanager
async def visited_room(url: str, options: RoomOptions) -> AsyncIterator[list[Visitor]]:
    """Yield the visitors of a room in which a race has begun: its players, one spectator, and one outside."""
    async with AsyncExitStack() as stack:
        players = await stack.enter_async_context(racing_players(url, options=options))
        others = [await stack.enter_async_context(open_client(url)) for _ in range(VISITORS - len(players))]
        room = players[0].room
        await others[0].enter(Watch(room=room))
        visitors = []
        for client in (*players, *others):
            visitor = Visitor(client, room)
            if client.scene is not None and client.tag is not None:
                visitor.note(Seen(client.position, client.tag, client.scene, client.seat))
            visitors.append(visitor)
        reading = [asyncio.create_task(visitor.read()) for visitor in visitors]
        try:
            yield visitors
        finally:
            for task in reading:
                task.cancel()
            await asyncio.gather(*reading, return_exceptions=True)


async def settle(url: str, visitors: list[Visitor]) -> None:
    """Let one more entry follow, and wait until all spectators have it: frames that were late have come before it."""
    await asyncio.gather(*(visitor.look_around() for visitor in visitors))
    seated = [visitor for visitor in visitors if visitor.seen and visitor.seen.seat is not None]
    outside = [visitor for visitor in visitors if visitor.seen is None]
    if seated:
        await seated[0].act("leave")
    elif outside:
        await outside[0].act("join")
    await asyncio.gather(*(visitor.look_around() for visitor in visitors))
    async with open_client(url) as newcomer:
        last = (await newcomer.enter(Watch(room=visitors[0].room))).position

    async def has_seen_all() -> None:
        spectators = [visitor.seen for visitor in visitors if visitor.seen and visitor.seen.seat is None]
        assert all(seen.position >= last for seen in spectators) or any(visitor.faults for visitor in visitors)

    await until(has_seen_all, f"all spectators have seen position {last}")


async def visit(redis_url: str, options: RoomOptions, doings: list[tuple[int, str]]) -> list[str]:
    """Let visitors of a room do this, one after the other; return what broke the contract."""
    settings = Settings(port=0, redis_url=redis_url, messages_burst=10_000)
    async with running(settings) as url, visited_room(url, options) as visitors:
        for number, action in doings:
            await visitors[number].act(action)
        await settle(url, visitors)
        return [fault for visitor in visitors for fault in visitor.faults]


@given(options=rooms, doings=st.lists(actions, max_size=40))
@example(
    options=RoomOptions(countdown_seconds=0),
    doings=[(0, "play"), (1, "play"), (1, "look around"), (3, "watch"), (3, "look around"), (2, "leave"), (2, "watch")],
)
@example(
    options=RoomOptions(countdown_seconds=0),
    doings=[(0, "leave"), (0, "look around"), (0, "resume"), (0, "look around"), (0, "watch")],
)
@example(  # The watch is refused before the resume is answered.
    options=RoomOptions(countdown_seconds=0),
    doings=[(0, "stop"), (0, "leave"), (0, "look around"), (0, "resume"), (0, "watch")],
)
def test_the_next_view_starts_at_position_plus_one(
    redis_server: str, options: RoomOptions, doings: list[tuple[int, str]]
) -> None:
    assert asyncio.run(asyncio.wait_for(visit(redis_server, options, doings), PATIENCE_SECONDS)) == []
