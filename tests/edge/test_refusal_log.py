"""Refusals are logged at once, and then in one line for all that follow."""

import asyncio

import pytest
from structlog.testing import capture_logs
from structlog.typing import EventDict

from fairest_server.edge.refusal_log import MAX_ADDRESSES, RefusalLog
from fairest_server.ops.metrics import TurnedAway
from tests.support.waiting import until

SHORT = 0.01


async def lines_after(log: RefusalLog, addresses: list[str], count: int) -> list[EventDict]:
    """The lines of one refusal of each address, once there are `count`."""
    with capture_logs() as lines:
        for address in addresses:
            log.add(TurnedAway.ADDRESS, address, "Too many.")

        async def are_written() -> bool:
            return len(lines) >= count

        await until(are_written, "the lines are written")
        return list(lines)


async def test_the_first_refusal_is_logged_at_once_with_its_sentence() -> None:
    with capture_logs() as lines:
        RefusalLog().add(TurnedAway.ADDRESS, "203.0.113.7", "Too many.")
    assert [(line["event"], line["address"], line["reason"]) for line in lines] == [
        ("turned_away", "203.0.113.7", "Too many.")
    ]


async def test_a_thousand_refusals_are_two_lines() -> None:
    lines = await lines_after(RefusalLog(SHORT), ["203.0.113.7"] * 1_001, 2)
    assert [line.get("refused") for line in lines] == [None, 1_000]


async def test_the_summary_names_the_address_of_most_refusals() -> None:
    lines = await lines_after(RefusalLog(SHORT), ["a", "b", "c", "b", "b"], 2)
    assert {"addresses": 2, "address": "b", "of_address": 3}.items() <= lines[-1].items()


async def test_refusals_of_another_reason_have_lines_of_their_own() -> None:
    log = RefusalLog()
    with capture_logs() as lines:
        for reason in (TurnedAway.ADDRESS, TurnedAway.FULL, TurnedAway.ADDRESS):
            log.add(reason, "203.0.113.7", reason)
    assert [line["reason"] for line in lines] == ["address", "full"]


async def test_a_quiet_time_ends_the_summaries() -> None:
    log = RefusalLog(SHORT)
    await lines_after(log, ["a", "a"], 2)

    async def is_quiet() -> bool:
        return not log._by_reason

    await until(is_quiet, "nothing is left to be summarised")


@pytest.mark.parametrize("many", [3 * MAX_ADDRESSES])
async def test_addresses_without_end_take_a_bounded_amount_of_memory(many: int) -> None:
    log = RefusalLog()
    for number in range(many):
        log.add(TurnedAway.SOCKETS, str(number), "Too many.")
    assert len(log._by_reason[TurnedAway.SOCKETS]) <= MAX_ADDRESSES + 1
    await asyncio.sleep(0)
