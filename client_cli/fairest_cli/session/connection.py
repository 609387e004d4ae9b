"""A client's connection to the server, over any number of sockets: it enters, reacts, and reconnects after a drop.

A dropped socket does not end the connection. The connection waits, opens another socket, resumes our seat after the
last entry that we received, and sends every unanswered move again. Moves are numbered, so the server makes each once.
"""

import asyncio
import random
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from pathlib import Path
from typing import Final

from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidURI

from fairest_cli.model.cheated import Cheated
from fairest_cli.model.known_room import ConnectionStatus, Contradiction, KnownRoom
from fairest_cli.model.round_end import WayOut
from fairest_cli.records.earlier_run import EarlierRun
from fairest_cli.records.receipts import Receipt
from fairest_cli.records.record_check import WrongRecord, prove_shown
from fairest_cli.session.backoff import Backoff
from fairest_cli.session.entropy import EntropyExchange
from fairest_cli.session.evidence_notes import note_drop, note_pong, note_said, note_silence
from fairest_cli.session.failures import advise_without_server, describe_failure, refuse_banned_address
from fairest_cli.session.identity import Identity
from fairest_cli.session.own_clock import now_ms
from fairest_cli.session.room_address import open_at_room, requested_room
from fairest_cli.session.room_move import try_move
from fairest_cli.session.saving import NewProblems
from fairest_cli.session.server_socket import ServerSocket
from fairest_cli.session.websocket import (
    EntryRequest,
    Rejected,
    RoomRequest,
    check_close,
    check_options,
    fit_request,
    make_hello,
    make_repeatable,
    next_entry_request,
)
from fairest_protocol.calculation.moves import Move
from fairest_protocol.messages.codec import ProtocolViolation, decode_from_server
from fairest_protocol.messages.fields import Message
from fairest_protocol.messages.from_client import FromClient, GetRecord, Ready, Reveal
from fairest_protocol.messages.from_server import (
    Elsewhere,
    Error,
    FromServer,
    Left,
    MatchRecord,
    Queued,
    Refused,
    Snapshot,
    View,
    Welcome,
)
from fairest_protocol.messages.refusals import SEND_AGAIN, Breach, CloseCode, Refusal
from fairest_protocol.value import Value

WELCOME_SECONDS: Final = 5.0
"""A server that does not answer `hello` within this time is left, in case another one answers."""
RETRY_SECONDS: Final = 0.3
"""The wait before the client sends what the server could not store, or is in doubt about, again."""

CONTRADICTS: Final = "the server contradicts itself: "


class Update(Value):
    """A change: the model after it, and the message that caused it, if one did. `note` is a sentence for people.

    `problem` says that something could not be saved, when that is new. `earlier` is there with the first snapshot of a
    seat to which this client has come back after an earlier run of it had ended.
    """

    model: KnownRoom
    message: FromServer | None = None
    note: str = ""
    problem: str = ""
    earlier: EarlierRun | None = None


class Connection:
    """One player's or spectator's connection to a server.

    The connection lives while a task iterates over `updates`; the other methods send requests. `model` is our knowledge
    of the room, `receipt` the player's receipt, None if no receipt is kept, `capabilities` those of the server, and
    `entry_request` the request that leads into the first room.
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
        clock: Callable[[], int] = now_ms,
    ) -> None:
        """`receipts` is the folder for the player's receipt; without it, no receipt is kept. `clock` is our own.

        After `gives_up_after` failed attempts in a row, a connection that has not entered a room gives up. One that has
        entered a room never does.
        """
        self.model = KnownRoom(server_url=server_url).with_entropy_commitment(identity.entropy_commitment)
        self.receipt = Receipt(receipts) if receipts else None
        self.capabilities: tuple[str, ...] = ()
        self._url = server_url
        self._identity = identity
        self._entropy = EntropyExchange(identity)
        self.entry_request = make_repeatable(entry_request)
        self._name = name
        self._gives_up_after = gives_up_after
        self._clock = clock
        self._socket: ServerSocket | None = None
        self._has_room_gone_on = False
        self._ban_sentence = ""
        """The server's sentence about our ban, if it has banned us."""
        self._new_problems = NewProblems()
        self._entered = asyncio.Event()
        self._asked: dict[str, FromClient] = {}
        """By their types, the last requests on the present socket that are sent again if the server asks for that."""

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
        way_out, detail = WayOut.QUIT, ""
        try:
            async with aclosing(self._reconnect()) as updates:
                async for update in updates:
                    yield update
        except Rejected as reason:
            way_out, detail = reason.way_out, str(reason).removeprefix(CONTRADICTS)
            before, self.model = self.model, self.model.after_way_out(way_out, detail, self._clock())
            explanation = self.model.binding.explanation_since(before.binding)
            if explanation:
                raise Rejected(f"{reason} {explanation}", way_out) from reason
            raise
        finally:
            if self.receipt is not None:
                self.receipt.add_end(way_out, detail, self._clock())
                self.receipt.close()

    async def _reconnect(self) -> AsyncGenerator[Update]:
        """Yield the changes on each socket in turn, and after each socket a change to `LOST`."""
        backoff, chance = Backoff(), random.Random()
        while True:
            since, lasted = time.monotonic(), 0.0
            try:
                # After a failure elsewhere: the process that does not answer may be that of our room.
                async with aclosing(self._run_socket(names_room=backoff.failures % 2 == 0)) as updates:
                    async for update in updates:
                        yield update
                note, lasted = "The connection was lost.", time.monotonic() - since
            except (OSError, TimeoutError, InvalidHandshake) as reason:
                refuse_banned_address(reason)
                note = describe_failure(self._url, reason)
            except InvalidURI as reason:
                raise Rejected(f"{self._url} is not a WebSocket address; one looks like ws://host:port") from reason
            wait = backoff.next_wait(lasted, chance, has_gone_on=self._has_room_gone_on)
            if (
                self.model.room is None
                and self._gives_up_after is not None
                and backoff.failures >= self._gives_up_after
            ):
                raise Rejected(f"{note} {advise_without_server(self._url)}")
            self.model = note_drop(self.model, self.receipt, self._clock())
            yield Update(self.model, note=f"{note} Trying again ...")
            await asyncio.sleep(wait)

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
            await self.request(Ready(round=known.round_id, entropy_hash=known.entropy_hash))

    async def request(self, message: RoomRequest) -> None:
        """Send a request on the present socket; do nothing while there is none. Leaving in a race is resigning."""
        if self._socket is not None:
            if not isinstance(message, GetRecord):
                self._asked[message.type] = message
            await self._socket.send(message)

    async def _run_socket(self, *, names_room: bool) -> AsyncGenerator[Update]:
        """Yield the changes on a new socket, by `names_room` at our room's address. Raises `Rejected` and `Cheated`."""
        # Before the attempt: one that fails must count as a failure, and be followed by a longer wait.
        self._has_room_gone_on = False
        self._asked.clear()
        room = (self.model.room or requested_room(self.entry_request)) if names_room else None
        websocket = await open_at_room(self._url, room)
        self._socket = socket = ServerSocket(websocket, self._note_said, lambda play: play in self.model.sent)
        socket.start(socket.note_pongs(self._note_pong))
        try:
            await socket.send(make_hello(self._identity.token, self._name))
            asyncio.get_running_loop().call_later(WELCOME_SECONDS, socket.abort_unless_welcomed)
            async for frame in socket.frames():
                message = decode_from_server(frame)
                is_first = self.model.room is None
                self._receive(socket, message, self._clock())
                note = self._identity.compare(message) if isinstance(message, Welcome) else ""
                receipt_problem = self.receipt.problem if self.receipt is not None else ""
                problem = self._new_problems.among(self._identity.problem, receipt_problem)
                earlier = self.receipt.earlier if self.receipt is not None and is_first else None
                yield Update(self.model, message, note, problem, earlier if self.model.room else None)
                await self._react(socket, message)
        except (Contradiction, ProtocolViolation) as reason:
            raise Rejected(f"{CONTRADICTS}{reason}", WayOut.CONTRADICTION) from reason
        except ConnectionClosed:
            pass
        finally:
            self._socket = None
            await socket.close()
        close_code, close_reason = socket.end
        if close_code == CloseCode.BAD_TOKEN and self.model.binding.evidence is not None:
            raise Rejected("The server does not know your token.", WayOut.BAD_TOKEN)
        check_close(close_code, close_reason, self._ban_sentence)

    def _receive(self, socket: ServerSocket, message: FromServer, at_ms: int) -> None:
        """Check a message and fold it into the model. Raises `Contradiction` and `Cheated`.

        The receipt is written first, so that it also holds a message that breaks the seal.
        """
        self.model = note_silence(self.model, self.receipt, at_ms)
        heard = Left() if isinstance(message, Queued) and self.model.scene is not None else message
        if self.receipt is not None and isinstance(heard, (Snapshot, View, Left)):
            self.receipt.add_heard(heard, self.model, at_ms)
        socket.check_order(message)
        if isinstance(message, Snapshot) and self.model.room is None:
            check_options(self.entry_request, message.scene.options)
        self.model = self.model.after(message, at_ms)
        if isinstance(message, MatchRecord):
            try:
                prove_shown(message.lines, self.model)
            except WrongRecord as reason:
                raise Cheated(f"The record of the match is wrong: {reason}") from reason

    async def _react(self, socket: ServerSocket, message: FromServer) -> None:
        """Answer a message as far as the answer does not depend on the player. Raises `Rejected`."""
        match message:
            case Welcome(token=token, capabilities=capabilities):
                if token is not None:
                    self._identity.keep_token(token)
                self.capabilities = capabilities
                self.entry_request = fit_request(self.entry_request, capabilities)
                self.model = self.model.with_status(ConnectionStatus.CONNECTED)
                await socket.send(next_entry_request(self.model, self.entry_request))
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
                    await self.request(Reveal(round=revealed.round_id, entropy=revealed.entropy))
            case Elsewhere(room=room):
                hello = make_hello(self._identity.token, self._name)
                socket.start(try_move(socket, hello, room, lambda: (self.model, self._asked)))
            case Refused(to="hello" | "create" | "queue" | "join" | "watch" | "resume", code=code, sentence=sentence):
                if code not in SEND_AGAIN:
                    raise Rejected(sentence, WayOut.REFUSED)
                # The server cannot serve us right now; on a new socket another process may.
                await socket.websocket.close()
            case Refused(to="play", code=Refusal.TRY_AGAIN | Refusal.IN_DOUBT, number=number):
                # The server refuses the moves behind this one too, so only the refusal of the first one counts.
                if self.model.sent and number == self.model.sent[0].number:
                    await asyncio.sleep(RETRY_SECONDS)
                    for play in self.model.sent:
                        await socket.send_play(play)
            case Refused(to=to, code=Refusal.TRY_AGAIN | Refusal.IN_DOUBT) if to in self._asked:
                # The very same: another one could be refused, or made twice, if this one was stored all the same.
                await asyncio.sleep(RETRY_SECONDS)
                await socket.send(self._asked[to])
            case Refused(code=Refusal.TRY_AGAIN):
                await socket.websocket.close()
            case Error(code=Breach.BANNED, sentence=sentence):
                self._ban_sentence = sentence
            case Error(code=Breach.BAD_TOKEN) if self.model.binding.evidence is None:
                self._identity.drop_token()
            case _:
                pass

    def _note_said(self, message: Message) -> None:
        self.model = note_said(self.model, self.receipt, message, self._clock())

    def _note_pong(self, revealed: bytes | None) -> None:
        is_in_room = self._socket is not None and self._socket.is_in_room
        self.model = note_pong(self.model, self.receipt, self._clock(), is_in_room=is_in_room, revealed=revealed)
