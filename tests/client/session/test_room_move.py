"""A client that is offered the address of its room: what it does when the server that is found there misbehaves."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field

import pytest

from fairest_cli.model.known_room import ConnectionStatus
from fairest_cli.session import room_move, server_socket
from fairest_cli.session.connection import Connection, Update
from fairest_cli.session.identity import Identity
from fairest_cli.session.own_clock import now_ms
from fairest_cli.session.room_move import request_to_move
from fairest_protocol.messages import entries
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_client import Create, Hello, Ready, Resume
from fairest_protocol.messages.from_server import Announcement, Elsewhere, Refused, Welcome
from fairest_protocol.messages.refusals import CloseCode, Refusal
from tests.support import staged
from tests.support.races import KEY
from tests.support.scripted_server import LATER, Script, scripted_server
from tests.support.waiting import PATIENCE_SECONDS, until
from tests.support.wire_client import QUICK

ROOM = "quiet-amber-otter"
SILENT_MS = 200
"""Twenty times as long as the client waits between two pings in a test."""
WELCOME = Welcome(name="ann", token=None, key=KEY.public, now_ms=LATER, version="0.2.0")
Scripted = Callable[[Script], Awaitable[None]]


@dataclass
class Followed:
    """A client that follows a room, and the scripts of its sockets."""

    connection: Connection
    sockets: list[Script]
    updates: list[Update] = field(default_factory=list)

    @property
    def has_lost_server(self) -> bool:
        return any(update.model.status is ConnectionStatus.LOST for update in self.updates)

    async def until_shown(self, text: str) -> None:
        """Wait until the client has read an announcement with this text."""

        async def is_shown() -> bool:
            return any(update.message == Announcement(text=text) for update in self.updates)

        await until(is_shown, f"{text!r} is shown")

    async def until_asked(self, number: int) -> None:
        """Wait until the client has asked for its seat on this socket."""

        async def has_asked() -> bool:
            return any(isinstance(each, Resume) for each in self.sockets[number].received)

        await until(has_asked, "the client asks for its seat")

    async def until_sockets(self, count: int) -> None:
        async def are_open() -> bool:
            return len(self.sockets) >= count

        await until(are_open, f"the client has opened {count} sockets")


@asynccontextmanager
async def following(*scripts: Scripted) -> AsyncIterator[Followed]:
    """Follow a room of a server whose sockets behave as `scripts` do, in this order, and further ones as the last."""
    sockets: list[Script] = []

    async def run(script: Script) -> None:
        sockets.append(script)
        await scripts[min(len(sockets), len(scripts)) - 1](script)

    async with scripted_server(run) as url:
        followed = Followed(Connection(url, Identity(), Create(options=QUICK)), sockets)

        async def follow() -> None:
            async with aclosing(followed.connection.updates()) as updates:
                async for update in updates:
                    followed.updates.append(update)

        task = asyncio.create_task(follow())
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                yield followed
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


async def offers(script: Script) -> None:
    """Show a room in which the client may get ready, and offer its address."""
    await script.greet()
    await script.show_round(Phase.READY)
    await script.send(Elsewhere(room=ROOM))


async def welcomes(script: Script) -> None:
    await script.receive(Hello)
    await script.send(WELCOME)


async def shows_the_seat(script: Script) -> None:
    await welcomes(script)
    resume = await script.receive(Resume)
    script.position = resume.position
    await script.show(entries.Attached(seat=0))


async def asks_and_gets_no_answer(script: Script) -> None:
    await welcomes(script)
    await script.receive(Resume)


async def test_a_client_goes_on_where_its_seat_was_shown() -> None:
    async with following(offers, shows_the_seat) as followed:
        await followed.until_sockets(2)
        await followed.sockets[0].websocket.wait_closed()
        await followed.sockets[1].send(Announcement(text="Here."))
        await followed.until_shown("Here.")
        assert not followed.has_lost_server


async def test_a_server_that_cannot_continue_shows_the_whole_room_after_a_move() -> None:
    async def shows_the_room(script: Script) -> None:
        await welcomes(script)
        await script.receive(Resume)
        await script.show_round(Phase.READY)
        await script.send(Announcement(text="Here."))

    async with following(offers, shows_the_room) as followed:
        await followed.until_shown("Here.")
        assert not followed.has_lost_server


@pytest.mark.long
async def test_a_client_asks_for_signs_of_life_after_a_move(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_socket, "HEARTBEAT_SECONDS", 0.01)
    may_show = asyncio.Event()

    async def offers_and_answers_no_ping(script: Script) -> None:
        await offers(script)
        script.websocket.transport.pause_reading()

    async def shows_the_seat_late(script: Script) -> None:
        await welcomes(script)
        await may_show.wait()
        script.position = (await script.receive(Resume)).position
        await script.show(entries.Attached(seat=0))

    async with following(offers_and_answers_no_ping, shows_the_seat_late) as followed:

        async def is_ping_unanswered() -> bool:
            return now_ms() - followed.connection.model.binding.alive_ms > SILENT_MS

        await followed.until_sockets(2)
        await until(is_ping_unanswered, "a ping is unanswered")
        may_show.set()
        await followed.until_asked(1)
        pinged_ms = now_ms()

        async def is_answered() -> bool:
            return followed.connection.model.binding.alive_ms > pinged_ms + SILENT_MS

        await until(is_answered, "the server answers pings")


async def test_messages_go_to_the_new_socket_after_a_move() -> None:
    async with following(offers, shows_the_seat) as followed:
        await followed.until_sockets(2)
        await followed.sockets[0].websocket.wait_closed()
        await followed.connection.get_ready()
        assert isinstance(await followed.sockets[1].receive(Ready), Ready)


async def refuses_the_seat(script: Script) -> None:
    await welcomes(script)
    await script.receive(Resume)
    await script.send(Refused(to="resume", code=Refusal.TRY_AGAIN, sentence="Not now."))


async def has_another_key(script: Script) -> None:
    await script.receive(Hello)
    await script.send(WELCOME.model_copy(update={"key": bytes(32)}))
    script.position = (await script.receive(Resume)).position
    await script.show(entries.Attached(seat=0))


async def closes(script: Script) -> None:
    await script.receive(Hello)
    await script.websocket.close()


async def sends_nonsense(script: Script) -> None:
    await script.receive(Hello)
    await script.websocket.send("nonsense")


async def is_silent(script: Script) -> None:
    await script.receive(Hello)


@pytest.mark.parametrize(
    "there", [refuses_the_seat, has_another_key, closes, sends_nonsense, is_silent, asks_and_gets_no_answer]
)
async def test_a_client_that_is_not_shown_its_seat_stays_where_it_is(
    there: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_socket, "RESUME_SECONDS", 0.05)
    monkeypatch.setattr(room_move, "WELCOME_SECONDS", 0.05)
    async with following(offers, there) as followed:
        await followed.until_sockets(2)
        await followed.sockets[1].websocket.wait_closed()
        await followed.sockets[0].send(Announcement(text="Still here."))
        await followed.until_shown("Still here.")
        await followed.connection.get_ready()
        assert isinstance(await followed.sockets[0].receive(Ready), Ready)
        assert not followed.has_lost_server


async def test_what_is_shown_during_a_move_that_fails_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_socket, "RESUME_SECONDS", 0.05)
    async with following(offers, asks_and_gets_no_answer) as followed:
        await followed.until_sockets(2)
        await followed.until_asked(1)
        # The client reads it while it waits for its seat, and shows it when it has given up.
        await followed.sockets[0].send(Announcement(text="Meanwhile."))
        await followed.until_shown("Meanwhile.")


async def test_a_seat_that_a_failed_move_has_taken_is_resumed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_socket, "RESUME_SECONDS", 0.05)

    async with following(offers, asks_and_gets_no_answer, shows_the_seat) as followed:
        await followed.until_sockets(2)
        await followed.sockets[1].websocket.wait_closed()
        await followed.sockets[0].websocket.close(CloseCode.REPLACED, "replaced")
        await followed.until_sockets(3)
        await followed.sockets[2].send(Announcement(text="Back."))
        await followed.until_shown("Back.")


async def test_a_seat_that_is_taken_from_the_first_socket_before_it_is_shown_is_not_lost() -> None:
    is_closed = asyncio.Event()

    async def shows_the_seat_late(script: Script) -> None:
        await welcomes(script)
        resume = await script.receive(Resume)
        await is_closed.wait()
        script.position = resume.position
        await script.show(entries.Attached(seat=0))
        await script.send(Announcement(text="Here."))

    async with following(offers, shows_the_seat_late) as followed:
        await followed.until_sockets(2)
        await followed.until_asked(1)
        await followed.sockets[0].websocket.close(CloseCode.REPLACED, "replaced")
        is_closed.set()
        await followed.until_shown("Here.")
        assert not followed.has_lost_server


async def test_a_client_is_ready_where_it_is_and_moves_no_more() -> None:
    may_answer = asyncio.Event()

    async def welcomes_late(script: Script) -> None:
        await script.receive(Hello)
        await may_answer.wait()
        await script.send(WELCOME)

    async with following(offers, welcomes_late) as followed:
        await followed.until_sockets(2)
        await followed.connection.get_ready()
        await followed.sockets[0].receive(Ready)
        may_answer.set()
        await followed.sockets[1].websocket.wait_closed()
        assert not any(isinstance(each, Resume) for each in followed.sockets[1].received)


async def test_a_client_that_is_offered_the_address_again_opens_no_further_socket() -> None:
    async def offers_often(script: Script) -> None:
        await offers(script)
        for _ in range(5):
            await script.send(Elsewhere(room=ROOM))
        await script.send(Announcement(text="That was often."))

    async with following(offers_often, is_silent) as followed:
        await followed.until_shown("That was often.")
        await followed.until_sockets(2)
    assert len(followed.sockets) == 2


def asks_to_move(staged_room: staged.StagedRoom, *asked: str) -> bool:
    return request_to_move(staged_room.model(), asked, ROOM) is not None


def test_a_player_that_waits_for_an_opponent_may_move() -> None:
    assert asks_to_move(staged.waiting())


def test_a_player_that_is_not_ready_may_move() -> None:
    assert asks_to_move(staged.getting_ready())


@pytest.mark.parametrize("asked", ["ready", "leave"])
def test_a_player_whose_last_request_is_unanswered_stays(asked: str) -> None:
    assert not asks_to_move(staged.getting_ready(), asked)


def test_a_player_that_is_ready_stays() -> None:
    assert request_to_move(staged.getting_ready().model(1), (), ROOM) is None


def test_a_player_that_sees_the_countdown_stays() -> None:
    assert not asks_to_move(staged.counting_down())


def test_a_player_that_races_stays() -> None:
    assert not asks_to_move(staged.racing((20, 20)))


def test_a_spectator_stays() -> None:
    assert request_to_move(staged.waiting().model(None), (), ROOM) is None


def test_a_player_that_is_in_another_room_by_now_stays() -> None:
    assert request_to_move(staged.waiting().model(), (), "another-old-room") is None
