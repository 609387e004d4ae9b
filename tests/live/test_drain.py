"""A drain starts once, calls whoever waits for it, and may only be shortened."""

import asyncio

import pytest

from fairest_server.live.drain import Drain


@pytest.fixture
def calls() -> list[str]:
    return []


@pytest.fixture
def drain(calls: list[str]) -> Drain:
    return Drain(lambda: calls.append("start"), lambda: calls.append("end"))


async def test_a_process_does_not_drain_before_it_is_asked_to(drain: Drain) -> None:
    assert (drain.is_draining, drain.is_overdue) == (False, False)


async def test_a_drain_starts_once(drain: Drain, calls: list[str]) -> None:
    drain.request(None)
    drain.request(10)
    assert (drain.is_draining, calls) == (True, ["start"])


async def test_a_drain_without_a_limit_is_never_overdue(drain: Drain) -> None:
    drain.request(None)
    assert not drain.is_overdue


@pytest.mark.parametrize(("seconds", "is_overdue"), [(0, True), (1000, False)])
async def test_a_drain_is_overdue_when_its_time_is_over(drain: Drain, seconds: int, is_overdue: bool) -> None:
    drain.request(seconds)
    assert drain.is_overdue is is_overdue


@pytest.mark.parametrize("later", [1000, None])
async def test_a_later_request_does_not_lengthen_a_drain(drain: Drain, later: int | None) -> None:
    drain.request(0)
    drain.request(later)
    assert drain.is_overdue


async def test_a_later_request_shortens_a_drain(drain: Drain) -> None:
    drain.request(1000)
    drain.request(0)
    await asyncio.sleep(0)
    assert drain.is_overdue


async def test_the_end_of_a_drain_ends_the_process(drain: Drain, calls: list[str]) -> None:
    drain.finish()
    assert calls == ["end"]
