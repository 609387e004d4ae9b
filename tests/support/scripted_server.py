"""A server that only follows a script: it can send anything at any time to a real client."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from fairest_protocol.calculation.deal import SealedDeal, seal_deal
from fairest_protocol.calculation.race import Turn
from fairest_protocol.calculation.seal import commit_entropy, commit_secret, make_seed
from fairest_protocol.messages import entries
from fairest_protocol.messages.codec import decode_from_client, encode
from fairest_protocol.messages.entries import Entry
from fairest_protocol.messages.fields import Message, Phase
from fairest_protocol.messages.from_client import Create, Hello, Join, Ready, Resume, Reveal
from fairest_protocol.messages.from_server import Snapshot, View, Welcome
from fairest_protocol.messages.scene import Scene, SeatScene
from tests.support.races import KEY
from tests.support.wire_client import QUICK

OPTIONS = QUICK.resolved()
ROUND, OTHER_ROUND = bytes(16), bytes([1]) * 16
SECRET, OTHER_SECRET, THEIRS = bytes(32), bytes([2]) * 32, bytes([3]) * 32
LATER = 1_900_000_000_000


class Script:
    """The server's end of one connection: seat 0 is the client, seat 1 a player who exists in the script only."""

    def __init__(self, websocket: ServerConnection) -> None:
        self.websocket = websocket
        self.position = 0
        self.received: list[Message] = []

    async def send(self, message: Message) -> None:
        await self.websocket.send(encode(message).decode())

    async def receive(self, *kinds: type[Message]) -> Any:
        while True:
            message = decode_from_client(await self.websocket.recv())
            self.received.append(message)
            if isinstance(message, kinds):
                return message

    async def show(self, *shown: Entry) -> None:
        self.position += len(shown)
        await self.send(View(position=self.position, entries=shown, tag="00000000"))

    async def show_scene(self, **changes: Any) -> None:
        seats = changes.pop("seats", (SeatScene(name="ann"), SeatScene(name="bob")))
        scene = Scene(options=changes.pop("options", OPTIONS), seats=seats, **changes)
        snapshot = Snapshot(
            room="quiet-amber-otter", seat=0, position=self.position, tag="00000000", now_ms=LATER, scene=scene
        )
        await self.send(snapshot)

    async def show_round(self, phase: Phase, ours: bytes | None = None) -> None:
        """Send a scene in which the client is committed by this hash, if to anything, and the other player is not."""
        round_ = opened()
        await self.show_scene(
            phase=phase,
            match=ROUND,
            round=ROUND,
            round_number=1,
            commitment=round_.commitment,
            signature=round_.signature,
            seats=(SeatScene(name="ann", entropy_hash=ours), SeatScene(name="bob")),
        )

    async def greet(self) -> None:
        await self.receive(Hello)
        await self.send(Welcome(name="ann", token="A" * 43, key=KEY.public, now_ms=LATER, version="0.2.0"))
        await self.receive(Create, Join, Resume)

    async def enter(self) -> None:
        await self.greet()
        await self.show_scene()

    async def open_round(self, secret: bytes = SECRET, round_id: bytes = ROUND) -> None:
        await self.show(opened(secret, round_id))

    async def bind(self) -> Ready:
        """Wait until the client is ready, show both players as ready, and return the client's message."""
        ready: Ready = await self.receive(Ready)
        await self.show(entries.PlayerReady(seat=0, entropy_hash=ready.entropy_hash), bob_is_ready())
        return ready

    async def start_race(self) -> SealedDeal:
        """Play the server's part from the first message to the first turned card, and return the deal."""
        await self.enter()
        await self.open_round()
        await self.bind()
        sealed = await self.reveal()
        await self.show(dealt(sealed), entries.Started(until_ms=LATER), turned(sealed, 0))
        return sealed

    async def reveal(self) -> SealedDeal:
        """Wait for the client's entropy, show both players' entropies, and return the deal."""
        revealed: Reveal = await self.receive(Reveal)
        await self.show(entries.Revealed(seat=0, entropy=revealed.entropy), entries.Revealed(seat=1, entropy=THEIRS))
        seed = make_seed(SECRET, (revealed.entropy, THEIRS), ROUND)
        return seal_deal(OPTIONS.chosen_rules(), seed, ROUND)


@asynccontextmanager
async def scripted_server(run_script: Callable[[Script], Awaitable[None]]) -> AsyncIterator[str]:
    """Serve each socket by a script of its own, then keep the socket open; yield the URL."""

    async def handle(websocket: ServerConnection) -> None:
        try:
            await run_script(Script(websocket))
            await websocket.wait_closed()
        except ConnectionClosed:
            return

    async with serve(handle, "127.0.0.1", 0, subprotocols=[Subprotocol("fairest.v1")]) as server:
        yield f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}"


def opened(secret: bytes = SECRET, round_id: bytes = ROUND) -> entries.RoundOpened:
    return entries.RoundOpened(
        round=round_id,
        match=round_id,
        round_number=1,
        commitment=commit_secret(round_id, secret),
        signature=KEY.open_round(round_id, secret, None, 1, OPTIONS.terms()).signature,
        until_ms=LATER,
    )


def bob_is_ready() -> entries.PlayerReady:
    return entries.PlayerReady(seat=1, entropy_hash=commit_entropy(ROUND, 1, THEIRS))


def dealt(sealed: SealedDeal, **changes: Any) -> entries.Dealt:
    deal = sealed.deal
    told = entries.Dealt(
        layout=deal.foundations,
        starters=deal.starters,
        markers=deal.markers,
        piles=4,
        redeals=0,
        envelopes=sealed.envelopes,
        until_ms=LATER,
    )
    return told.model_copy(update=changes)


def turned(sealed: SealedDeal, position: int, pass_number: int = 0) -> entries.Turned:
    card, salt = sealed.deal.orders[0][position], sealed.salt(0, position)
    return entries.Turned(seat=0, turn=Turn(pass_number, position), card=card, salt=salt)
