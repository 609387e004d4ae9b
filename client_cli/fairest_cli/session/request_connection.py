"""A connection of requests and answers, outside of any room: each is sent until it is answered, over any number of
sockets. So every request must be safe to send again.
"""

import asyncio
import random
import time
from typing import Final, TypeVar

from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidURI

from fairest_cli.session.backoff import Backoff
from fairest_cli.session.failures import advise_without_server, describe_failure, refuse_banned_address
from fairest_cli.session.identity import Identity
from fairest_cli.session.websocket import Rejected, check_close, open_websocket
from fairest_protocol.messages.codec import ProtocolViolation, decode_from_server, encode
from fairest_protocol.messages.fields import Answer, WithId
from fairest_protocol.messages.from_client import Hello
from fairest_protocol.messages.from_server import Error, Refused, Welcome
from fairest_protocol.messages.refusals import SEND_AGAIN, Breach, CloseCode

ANSWER_SECONDS: Final = 5.0
MAX_ATTEMPTS: Final = 3
"""A server that has never answered is tried this often."""
_Answer = TypeVar("_Answer", bound=Answer)


class RequestRefused(Rejected):
    """A refusal of the server, with its code."""

    def __init__(self, sentence: str, code: str) -> None:
        super().__init__(sentence)
        self.code = code


class RequestConnection:
    """Our requests to a server that has a capability."""

    def __init__(self, server: str, identity: Identity, name: str | None, capability: str, lacking: str) -> None:
        """`lacking` is the sentence for a server without the capability."""
        self.name = ""
        """Our name, as the server knows it."""
        self.problem = ""
        """A warning about the server's key or its chain of rounds, or that our player could not be stored."""
        self._server = server
        self._identity = identity
        self._wanted_name = name
        self._capability, self._lacking = capability, lacking
        self._socket: ClientConnection | None = None
        self._opened_at = 0.0
        self._backoff = Backoff()
        self._chance = random.Random()
        self._requests = 0
        self._turns = asyncio.Lock()
        self._was_answered = False

    async def close(self) -> None:
        """Close the connection."""
        if self._socket is not None:
            await self._socket.close()

    async def ask(self, request: WithId, answer_class: type[_Answer]) -> _Answer:
        """Send a request until it is answered by a message of this class. Raises `Rejected`, `RequestRefused` among it.

        Requests take turns. Safe to cancel: a late answer is passed over.
        """
        async with self._turns:
            return await self._ask(request, answer_class)

    async def _ask(self, request: WithId, answer_class: type[_Answer]) -> _Answer:
        while True:
            try:
                socket = self._socket or await self._open()
                self._requests += 1
                request_id = f"d{self._requests}"
                await socket.send(encode(request.with_id(request_id)).decode())
                answer = await self._receive(socket, request_id, answer_class)
            except (ConnectionClosed, OSError, TimeoutError, InvalidHandshake) as reason:
                await self._after_failure(reason)
                continue
            except (InvalidURI, ProtocolViolation) as reason:
                raise Rejected(f"The server at {self._server} cannot be understood: {reason}") from reason
            if not isinstance(answer, Refused):
                self._was_answered = True
                return answer
            if answer.code not in SEND_AGAIN:
                raise RequestRefused(answer.sentence, answer.code)
            await self._rest()

    async def _open(self) -> ClientConnection:
        """Open a socket, and say who we are. Cancelled before it is welcomed, no request is sent on it."""
        socket = await open_websocket(self._server)
        self._socket, self._opened_at = socket, time.monotonic()
        try:
            await self._greet(socket)
        except asyncio.CancelledError:
            self._socket = None
            socket.transport.abort()
            raise
        return socket

    async def _greet(self, socket: ClientConnection) -> None:
        """Say who we are, and take the welcome."""
        hello = Hello(
            token=self._identity.token, name=self._wanted_name, client="fairest", capabilities=(self._capability,)
        )
        await socket.send(encode(hello).decode())
        answer = await self._receive(socket, None, Welcome)
        if isinstance(answer, Refused):
            await socket.close()
            if answer.code not in SEND_AGAIN:
                raise Rejected(answer.sentence)
            # The server cannot serve us right now; on a new socket another process may.
            raise ConnectionRefusedError(answer.sentence)
        if self._capability not in answer.capabilities:
            raise Rejected(self._lacking)
        if answer.token is not None:
            self._identity.keep_token(answer.token)
        self.name = answer.name
        self.problem = self._identity.compare(answer) or self._identity.problem

    async def _receive(
        self, socket: ClientConnection, request_id: str | None, answer_class: type[_Answer]
    ) -> _Answer | Refused:
        """Return the answer to our request; messages that are no answer to it are passed over."""
        async with asyncio.timeout(ANSWER_SECONDS):
            while True:
                message = decode_from_server(await socket.recv())
                if isinstance(message, Error) and message.code == Breach.BANNED:
                    raise Rejected(message.sentence)
                if isinstance(message, (answer_class, Refused)) and message.id == request_id:
                    return message

    async def _after_failure(self, reason: Exception) -> None:
        """Wait before the next attempt. Raises `Rejected` for an end after which another one would not help."""
        socket, self._socket = self._socket, None
        if socket is not None:
            if isinstance(reason, TimeoutError):
                socket.transport.abort()
            if socket.close_code == CloseCode.BAD_TOKEN:
                # The server has forgotten our player: the next hello makes a new one.
                self._identity.drop_token()
            check_close(socket.close_code or 0, socket.close_reason or "")
        refuse_banned_address(reason)
        if not self._was_answered and self._backoff.failures >= MAX_ATTEMPTS:
            failure = describe_failure(self._server, reason)
            raise Rejected(" ".join(filter(None, (failure, advise_without_server(self._server)))))
        await self._rest()

    async def _rest(self) -> None:
        lasted = time.monotonic() - self._opened_at if self._opened_at else 0.0
        await asyncio.sleep(self._backoff.next_wait(lasted, self._chance, has_gone_on=False))
