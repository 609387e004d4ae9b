"""A client's connection to the server, over any number of sockets: it enters, reacts, and reconnects after a drop.

A dropped socket does not end the connection. The connection waits, opens another socket, resumes our seat after the
last entry that we received, and sends every unanswered move again. Moves are numbered, so the server makes each once.
"""

import asyncio
import random
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import Final

from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidURI

from fairest_cli.model.known_room import ConnectionStatus, Contradiction, KnownRoom
from fairest_cli.model.outcome_check import Cheated
from fairest_cli.records.receipts import Receipt
from fairest_cli.records.record_check import WrongRecord, prove_shown
from fairest_cli.session.entropy import EntropyExchange
from fairest_cli.session.identity import Identity
from fairest_cli.session.websocket import (
    Rejected,
    ServerSocket,
    check_close,
    explain_failure,
    open_websocket,
    refuse_banned_address,
)
from fairest_protocol.calculation.moves import Move
from fairest_protocol.messages.codec import ProtocolViolation, decode_from_server
from fairest_protocol.messages.fields import Message
from fairest_protocol.messages.from_client import (
    Create,
    FromClient,
    GetRecord,
    Hello,
    Join,
    Leave,
    Ready,
    Rematch,
    Resume,
    Reveal,
    Watch,
)
from fairest_protocol.messages.from_server import Error, FromServer, MatchRecord, Refused, Snapshot, View, Welcome
from fairest_protocol.messages.refusals import Breach, Refusal
from fairest_protocol.value import Value

FIRST_WAIT_SECONDS: Final = 0.1
LONGEST_WAIT_SECONDS: Final = 5.0
STEADY_SECONDS: Final = 5.0
"""A socket that lasted this long resets the waits between attempts; so does one that has shown a change in the room."""
WELCOME_SECONDS: Final = 5.0
"""A server that does not answer `hello` within this time is left, in case another one answers."""
RETRY_SECONDS: Final = 0.3
"""The wait before the client sends the moves again that the server could not store."""

EntryRequest = Create | Join | Watch
"""The request with which a client enters a room for the first time."""


class Update(Value):
    """A change: the model after it, and the message that caused it, if one did. `note` is a sentence for people."""

    model: KnownRoom
    message: FromServer | None = None
    note: str = ""


class Connection:
    """One player's or spectator's connection to a server.

    The connection lives while a task iterates over `updates`; the other methods send requests. `model` is our knowledge
    of the room, `receipt` the player's receipt, None if no receipt is kept.
    """

    def __init__(
        self,
        server_url: str,
        identity: Identity,
        entry_request: EntryRequest,
        *,
        name: str | None = None,
        gives_up_after: int | None = None,
        receipts: Path | None = None,
    ) -> None:
        """`receipts` is the folder for the player's receipt; without it, no receipt is kept.

        After `gives_up_after` failed attempts in a row, a connection that has not entered a room gives up. One that has
        entered a room never does.
        """
        self.model = KnownRoom(server_url=server_url).with_entropy_commitment(identity.entropy_commitment)
        self.receipt = Receipt(receipts) if receipts else None
        self._url = server_url
        self._identity = identity
        self._entropy = EntropyExchange(identity)
        self._entry_request = entry_request
        self._name = name
        self._gives_up_after = gives_up_after
        self._socket: ServerSocket | None = None
        self._has_room_gone_on = False
        self._ban_sentence = ""
        """The server's sentence about our ban, if it has banned us."""
        self._entered = asyncio.Event()

    @property
    def local_port(self) -> int | None:
        """The port at our end of the present socket, or None while there is no socket."""
        return self._socket.local_port if self._socket is not None else None

    def cut(self) -> None:
        """End the present socket as a network failure would. The connection then opens another one."""
        if self._socket is not None:
            self._socket.abort()

    async def updates(self) -> AsyncGenerator[Update]:
        """Yield each change, until the server ends the connection for good.

        Raises `Rejected` and `Cheated`. Safe to cancel: the server keeps the seat, and the receipt is closed.
        """
        try:
            async with aclosing(self._reconnect()) as updates:
                async for update in updates:
                    yield update
        finally:
            if self.receipt is not None:
                self.receipt.close()

    async def _reconnect(self) -> AsyncGenerator[Update]:
        """Yield the changes on each socket in turn, and after each socket a change to `LOST`."""
        failures = 0
        while True:
            since = time.monotonic()
            try:
                async with aclosing(self._run_socket()) as updates:
                    async for update in updates:
                        yield update
                note = "The connection was lost."
            except (OSError, TimeoutError, InvalidHandshake) as reason:
                refuse_banned_address(reason)
                note = f"No server answers at {self._url} ({explain_failure(reason)})."
            except InvalidURI as reason:
                raise Rejected(f"{self._url} is not a WebSocket address; one looks like ws://host:port") from reason
            is_good = self._has_room_gone_on or time.monotonic() - since > STEADY_SECONDS
            failures = 0 if is_good else failures + 1
            if self.model.room is None and self._gives_up_after is not None and failures >= self._gives_up_after:
                raise Rejected(f"{note} Is it running? Start one with: fairest-server")
            self.model = self.model.with_status(ConnectionStatus.LOST)
            yield Update(self.model, note=f"{note} Trying again ...")
            wait = min(LONGEST_WAIT_SECONDS, FIRST_WAIT_SECONDS * 2**failures)
            await asyncio.sleep(wait * random.uniform(0.5, 1))

    async def entered(self) -> str:
        """Wait until we have entered a room, and return its code; another task must be iterating over `updates`."""
        await self._entered.wait()
        assert self.model.room is not None, "a client that has entered is in a room"
        return self.model.room

    async def play(self, move: Move) -> None:
        """Send a move under the next number. After each drop, it is sent again until the server answers it."""
        play = self.model.next_play(move)
        self.model = self.model.with_sent(play)
        if self._socket is not None and self._socket.is_in_room:
            await self._socket.send_play(play)

    async def get_ready(self) -> None:
        """Report that we are ready, and commit us to random bytes; do nothing until the server has committed itself."""
        known = self._entropy.commit(self.model.seal_check)
        if known is not None:
            self.model = self.model.with_entropy_commitment(known)
            await self._send(Ready(round=known.round_id, entropy_hash=known.entropy_hash))

    async def ask_rematch(self) -> None:
        """Ask for another match."""
        await self._send(Rematch())

    async def ask_record(self) -> None:
        """Ask for the record of the match that is over."""
        await self._send(GetRecord())

    async def leave(self) -> None:
        """Leave the room; in a race, that is resigning."""
        await self._send(Leave())

    async def _run_socket(self) -> AsyncGenerator[Update]:
        """Open a socket, and yield the changes until it ends. Raises `Rejected` and `Cheated`."""
        # Before the attempt: one that fails must count as a failure, and be followed by a longer wait.
        self._has_room_gone_on = False
        websocket = await open_websocket(self._url)
        self._socket = socket = ServerSocket(websocket, self.receipt, lambda play: play in self.model.sent)
        try:
            await socket.send(Hello(token=self._identity.token, name=self._name, client="fairest"))
            asyncio.get_running_loop().call_later(WELCOME_SECONDS, socket.abort_unless_welcomed)
            async for frame in websocket:
                message = decode_from_server(frame)
                self._receive(socket, message, int(time.time() * 1000))
                yield Update(
                    self.model,
                    message,
                    self._identity.compare_key(message.key) if isinstance(message, Welcome) else "",
                )
                await self._react(socket, message)
        except (Contradiction, ProtocolViolation) as reason:
            raise Rejected(f"the server contradicts itself: {reason}") from reason
        except ConnectionClosed:
            pass
        finally:
            self._socket = None
            # Not by `async with`, which closes with 1011, an error, also when the caller stops iterating or is
            # cancelled: the ways in which every match ends.
            await websocket.close()
        check_close(websocket.close_code or 0, websocket.close_reason or "", self._ban_sentence)

    def _receive(self, socket: ServerSocket, message: FromServer, now_ms: int) -> None:
        """Check a message and fold it into the model. Raises `Contradiction` and `Cheated`.

        The receipt is written first, so that it also holds a message that breaks the seal.
        """
        if self.receipt is not None and isinstance(message, (Snapshot, View)):
            self.receipt.add_heard(message, self._url, self.model.seal_check.key, now_ms)
        socket.check_order(message)
        if isinstance(message, Snapshot) and isinstance(self._entry_request, Create) and self.model.room is None:
            wanted = self._entry_request.options
            if wanted is not None and message.scene.options != wanted.resolved():
                raise Contradiction("it made another room than the one that was asked for")
        self.model = self.model.after(message, now_ms)
        if isinstance(message, MatchRecord):
            try:
                prove_shown(message.lines, self.model)
            except WrongRecord as reason:
                raise Cheated(f"The record of the match is wrong: {reason}") from reason

    async def _react(self, socket: ServerSocket, message: FromServer) -> None:
        """Answer a message as far as the answer does not depend on the player. Raises `Rejected`."""
        match message:
            case Welcome(token=token):
                if token is not None:
                    self._identity.keep_token(token)
                self.model = self.model.with_status(ConnectionStatus.CONNECTED)
                await socket.send(_next_entry_request(self.model, self._entry_request))
            case Snapshot() | View():
                self._has_room_gone_on = socket.is_in_room
                if not socket.is_in_room:
                    socket.is_in_room = True
                    self._entered.set()
                    for play in self.model.sent:
                        await socket.send_play(play)
                revealed = self._entropy.reveal(self.model)
                if revealed is not None:
                    self.model = self.model.with_entropy_commitment(revealed)
                    await socket.send(Reveal(round=revealed.round_id, entropy=revealed.entropy))
            case Refused(to="hello" | "create" | "join" | "watch" | "resume", code=code, sentence=sentence):
                if code is not Refusal.TRY_AGAIN:
                    raise Rejected(sentence)
                # The server cannot serve us right now; on a new socket another process may.
                await socket.websocket.close()
            case Refused(to="play", code=Refusal.TRY_AGAIN, number=number):
                # The server refuses the moves behind this one too, so only the refusal of the first one counts.
                if self.model.sent and number == self.model.sent[0].number:
                    await asyncio.sleep(RETRY_SECONDS)
                    for play in self.model.sent:
                        await socket.send_play(play)
            case Refused(code=Refusal.TRY_AGAIN):
                await socket.websocket.close()
            case Error(code=Breach.BANNED, sentence=sentence):
                self._ban_sentence = sentence
            case Error(code=Breach.BAD_TOKEN):
                self._identity.keep_token(None)
            case _:
                pass

    async def _send(self, message: Message) -> None:
        """Send a message on the present socket; do nothing while there is none."""
        if self._socket is not None:
            await self._socket.send(message)


def _next_entry_request(model: KnownRoom, first: EntryRequest) -> FromClient:
    """Return the request to send after `welcome`: `first`, or after a drop, the request that leads back to the room."""
    if model.room is None:
        return first
    if model.seat is None:
        return Watch(room=model.room)
    return Resume(room=model.room, position=model.position, tag=model.tag)
