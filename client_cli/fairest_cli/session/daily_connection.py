"""The connection of an attempt at a daily deal: each request is sent until it is answered, over any number of sockets.

Every request may be sent again: a second `daily` leads to the same attempt, and a move has its number.
"""

import asyncio
import random
import time
from typing import Final

from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidURI

from fairest_cli.model.daily_game import DailyGame, after_view, begin_daily
from fairest_cli.session.backoff import Backoff
from fairest_cli.session.failures import advise_without_server, describe_failure, refuse_banned_address
from fairest_cli.session.identity import Identity
from fairest_cli.session.own_clock import now_ms
from fairest_cli.session.websocket import Rejected, check_close, open_websocket
from fairest_protocol.calculation.moves import Move
from fairest_protocol.calculation.rules import Rules
from fairest_protocol.messages.capabilities import DAILY
from fairest_protocol.messages.codec import ProtocolViolation, decode_from_server, encode
from fairest_protocol.messages.daily import Daily, DailyView, PlayDaily
from fairest_protocol.messages.from_client import Hello
from fairest_protocol.messages.from_server import Error, FromServer, Refused, Welcome
from fairest_protocol.messages.refusals import SEND_AGAIN, Breach, CloseCode, Refusal

ANSWER_SECONDS: Final = 5.0
MAX_ATTEMPTS: Final = 3
"""A server that has never answered is tried this often."""


class DailyConnection:
    """Our attempt at the daily deal of a variant. `game` is None before the server has shown it."""

    def __init__(
        self, server: str, identity: Identity, rules: Rules, name: str | None = None, day: str | None = None
    ) -> None:
        """`day` is that of an attempt which we have begun before; None is today's deal."""
        self.game: DailyGame | None = None
        self.name = ""
        """Our name, as the server knows it."""
        self.problem = ""
        """A warning about the server's key or its chain of rounds, or that our player could not be stored."""
        self._server = server
        self._identity = identity
        self._rules = rules
        self._wanted_name = name
        self._day = day
        self._socket: ClientConnection | None = None
        self._opened_at = 0.0
        self._backoff = Backoff()
        self._chance = random.Random()
        self._requests = 0

    async def begin(self) -> DailyGame:
        """Begin our attempt, or come back to it. Raises `Rejected` and `Cheated`. Safe to call again."""
        answer = await self._ask(Daily(rules=self._rules.name, day=self._day))
        self._day = answer.day
        self.game = begin_daily(self._rules, answer, now_ms(), self.game)
        return self.game

    async def play(self, move: Move) -> DailyGame:
        """Make a legal move in our attempt. Raises `Rejected` and `Cheated`."""
        game = self.game
        assert game is not None, "an attempt is begun first"
        number = game.own.moves + 1
        try:
            answer = await self._ask(PlayDaily(rules=game.rules.name, day=game.day, number=number, move=move))
        except _Refused as refused:
            if refused.code in (Refusal.RACE_OVER, Refusal.NUMBER_REPEATED, Refusal.NUMBER_OLD):
                # The time is over, or another terminal of ours has made a move.
                return await self.begin()
            raise
        self.game = after_view(game, answer)
        return self.game

    async def close(self) -> None:
        """Close the connection; the attempt stays on the server, and its time goes on."""
        if self._socket is not None:
            await self._socket.close()

    async def _ask(self, request: Daily | PlayDaily) -> DailyView:
        """Send a request until it is answered. Raises `Rejected`."""
        while True:
            try:
                socket = self._socket or await self._open()
                self._requests += 1
                request_id = f"d{self._requests}"
                await socket.send(encode(request.with_id(request_id)).decode())
                answer = await self._receive(socket, request_id)
            except (ConnectionClosed, OSError, TimeoutError, InvalidHandshake) as reason:
                await self._after_failure(reason)
                continue
            except (InvalidURI, ProtocolViolation) as reason:
                raise Rejected(f"The server at {self._server} cannot be understood: {reason}") from reason
            if isinstance(answer, DailyView):
                return answer
            if isinstance(answer, Refused) and answer.code not in SEND_AGAIN:
                raise _Refused(answer.sentence, answer.code)
            await self._rest()

    async def _open(self) -> ClientConnection:
        """Open a socket, and say who we are."""
        socket = await open_websocket(self._server)
        self._socket, self._opened_at = socket, time.monotonic()
        while True:
            hello = Hello(token=self._identity.token, name=self._wanted_name, client="fairest", capabilities=(DAILY,))
            await socket.send(encode(hello).decode())
            answer = await self._receive(socket, None)
            if isinstance(answer, Welcome):
                if DAILY not in answer.capabilities:
                    raise Rejected("This server has no daily deals.")
                if answer.token is not None:
                    self._identity.keep_token(answer.token)
                self.name = answer.name
                self.problem = self._identity.compare(answer) or self._identity.problem
                return socket
            if isinstance(answer, Refused):
                raise Rejected(answer.sentence)

    async def _receive(self, socket: ClientConnection, request_id: str | None) -> FromServer:
        """Return the answer to our request; messages that are no answer to it are passed over."""
        async with asyncio.timeout(ANSWER_SECONDS):
            while True:
                message = decode_from_server(await socket.recv())
                if isinstance(message, Error) and message.code == Breach.BANNED:
                    raise Rejected(message.sentence)
                is_answer = isinstance(message, (Welcome, Refused) if request_id is None else (DailyView, Refused))
                if is_answer and getattr(message, "id", None) == request_id:
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
        if self.game is None and self._backoff.failures >= MAX_ATTEMPTS:
            failure = describe_failure(self._server, reason)
            raise Rejected(" ".join(filter(None, (failure, advise_without_server(self._server)))))
        await self._rest()

    async def _rest(self) -> None:
        lasted = time.monotonic() - self._opened_at if self._opened_at else 0.0
        await asyncio.sleep(self._backoff.next_wait(lasted, self._chance, has_gone_on=False))


class _Refused(Rejected):
    """A refusal of the server, with its code."""

    def __init__(self, sentence: str, code: str) -> None:
        super().__init__(sentence)
        self.code = code
