"""1,000 generated ends of a round by a server that knows the deck: each is true and proved, or an alarm.

Two real clients race on a real server, which follows a real race up to a random step after both players are bound, and
then tells both the same lie. The receipts of both are judged as well, and must agree with the clients.
"""

import asyncio
import random
from collections.abc import Iterator
from contextlib import aclosing
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from fairest_cli.model.cheated import Cheated
from fairest_cli.model.known_room import ConnectionStatus
from fairest_cli.model.round_end import Alarm, Explained, Proved, Verdict
from fairest_cli.records.receipt_replay import judge_receipt
from fairest_cli.records.record_check import WrongRecord
from fairest_cli.session.connection import Connection
from fairest_cli.session.websocket import Rejected
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_client import Create, Join
from tests.support.lies import LIES, Story
from tests.support.long_tests import parametrize_with_long
from tests.support.lying_server import NAMES, OPTIONS, ROOM, Clock, HonestRace, Line, LyingServer, lying_server, pick
from tests.support.waiting import PATIENCE_SECONDS

RACES = 12
"""Races from which lies are told."""


class Told(NamedTuple):
    """A lie, the verdict of each client, and what each receipt says: the sentences, or the fault found."""

    lie: Story
    phase: Phase
    verdicts: list[Verdict | None]
    receipts: list[str]


@cache
def honest_race(seed: int) -> HonestRace:
    return HonestRace(seed)


async def follow(line: Line, liar: LyingServer, race: HonestRace) -> Verdict | None:
    """Play a seat as the log has it until the round has ended for the client; return its verdict."""
    client, moves = line.client, race.moves(line.seat)
    assert client is not None
    try:
        async with aclosing(client.updates()) as updates:
            async for update in updates:
                model, own = update.model, update.model.own
                if model.binding.last_end is not None:
                    return model.binding.last_end.verdict
                if model.status is ConnectionStatus.LOST and liar.is_gone:
                    return None
                if update.message is None or own is None:
                    continue
                if model.phase is Phase.READY and own.entropy_hash is None:
                    await client.get_ready()
                elif model.may_send_next_move and own.moves < len(moves):
                    await client.play(moves[own.moves])
    except Cheated as reason:
        return Alarm(str(reason))
    except Rejected:
        end = client.model.binding.last_end
        assert end is not None, "no client is sent away before it is bound"
        return end.verdict
    finally:
        line.has_ended = True
    raise AssertionError("the updates of a client never end by themselves")


async def tell(seed: int, receipts: Path) -> Told:
    """Tell the lie of this seed to two clients."""
    chance, clock = random.Random(seed), Clock()
    race = honest_race(chance.randrange(RACES))
    lie = pick(chance, LIES)
    first = next(place for place, step in enumerate(race.steps) if step.after.phase is Phase.DEALING)
    last = len(race.steps) - 2
    # Half of the lies come before the race, which is short in the log.
    start = next(place for place, step in enumerate(race.steps) if step.after.phase is Phase.RACING)
    cut = chance.randint(first, start) if chance.random() < 0.5 else chance.randint(start, last)
    async with lying_server(race, clock) as (liar, url), asyncio.timeout(PATIENCE_SECONDS):
        for line in liar.lines:
            request = Create(options=OPTIONS) if line.seat == 0 else Join(room=ROOM)
            line.client = Connection(
                url, race.identity(line.seat), request, name=NAMES[line.seat], receipts=receipts, clock=clock
            )
        following = [asyncio.create_task(follow(line, liar, race)) for line in liar.lines]
        state = await liar.play_until(cut)
        told = await lie(liar, state, chance)
        waiting = set(following)
        while waiting:
            done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            if any(isinstance(task.result(), Alarm) for task in done):
                break
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
    verdicts = [None if task in waiting else task.result() for task in following]
    return Told(told, state.phase, verdicts, [judged(line) for line in liar.lines])


def judged(line: Line) -> str:
    assert line.client is not None and line.client.receipt is not None and line.client.receipt.path is not None
    try:
        return " ".join(judge_receipt(line.client.receipt.path.read_text().splitlines()))
    except WrongRecord as reason:
        return f"WRONG {reason}"


def faults(told: Told) -> Iterator[str]:
    """Yield what is wrong with the verdicts on a lie."""
    alarms = [isinstance(verdict, Alarm) for verdict in told.verdicts]
    wrong = [receipt.startswith("WRONG") for receipt in told.receipts]
    if not told.lie.is_true and not any(alarms) and not any(wrong):
        yield "a lie without an alarm"
    if told.lie.is_true and not all(isinstance(verdict, Proved) for verdict in told.verdicts) and not any(alarms):
        yield "neither proved nor an alarm"
    if told.lie.told == "honest" and any(alarms):
        yield "an alarm at an honest server"
    for verdict, is_alarm, receipt, is_wrong in zip(told.verdicts, alarms, told.receipts, wrong, strict=True):
        if verdict is not None and is_alarm != is_wrong:
            yield f"the client says {verdict}, its receipt {receipt}"
        if isinstance(verdict, Explained) and verdict.sentence not in receipt:
            yield f"the receipt does not say {verdict.sentence}"


async def check(seeds: range, folder: Path) -> None:
    wrong = []
    for seed in seeds:
        told = await tell(seed, folder / str(seed))
        wrong += [f"{seed}, {told.phase}: {told.lie.told}: {fault}; {told.verdicts}" for fault in faults(told)]
    assert not wrong, "\n".join(wrong)


@parametrize_with_long("part", range(4), quick=1)
async def test_100_ends_by_a_lying_server_are_true_and_proved_or_an_alarm(part: int, tmp_path: Path) -> None:
    await check(range(part * 25, part * 25 + 25), tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("part", range(4, 40))
async def test_1000_ends_by_a_lying_server_are_true_and_proved_or_an_alarm(part: int, tmp_path: Path) -> None:
    await check(range(part * 25, part * 25 + 25), tmp_path)
