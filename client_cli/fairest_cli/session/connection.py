"""The way to the server and back, over any number of sockets: connects, says who we are, comes back after a drop.

A dropped connection is not an end. The loop waits a little longer after each failure, then resumes our seat behind the
last entry that we have seen, and sends again what was never answered: the moves' numbers make that harmless.
"""

import asyncio
import os
import random
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidURI
from websockets.typing import Subprotocol

from fairest_cli.model.known_room import ConnectionStatus, Contradiction, KnownRoom
from fairest_cli.model.round_check import Cheated
from fairest_cli.model.seal_check import EntropyCommitment
from fairest_cli.records.receipts import Receipt
from fairest_cli.records.record_check import WrongRecord, prove_shown
from fairest_cli.session.identity import Identity
from fairest_protocol.calculation.moves import Move
from fairest_protocol.calculation.seal import SECRET_BYTES, commit_entropy
from fairest_protocol.messages.codec import ProtocolViolation, decode_from_server, encode
from fairest_protocol.messages.fields import SUBPROTOCOL, Message, Phase
from fairest_protocol.messages.from_client import (
    Create,
    FromClient,
    GetRecord,
    Hello,
    Join,
    Leave,
    Play,
    Ready,
    Rematch,
    Resume,
    Reveal,
    Watch,
)
from fairest_protocol.messages.from_server import Error, FromServer, MatchRecord, Refused, Snapshot, View, Welcome
from fairest_protocol.messages.refusals import Breach, CloseCode, Refusal
from fairest_protocol.value import Value, replace

MAX_FRAME_BYTES: Final = 1024 * 1024
FIRST_WAIT_SECONDS: Final = 0.1
LONGEST_WAIT_SECONDS: Final = 5.0
STEADY_SECONDS: Final = 5.0
"""A connection that held this long starts the waits anew, and so does one on which the room went on."""
WELCOME_SECONDS: Final = 5.0
"""A server that was said hello to answers in this time, or another one may."""
HEARTBEAT_SECONDS: Final = 5.0
"""The server is asked this often whether it is there, and has this long to answer."""
ANSWER_SECONDS: Final = 5.0
"""A move that is not answered in this time goes again over a new connection: this one may be dead without a sign."""
PATIENCE_SECONDS: Final = 0.3
"""Before a move is sent again that the server could not store."""

EntryRequest = Create | Join | Watch


class Rejected(Exception):
    """The server does not let us do what we came for, and asking again does not help. The text is its sentence."""


class Update(Value):
    """Something changed: what was heard, if anything was, and what we know now. `note` is for people."""

    model: KnownRoom
    message: FromServer | None = None
    note: str = ""


class _ConnectStraight(connect):
    """A socket to the address that was asked for, or none: no answer sends us, and our token, somewhere else."""

    def process_redirect(self, exc: Exception) -> Exception:
        """The answer that points elsewhere is the failure that it would be without that."""
        return exc


class Connection:
    """One player's or spectator's way to a server. Iterate over `updates`; say things with the other methods."""

    def __init__(
        self,
        server_url: str,
        identity: Identity,
        request: EntryRequest,
        *,
        name: str | None = None,
        gives_up_after: int | None = None,
        receipts: Path | None = None,
    ) -> None:
        """`gives_up_after` so many failed attempts in a row to reach the server at first; afterwards, never.

        `receipts` is the folder for the player's receipt, if one is to be kept.
        """
        self.model = KnownRoom(server_url=server_url).with_entropy_commitment(identity.entropy_commitment)
        self._url = server_url
        self._identity = identity
        self._request = request
        self._name = name
        self._gives_up_after = gives_up_after
        self.receipt = Receipt(receipts) if receipts else None
        self._socket: ClientConnection | None = None
        self._has_introduced_itself = False
        self._is_welcome = False
        self._was_served = False
        self._entered = asyncio.Event()

    @property
    def local_port(self) -> int | None:
        """The port at our end of the present socket, None while there is none."""
        return int(self._socket.local_address[1]) if self._socket is not None else None

    def cut(self) -> None:
        """End the present socket without a word, as a network does that goes away."""
        if self._socket is not None:
            self._socket.transport.abort()

    async def updates(self) -> AsyncGenerator[Update]:
        """What changes, until the server has no more for us. Raises `Rejected` and `Cheated`; safe to cancel."""
        try:
            async with aclosing(self._sockets()) as updates:
                async for update in updates:
                    yield update
        finally:
            if self.receipt is not None:
                self.receipt.close()

    async def _sockets(self) -> AsyncGenerator[Update]:
        """One connection after the other."""
        failures = 0
        while True:
            since = time.monotonic()
            try:
                async with aclosing(self._one_socket()) as updates:
                    async for update in updates:
                        yield update
                note = "The connection was lost."
            except (OSError, TimeoutError, InvalidHandshake) as reason:
                note = f"No server answers at {self._url} ({_why(reason)})."
            except InvalidURI as reason:
                raise Rejected(f"{self._url} is no WebSocket address; it looks like ws://host:port") from reason
            is_good = self._was_served or time.monotonic() - since > STEADY_SECONDS
            failures = 0 if is_good else failures + 1
            if self.model.room is None and self._gives_up_after is not None and failures >= self._gives_up_after:
                raise Rejected(f"{note} Is it running? Start one with: fairest-server")
            self.model = self.model.with_status(ConnectionStatus.LOST)
            yield Update(self.model, note=f"{note} Trying again ...")
            wait = min(LONGEST_WAIT_SECONDS, FIRST_WAIT_SECONDS * 2**failures)
            await asyncio.sleep(wait * random.uniform(0.5, 1))

    async def entered(self) -> str:
        """The code of the room that we are in, once we are; somebody must be iterating over `updates`."""
        await self._entered.wait()
        assert self.model.room is not None, "who has entered is in a room"
        return self.model.room

    async def play(self, move: Move) -> None:
        """Send a move under the next number. It is sent again after a drop, until it is answered."""
        play = self.model.next_play(move)
        self.model = self.model.with_sent(play)
        if self._has_introduced_itself:
            await self._send(play)

    async def get_ready(self) -> None:
        """Say that we are ready, bound to random bytes of our own, if the server has bound itself."""
        seal = self.model.seal_check
        if seal.round_id is None or seal.seat is None or seal.is_secret_known:
            return
        bond = self._identity.entropy_commitment
        if bond is None or (bond.round_id, bond.commitment) != (seal.round_id, seal.commitment):
            entropy = os.urandom(SECRET_BYTES)
            entropy_hash = commit_entropy(seal.round_id, seal.seat, entropy)
            bond = EntropyCommitment(seal.round_id, seal.commitment, seal.seat, entropy, entropy_hash)
            self._identity.keep_entropy_commitment(bond)
        self.model = self.model.with_entropy_commitment(bond)
        await self._say(Ready(round=bond.round_id, entropy_hash=bond.entropy_hash))

    async def ask_rematch(self) -> None:
        """Ask for another match."""
        await self._say(Rematch())

    async def ask_record(self) -> None:
        """Ask for the record of the match that is over."""
        await self._say(GetRecord())

    async def leave(self) -> None:
        """Leave the room; in a race that is resigning."""
        await self._say(Leave())

    async def _one_socket(self) -> AsyncGenerator[Update]:
        is_local = (urlsplit(self._url).hostname or "") in ("localhost", "127.0.0.1", "::1")
        async with _ConnectStraight(
            self._url,
            subprotocols=[Subprotocol(SUBPROTOCOL)],
            compression=None,
            max_size=MAX_FRAME_BYTES,
            open_timeout=5,
            ping_interval=HEARTBEAT_SECONDS,
            ping_timeout=HEARTBEAT_SECONDS,
            close_timeout=1,
            proxy=None if is_local else True,
        ) as socket:
            self._socket, self._has_introduced_itself = socket, False
            self._is_welcome = self._was_served = False
            try:
                await self._say(Hello(token=self._identity.token, name=self._name, client="fairest"))
                asyncio.get_running_loop().call_later(WELCOME_SECONDS, self._expect_welcome, socket)
                async for frame in socket:
                    message = decode_from_server(frame)
                    self._hear(message, int(time.time() * 1000))
                    yield Update(self.model, message, self._compare_key(message))
                    await self._react(message)
            except (Contradiction, ProtocolViolation) as reason:
                raise Rejected(f"the server contradicts itself: {reason}") from reason
            except ConnectionClosed:
                pass
            finally:
                self._socket = None
            self._judge_close(socket)

    def _expect_answer(self, socket: ClientConnection, play: Play) -> None:
        if socket is self._socket and play in self.model.sent:
            socket.transport.abort()

    def _expect_welcome(self, socket: ClientConnection) -> None:
        """A server that takes a connection and does not answer on it is as good as none."""
        if socket is self._socket and not self._is_welcome:
            socket.transport.abort()

    def _hear(self, message: FromServer, now_ms: int) -> None:
        """Take a message; it stands in the receipt before it is judged."""
        if self.receipt is not None and isinstance(message, (Snapshot, View)):
            self.receipt.heard(message, self._url, self.model.seal_check.key, now_ms)
        self._check_turn(message)
        self.model = self.model.after(message, now_ms)
        if isinstance(message, MatchRecord):
            self._prove(message)

    def _check_turn(self, message: FromServer) -> None:
        """A welcome comes once, and first; a snapshot only in answer to our coming in."""
        is_welcome = isinstance(message, Welcome)
        if is_welcome == self._is_welcome and isinstance(message, (Welcome, Snapshot, View)):
            raise Contradiction("it welcomes us twice" if is_welcome else "it shows a room before it has welcomed us")
        if isinstance(message, Snapshot):
            if self._has_introduced_itself:
                raise Contradiction("it sends a snapshot that nobody asked for")
            wanted = self._request.options if isinstance(self._request, Create) and self.model.room is None else None
            if wanted is not None and message.scene.options != wanted.resolved():
                raise Contradiction("it made another room than the one that was asked for")
        self._is_welcome = self._is_welcome or is_welcome

    def _prove(self, message: MatchRecord) -> None:
        """A record has to be sound, and of what we were shown. Raises `Cheated`."""
        try:
            prove_shown(message.lines, self.model)
        except WrongRecord as reason:
            raise Cheated(f"The record of the match is wrong: {reason}") from reason

    def _compare_key(self, message: FromServer) -> str:
        """A warning if the server is not, or not any more, the one that we met under this address."""
        if not isinstance(message, Welcome):
            return ""
        known = self._identity.server_key
        self._identity.keep_server_key(message.key)
        if known in (None, message.key):
            return ""
        return f"Beware: this server signs with another key than when you were here last ({message.key.hex()[:16]})."

    async def _react(self, message: FromServer) -> None:
        """What a client does by itself, whatever its face."""
        match message:
            case Welcome(token=token):
                if token is not None:
                    self._identity.keep_token(token)
                self.model = self.model.with_status(ConnectionStatus.CONNECTED)
                await self._say(self._entrance())
            case Snapshot() | View():
                self._was_served = self._has_introduced_itself
                if not self._has_introduced_itself:
                    self._has_introduced_itself = True
                    self._entered.set()
                    for play in self.model.sent:
                        await self._send(play)
                await self._reveal()
            case Refused(to="hello" | "create" | "join" | "watch" | "resume", code=code, sentence=sentence):
                if code is not Refusal.TRY_AGAIN:
                    raise Rejected(sentence)
                await self._come_again()
            case Refused(to="play", code=Refusal.TRY_AGAIN, number=number):
                # All that is unanswered goes again once, with the first refusal; the others' refusals are its echo.
                if self.model.sent and number == self.model.sent[0].number:
                    await asyncio.sleep(PATIENCE_SECONDS)
                    for play in self.model.sent:
                        await self._send(play)
            case Refused(code=Refusal.TRY_AGAIN):
                await self._come_again()
            case Error(code=Breach.BAD_TOKEN):
                self._identity.keep_token(None)
            case _:
                pass

    def _entrance(self) -> FromClient:
        """First what we came for; after a drop, back to where we were."""
        room = self.model.room
        if room is None:
            return self._request
        if self.model.seat is None:
            return Watch(room=room)
        return Resume(room=room, position=self.model.position, tag=self.model.tag)

    async def _come_again(self) -> None:
        """The server cannot serve us right now: a new connection may find another one that can."""
        if self._socket is not None:
            await self._socket.close()

    async def _reveal(self) -> None:
        """Show our entropy, once everybody is bound, and remember to what the other one was."""
        scene, own, seal = self.model.scene, self.model.own, self.model.seal_check
        bond = seal.entropy_commitment
        if scene is None or own is None or scene.phase is not Phase.DEALING or own.entropy:
            return
        if bond is not None and seal.may_reveal:
            shown = replace(bond, other_hash=seal.entropy_hashes[1 - bond.seat])
            self._identity.keep_entropy_commitment(shown)
            self.model = self.model.with_entropy_commitment(shown)
            await self._say(Reveal(round=bond.round_id, entropy=bond.entropy))

    async def _send(self, play: Play) -> None:
        await self._say(play)
        if self._socket is not None:
            asyncio.get_running_loop().call_later(ANSWER_SECONDS, self._expect_answer, self._socket, play)

    async def _say(self, message: Message) -> None:
        if self._socket is None:
            return
        if self.receipt is not None and isinstance(message, (Ready, Reveal, Play)):
            self.receipt.said(message, int(time.time() * 1000))
        try:
            await self._socket.send(encode(message).decode())
        except ConnectionClosed:
            # The reading side sees it too; what matters is sent again on the next socket.
            return

    def _judge_close(self, socket: ClientConnection) -> None:
        code = socket.close_code or 0
        if code == CloseCode.BAD_TOKEN:
            return
        if code in (CloseCode.TOO_BIG, CloseCode.BINARY_FRAME) or code >= 4000:
            raise Rejected(
                "You play this seat from another terminal now."
                if code == CloseCode.REPLACED
                else f"The server ended the connection: {socket.close_reason or code}."
            )


def _why(reason: Exception) -> str:
    """What went wrong, in the system's words where there are any."""
    if isinstance(reason, OSError) and reason.errno and reason.errno > 0:
        return os.strerror(reason.errno)
    return str(reason) or type(reason).__name__
