"""Certified rooms over real sockets: a whole race, a client that does not know them, and a process that is killed."""

import asyncio
import os
import random
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from fairest_cli.records.record_check import verify_record
from fairest_protocol.calculation.certified import CAPABILITY, find_step
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_client import Create, GetRecord, Join, Resume, Reveal, Watch
from fairest_protocol.messages.from_server import MatchRecord
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.messages.refusals import Refusal
from fairest_server.room.events import StepFound
from fairest_server.room.state import awaits_step
from tests.server.test_race import play_greedily
from tests.support.history import read_steps
from tests.support.processes import serving_fleet
from tests.support.waiting import until
from tests.support.wire_client import WireClient, open_client

CERTIFIED = RoomOptions(countdown_seconds=0, certified=1)
KNOWS = (CAPABILITY,)


async def test_a_certified_race_is_dealt_raced_recorded_and_proved(server_url: str, redis_url: str) -> None:
    chance = random.Random(1)
    async with open_client(server_url, capabilities=KNOWS) as ann, open_client(server_url, capabilities=KNOWS) as bob:
        room = (await ann.enter(Create(options=CERTIFIED))).room
        await bob.enter(Join(room=room))
        await asyncio.gather(ann.take_part_in_deal(), bob.take_part_in_deal())
        scenes = await asyncio.gather(play_greedily(ann, chance), play_greedily(bob, chance))
        await ann.send(GetRecord())
        lines = (await ann.receive_a(MatchRecord)).lines
        steps = await read_steps(redis_url, room)
    record, checks = verify_record("".join(f"{line}\n" for line in lines))
    found = find_step(record.rules, record.rounds[0].round_seed)
    assert f"Round 1: certified deal: proved winnable at step {found.step + 1} of 16" in " ".join(checks)
    assert [scene.step for scene in scenes] == [found.step] * 2
    assert [step.event for step in steps if isinstance(step.event, StepFound)] == [StepFound(step=found.step)]


@pytest.mark.parametrize("request_of", [Join, Watch, lambda room: Resume(room=room, position=0)])
async def test_a_client_that_does_not_know_certified_rooms_is_told(
    server_url: str, request_of: Callable[..., Join | Watch | Resume]
) -> None:
    async with open_client(server_url, capabilities=KNOWS) as ann, open_client(server_url) as old:
        room = (await ann.enter(Create(options=CERTIFIED))).room
        refused = await old.expect_refusal(request_of(room=room))
        assert (refused.code, "certified" in refused.sentence) == (Refusal.MISSING_CAPABILITY, True)


async def test_a_client_that_does_not_know_certified_rooms_opens_none(server_url: str) -> None:
    async with open_client(server_url) as old:
        assert (await old.expect_refusal(Create(options=CERTIFIED))).code == Refusal.MISSING_CAPABILITY


async def test_other_rooms_admit_clients_without_capabilities(server_url: str) -> None:
    async with open_client(server_url, capabilities=KNOWS) as ann, open_client(server_url) as old:
        await old.enter(Watch(room=(await ann.enter(Create())).room))


def children(process_id: int) -> list[int]:
    return [int(each) for each in Path(f"/proc/{process_id}/task/{process_id}/children").read_text().split()]


async def reveal(client: WireClient) -> None:
    entropy = await client.get_ready_without_revealing()
    scene = await client.receive_until(lambda seen: seen.phase is Phase.DEALING)
    assert scene.round is not None
    await client.send(Reveal(round=scene.round, entropy=entropy))


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds the worker by /proc")
async def test_a_process_killed_while_it_looks_for_the_step_leaves_it_to_another_one(redis_url: str) -> None:
    async with serving_fleet(redis_url) as fleet:
        url, other_url = await fleet.start(), await fleet.start()
        async with open_client(url, capabilities=KNOWS) as ann, open_client(url, capabilities=KNOWS) as bob:
            # The first deal starts the worker, which then stands still.
            await bob.enter(Join(room=(await ann.enter(Create(options=CERTIFIED))).room))
            await asyncio.gather(ann.take_part_in_deal(), bob.take_part_in_deal())
        [worker] = children(fleet.processes[url].pid)
        os.kill(worker, signal.SIGSTOP)
        try:
            async with open_client(url, capabilities=KNOWS) as ann, open_client(url, capabilities=KNOWS) as bob:
                room = (await ann.enter(Create(options=CERTIFIED))).room
                await bob.enter(Join(room=room))
                await asyncio.gather(reveal(ann), reveal(bob))

                async def is_awaited() -> bool:
                    return awaits_step((await read_steps(redis_url, room))[-1].after)

                await until(is_awaited, "both have revealed")
                await fleet.kill(url)
                async with open_client(other_url, token=ann.token, capabilities=KNOWS) as again:
                    await again.resume(room)
                    await again.receive_until(lambda seen: seen.phase is Phase.RACING)
        finally:
            with suppress(ProcessLookupError):
                os.kill(worker, signal.SIGKILL)
