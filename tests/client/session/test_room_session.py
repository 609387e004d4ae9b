"""A session asks once on each socket, and keeps the end of a round whatever the room has gone on to."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import pytest
from websockets.exceptions import ConnectionClosed

from fairest_cli.model.known_room import KnownRoom
from fairest_cli.model.proof import describe_proof
from fairest_cli.session.connection import Connection, Update
from fairest_cli.session.identity import Identity
from fairest_cli.session.room_session import RoomSession, model_at_round_end
from fairest_protocol.messages import entries
from fairest_protocol.messages.fields import Message, Phase
from fairest_protocol.messages.from_client import Create, GetRecord, Hello, Ready, Resume
from fairest_protocol.messages.from_server import View
from fairest_protocol.messages.options import RoomOptions
from fairest_server.room.view import view
from tests.support import staged
from tests.support.scripted_server import Script, scripted_server
from tests.support.waiting import PATIENCE_SECONDS
from tests.support.wire_client import QUICK


def ended() -> tuple[KnownRoom, KnownRoom, View]:
    """A client that comes back after the time between two rounds: the models before and after, and the view."""
    staged_room = staged.racing((20, 20), RoomOptions(best_of=3))
    before = staged_room.model()
    staged_room.table.play(0, "stop")
    staged_room.table.play(1, "stop")
    while staged_room.table.state.phase is not Phase.READY:
        staged_room.table.let_time_pass()
    shown = view(staged_room.table.steps, 0)
    missed = View(position=len(shown), tag="00000000", entries=tuple(shown[before.position :]))
    return before, before.after(missed, 0), missed


def test_the_result_is_known_though_the_next_round_is_open_in_the_same_view() -> None:
    before, after, missed = ended()
    assert after.phase is Phase.READY
    finished = model_at_round_end(before, after, missed, 0)
    assert finished is not None and finished.scene is not None
    assert finished.scene.outcome is not None


def test_the_proof_of_the_seal_is_known_though_the_next_round_is_open_in_the_same_view() -> None:
    finished = model_at_round_end(*ended(), 0)
    assert finished is not None
    assert list(describe_proof(finished.seal_check)) == [
        "Sealed deal: all 48 cards match their envelopes; the commitment was kept."
    ]


def test_a_view_in_which_no_round_ends_has_no_end() -> None:
    before, after, missed = ended()
    assert model_at_round_end(before, after, missed.model_copy(update={"entries": missed.entries[:1]}), 0) is None


@asynccontextmanager
async def following(run_script: Callable[[Script], Awaitable[None]]) -> AsyncIterator[None]:
    """Follow a room of a scripted server, getting ready whenever the session says that the room waits for it."""
    async with scripted_server(run_script) as url:
        session = RoomSession(Connection(url, Identity(), Create(options=QUICK)), saves_record=False)

        async def get_ready(_: KnownRoom, __: Update) -> None:
            if session.is_ready_wanted:
                await session.get_ready()

        task = asyncio.create_task(session.run(get_ready))
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


async def show_the_end(script: Script) -> None:
    await script.show_scene(phase=Phase.FINISHED, match_is_over=True)


async def show_a_round(script: Script) -> None:
    await script.show_round(Phase.READY)


async def test_the_record_is_asked_for_once_on_a_socket() -> None:
    requests: list[Message] = []
    is_closed = asyncio.Event()

    async def close_the_room(script: Script) -> None:
        await script.greet()
        await show_the_end(script)
        await script.show(entries.RematchWanted(seat=1))
        await script.show(entries.RoomClosed())
        with suppress(ConnectionClosed):
            while True:
                requests.append(await script.receive(GetRecord))
        is_closed.set()

    async with following(close_the_room):
        await is_closed.wait()
    assert len(requests) == 1


@pytest.mark.parametrize(("scene", "request_type"), [(show_the_end, GetRecord), (show_a_round, Ready)])
async def test_a_request_that_may_be_lost_with_its_socket_is_sent_again_on_the_next_one(
    scene: Callable[[Script], Awaitable[None]], request_type: type[Message]
) -> None:
    requests: asyncio.Queue[Message] = asyncio.Queue()

    async def drop_first_socket(script: Script) -> None:
        await script.greet()
        await scene(script)
        await requests.put(await script.receive(request_type))
        await script.websocket.close()

    async with following(drop_first_socket):
        first, second = await requests.get(), await requests.get()
    assert first == second


async def test_nothing_is_asked_for_before_the_room_is_shown_on_the_new_socket() -> None:
    received: asyncio.Queue[list[type[Message]]] = asyncio.Queue()

    async def drop_first_socket(script: Script) -> None:
        await script.greet()
        await show_a_round(script)
        await script.receive(Ready)
        await received.put([type(message) for message in script.received])
        await script.websocket.close()

    async with following(drop_first_socket):
        await received.get()
        assert await received.get() == [Hello, Resume, Ready]
