"""A fault of ours in one room is logged, and nothing else of it is felt."""

import asyncio

import pytest

from server.faults import contained


def test_a_fault_is_logged_with_its_place_and_goes_no_further(capfd: pytest.CaptureFixture[str]) -> None:
    with contained("a room", room="quiet-amber-otter"):
        raise RuntimeError("we have a bug")
    told = "".join(capfd.readouterr())
    assert "fault in a room" in told
    assert "quiet-amber-otter" in told
    assert "we have a bug" in told


async def test_cancelling_is_no_fault() -> None:
    async def wait_for_ever() -> None:
        with contained("a room"):
            await asyncio.Event().wait()

    task = asyncio.create_task(wait_for_ever())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
