"""Provocations: functions that bring a real server to one answer each, named after the code of that answer."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass
from enum import Enum
from typing import TypeVar

from websockets.exceptions import ConnectionClosed

from fairest_protocol.messages.from_server import Error
from fairest_protocol.messages.refusals import Breach
from fairest_protocol.value import Value
from tests.support.limited import limited_server
from tests.support.wire_client import WireClient

C = TypeVar("C", bound=Enum)
A = TypeVar("A")


@dataclass(frozen=True)
class Deployment:
    """A real Redis, and the servers that a provocation runs on it."""

    redis_url: str

    def server(self, **settings: object) -> AbstractAsyncContextManager[str]:
        """Run a server with these settings in this process, and give its URL."""
        return limited_server(self.redis_url, **settings)


class Provocations(dict[C, Callable[[Deployment], Awaitable[A]]]):
    """Provocations by their codes. As a decorator it takes in a function under the code that has the same name."""

    def __init__(self, codes: type[C]) -> None:
        super().__init__()
        self._codes = codes

    def __call__(self, function: Callable[[Deployment], Awaitable[A]]) -> Callable[[Deployment], Awaitable[A]]:
        """Take in a function, which returns the server's answer. Raises KeyError if no code has its name."""
        self[self._codes[function.__name__.upper()]] = function
        return function


class Ending(Value):
    """The end of a connection that the server has closed: the code of its `error`, if it sent one, and the close."""

    error: Breach | str | None
    code: int | None
    reason: str | None


async def ending_of(client: WireClient) -> Ending:
    """Receive until the connection is closed; return its end."""
    error = None
    with suppress(ConnectionClosed):
        while True:
            message = await client.receive()
            error = message.code if isinstance(message, Error) else error
    return Ending(error, client.socket.close_code, client.socket.close_reason)
