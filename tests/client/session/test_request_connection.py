"""Requests outside of any room: each is sent until it has its own answer, whatever else the server does."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from fairest_cli.session import request_connection
from fairest_cli.session.identity import Identity
from fairest_cli.session.request_connection import RequestConnection, RequestRefused
from fairest_cli.session.websocket import Rejected
from fairest_protocol.messages.capabilities import TOURNAMENTS
from fairest_protocol.messages.fields import Message
from fairest_protocol.messages.from_client import Hello
from fairest_protocol.messages.from_server import Announcement, Error, Refused, Welcome
from fairest_protocol.messages.refusals import Breach, CloseCode, Refusal
from fairest_protocol.messages.tournaments import TournamentTick, WatchTournament
from tests.support.races import KEY
from tests.support.scripted_server import LATER, Script, scripted_server

CODE = "quiet-green-heron"
LOOK = WatchTournament(tournament=CODE, version=1)
TOKEN = "A" * 43
DEADLINE_SECONDS = 20


def tick(request: Message, version: int = 1) -> TournamentTick:
    """Return the answer to a request; by its version a test tells answers apart."""
    assert isinstance(request, WatchTournament)
    return TournamentTick(id=request.id, code=CODE, version=version, now_ms=0, counts=())


def refusal(request: Message, code: Refusal) -> Refused:
    assert isinstance(request, WatchTournament)
    return Refused(id=request.id, to="watch_tournament", code=code, sentence=f"It is {code}.")


async def welcome(script: Script, *capabilities: str) -> Hello:
    hello: Hello = await script.receive(Hello)
    await script.send(
        Welcome(
            name="ann",
            token=TOKEN if hello.token is None else None,
            key=KEY.public,
            now_ms=LATER,
            version="9",
            capabilities=capabilities or (TOURNAMENTS,),
        )
    )
    return hello


async def answer(script: Script, count: int = 1) -> None:
    """Welcome a client, and answer so many requests of it by versions from 1."""
    await welcome(script)
    for version in range(1, count + 1):
        await script.send(tick(await script.receive(WatchTournament), version))


class Sockets:
    """The server's ends, in the order in which they were opened; each follows its script, the last one the last."""

    def __init__(self, *scripts: Callable[[Script], Awaitable[object]]) -> None:
        self._scripts = scripts
        self.opened: list[Script] = []

    async def run(self, script: Script) -> None:
        self.opened.append(script)
        await self._scripts[min(len(self.opened), len(self._scripts)) - 1](script)

    def received(self, kind: type[Message]) -> list[Message]:
        return [message for script in self.opened for message in script.received if isinstance(message, kind)]


@asynccontextmanager
async def connected(
    sockets: Sockets, identity: Identity | None = None, name: str | None = None
) -> AsyncIterator[RequestConnection]:
    async with scripted_server(sockets.run) as url, asyncio.timeout(DEADLINE_SECONDS):
        connection = RequestConnection(url, identity or Identity(), name, TOURNAMENTS, "No tournaments here.")
        try:
            yield connection
        finally:
            await connection.close()


async def test_a_request_has_its_answer() -> None:
    async with connected(Sockets(answer)) as connection:
        assert (await connection.ask(LOOK, TournamentTick)).version == 1


async def test_a_client_says_which_name_it_wants_and_which_capability_it_needs() -> None:
    sockets = Sockets(answer)
    async with connected(sockets, name="bea") as connection:
        await connection.ask(LOOK, TournamentTick)
    [hello] = sockets.received(Hello)
    assert isinstance(hello, Hello) and (hello.name, hello.capabilities) == ("bea", (TOURNAMENTS,))


async def test_a_client_has_the_name_that_the_server_gave_it() -> None:
    async with connected(Sockets(answer), name="bea") as connection:
        await connection.ask(LOOK, TournamentTick)
        assert connection.name == "ann"


async def test_further_requests_are_sent_on_the_same_socket() -> None:
    sockets = Sockets(lambda script: answer(script, 3))
    async with connected(sockets) as connection:
        versions = [(await connection.ask(LOOK, TournamentTick)).version for _ in range(3)]
    assert (versions, len(sockets.opened)) == ([1, 2, 3], 1)


async def test_a_server_without_the_capability_is_asked_for_nothing() -> None:
    sockets = Sockets(lambda script: welcome(script, "other"))
    async with connected(sockets) as connection:
        with pytest.raises(Rejected, match="No tournaments here"):
            await connection.ask(LOOK, TournamentTick)
    assert sockets.received(WatchTournament) == []


async def test_a_refusal_is_raised_with_its_code() -> None:
    async def refuse(script: Script) -> None:
        await welcome(script)
        await script.send(refusal(await script.receive(WatchTournament), Refusal.NO_SUCH_TOURNAMENT))

    async with connected(Sockets(refuse)) as connection:
        with pytest.raises(RequestRefused, match="no_such_tournament") as refused:
            await connection.ask(LOOK, TournamentTick)
    assert refused.value.code is Refusal.NO_SUCH_TOURNAMENT


@pytest.mark.parametrize("code", [Refusal.TRY_AGAIN, Refusal.IN_DOUBT])
async def test_the_same_request_is_sent_again_while_the_server_cannot_answer(code: Refusal) -> None:
    async def hesitate(script: Script) -> None:
        await welcome(script)
        for _ in range(2):
            await script.send(refusal(await script.receive(WatchTournament), code))
        await script.send(tick(await script.receive(WatchTournament)))

    sockets = Sockets(hesitate)
    async with connected(sockets) as connection:
        await connection.ask(LOOK, TournamentTick)
    asked = sockets.received(WatchTournament)
    assert [each.with_id("x") for each in asked if isinstance(each, WatchTournament)] == [LOOK.with_id("x")] * 3


async def test_what_is_no_answer_to_the_request_is_passed_over() -> None:
    async def say_more(script: Script) -> None:
        await welcome(script)
        request = await script.receive(WatchTournament)
        await script.send(Announcement(text="A restart at noon."))
        await script.send(tick(request.with_id("d0"), 7))
        await script.send(refusal(request.with_id("d0"), Refusal.NO_SUCH_TOURNAMENT))
        await script.send(tick(request, 8))

    async with connected(Sockets(say_more)) as connection:
        assert (await connection.ask(LOOK, TournamentTick)).version == 8


async def test_a_request_waits_until_the_one_before_it_is_answered() -> None:
    at_once: list[int] = []

    async def answer_slowly(script: Script) -> None:
        await welcome(script)
        for version in (1, 2):
            request = await script.receive(WatchTournament)
            # A pong comes behind everything that the client has sent before it.
            await (await script.websocket.ping())
            at_once.append(len(script.received))
            await script.send(tick(request, version))

    async with connected(Sockets(answer_slowly)) as connection:
        answers = await asyncio.gather(*(connection.ask(LOOK, TournamentTick) for _ in range(2)))
    assert ([each.version for each in answers], at_once) == ([1, 2], [2, 3])


async def test_a_request_is_sent_again_on_another_socket_when_its_own_has_ended() -> None:
    async def end(script: Script) -> None:
        await welcome(script)
        await script.receive(WatchTournament)
        await script.websocket.close(CloseCode.RESTARTING)

    sockets = Sockets(end, end, answer)
    async with connected(sockets) as connection:
        await connection.ask(LOOK, TournamentTick)
    assert len(sockets.received(WatchTournament)) == 3


async def test_a_request_that_is_not_answered_is_sent_again_on_another_socket(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_connection, "ANSWER_SECONDS", 0.1)
    sockets = Sockets(welcome, answer)
    async with connected(sockets) as connection:
        await connection.ask(LOOK, TournamentTick)
    assert len(sockets.opened) == 2


async def test_a_player_is_the_same_one_on_the_next_socket() -> None:
    async def end(script: Script) -> None:
        await welcome(script)
        await script.websocket.close(CloseCode.RESTARTING)

    sockets = Sockets(end, answer)
    async with connected(sockets) as connection:
        await connection.ask(LOOK, TournamentTick)
    assert [hello.token for hello in sockets.received(Hello) if isinstance(hello, Hello)] == [None, TOKEN]


async def test_a_player_whom_the_server_has_forgotten_is_a_new_one() -> None:
    async def forget(script: Script) -> None:
        await script.receive(Hello)
        await script.websocket.close(CloseCode.BAD_TOKEN)

    sockets, identity = Sockets(forget, answer), Identity()
    identity.keep_token("B" * 43)
    async with connected(sockets, identity) as connection:
        await connection.ask(LOOK, TournamentTick)
    assert [hello.token for hello in sockets.received(Hello) if isinstance(hello, Hello)] == ["B" * 43, None]


def refusing_hello(code: Refusal) -> Callable[[Script], Awaitable[None]]:
    async def refuse(script: Script) -> None:
        await script.receive(Hello)
        await script.send(Refused(to="hello", code=code, sentence="Not now, and not so."))

    return refuse


async def test_a_refused_hello_ends_the_client() -> None:
    async with connected(Sockets(refusing_hello(Refusal.NAME_TAKEN))) as connection:
        with pytest.raises(Rejected, match="Not now, and not so"):
            await connection.ask(LOOK, TournamentTick)


async def test_a_server_that_cannot_take_a_hello_at_the_moment_is_tried_again() -> None:
    sockets = Sockets(refusing_hello(Refusal.TRY_AGAIN), refusing_hello(Refusal.TRY_AGAIN), answer)
    async with connected(sockets) as connection:
        assert (await connection.ask(LOOK, TournamentTick)).version == 1


async def test_a_server_that_can_take_no_hello_at_all_is_left_with_its_sentence() -> None:
    async with connected(Sockets(refusing_hello(Refusal.TRY_AGAIN))) as connection:
        with pytest.raises(Rejected, match="Not now, and not so"):
            await connection.ask(LOOK, TournamentTick)


async def test_a_request_cancelled_before_the_welcome_leaves_no_socket_without_one() -> None:
    is_greeted = asyncio.Event()

    async def keep_silent(script: Script) -> None:
        await script.receive(Hello)
        is_greeted.set()

    async with connected(Sockets(keep_silent, answer)) as connection:
        asking = asyncio.create_task(connection.ask(LOOK, TournamentTick))
        await is_greeted.wait()
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        await connection.ask(LOOK, TournamentTick)
        assert connection.name == "ann"


async def test_the_late_answer_to_a_request_that_was_cancelled_is_no_answer_to_the_next_one() -> None:
    is_asked = asyncio.Event()

    async def answer_both(script: Script) -> None:
        await welcome(script)
        first = await script.receive(WatchTournament)
        is_asked.set()
        second = await script.receive(WatchTournament)
        await script.send(tick(first, 7))
        await script.send(tick(second, 8))

    async with connected(Sockets(answer_both)) as connection:
        asking = asyncio.create_task(connection.ask(LOOK, TournamentTick))
        await is_asked.wait()
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        assert (await connection.ask(LOOK, TournamentTick)).version == 8


async def test_a_server_that_speaks_another_protocol_is_not_tried_again() -> None:
    async def babble(script: Script) -> None:
        await script.websocket.send("{")

    sockets = Sockets(babble)
    async with connected(sockets) as connection:
        with pytest.raises(Rejected, match="cannot be understood"):
            await connection.ask(LOOK, TournamentTick)
    assert len(sockets.opened) == 1


async def test_a_ban_ends_the_client_with_its_sentence() -> None:
    async def ban(script: Script) -> None:
        await welcome(script)
        await script.receive(WatchTournament)
        await script.send(Error(code=Breach.BANNED, sentence="You are banned for a day."))
        await script.websocket.close(CloseCode.BANNED)

    async with connected(Sockets(ban)) as connection:
        with pytest.raises(Rejected, match="banned for a day"):
            await connection.ask(LOOK, TournamentTick)


async def test_a_close_that_another_socket_would_not_help_ends_the_client() -> None:
    async def end(script: Script) -> None:
        await welcome(script)
        await script.websocket.close(CloseCode.BAD_VALUE, "bad_value")

    async with connected(Sockets(end)) as connection:
        with pytest.raises(Rejected, match="bad_value"):
            await connection.ask(LOOK, TournamentTick)


@pytest.mark.long
async def test_a_server_that_has_answered_once_is_waited_for_longer_than_one_that_never_has() -> None:
    async def end(script: Script) -> None:
        await welcome(script)
        await script.websocket.close(CloseCode.RESTARTING)

    attempts = request_connection.MAX_ATTEMPTS + 2
    sockets = Sockets(answer, *[end] * attempts, answer)
    async with connected(sockets) as connection:
        await connection.ask(LOOK, TournamentTick)
        await sockets.opened[0].websocket.close(CloseCode.RESTARTING)
        await connection.ask(LOOK, TournamentTick)
    assert len(sockets.opened) == attempts + 2
