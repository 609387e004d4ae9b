"""An unexpected exception in one room is logged, and harms nothing else."""

import asyncio

import pytest

from fairest_protocol.messages.from_client import Create, Join
from fairest_protocol.messages.refusals import Refusal
from fairest_server.live.signing import SigningKey
from fairest_server.ops.faults import contained
from fairest_server.ops.metrics import Part
from fairest_server.room.events import RoundOpened
from tests.support.wire_client import QUICK, open_client


def test_a_fault_is_logged_with_its_place_and_goes_no_further(capfd: pytest.CaptureFixture[str]) -> None:
    with contained(Part.ROOM, room="quiet-amber-otter"):
        raise RuntimeError("we have a bug")
    logged = "".join(capfd.readouterr())
    assert "A fault of the server" in logged
    assert "room" in logged
    assert "quiet-amber-otter" in logged
    assert "we have a bug" in logged


async def test_cancelling_is_not_a_fault() -> None:
    async def wait_for_ever() -> None:
        with contained(Part.ROOM):
            await asyncio.Event().wait()

    task = asyncio.create_task(wait_for_ever())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_request_that_meets_a_fault_is_refused_with_try_again_and_the_room_goes_on(
    server_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: SigningKey) -> RoundOpened:
        raise RuntimeError("we have a bug")

    async with open_client(server_url) as first, open_client(server_url) as second:
        room = (await first.enter(Create(options=QUICK))).room
        with monkeypatch.context() as broken:
            broken.setattr(SigningKey, "draw_round", fail)
            assert (await second.expect_refusal(Join(room=room))).code is Refusal.TRY_AGAIN
        assert (await second.enter(Join(room=room))).seat == 1
