"""Logs are cut while processes are killed: no record is lost, none is made twice, and the room goes on."""

import asyncio
import random
from contextlib import aclosing

import pytest

from fairest_cli.records.record_check import verify_record
from fairest_cli.session.connection import Connection
from fairest_cli.session.identity import Identity
from fairest_cli.session.websocket import EntryRequest
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.messages.entries import RoundFinished
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_client import Create, Join, Rematch
from fairest_protocol.messages.from_server import Refused, Snapshot, View
from fairest_server.store.log import Log
from fairest_server.store.records import RecordStore
from fairest_server.store.redis.batching_client import BatchingRedis
from tests.support.processes import Fleet
from tests.support.single_and_cluster import redis_url
from tests.support.waiting import until
from tests.support.wire_client import QUICK

__all__ = ["redis_url"]

KILLS = 12
PROVED = 20
"""As many of the records are proved, each in a tenth of a second."""
SECONDS_BETWEEN = 0.2, 1.5
MOST_ENTRIES_OF_MATCH = 60
"""The entries of a match in which both players lose their connections now and then."""


class Rematcher:
    """A player who resigns after one move, or lets the other one do so, and asks for a rematch, until told to stop."""

    def __init__(self, url: str, entry: EntryRequest, *, resigns: bool) -> None:
        self.connection = Connection(url, Identity(), entry)
        self.resigns = resigns
        self.finished: dict[str, None] = {}
        """The ids of the matches that were shown to end, in order."""
        self.is_stopping = False
        self.last = ""
        """The update that came last, for the message of a test that waits in vain."""

    async def play(self) -> None:
        """Play match after match, through any fault."""
        async with aclosing(self.connection.updates()) as updates:
            async for update in updates:
                message, model = update.message, update.model
                scene = model.scene
                self.last = f"{model.status} {scene and scene.phase} {message} {model.own}"
                if scene is None or not isinstance(message, (View, Snapshot, Refused)):
                    continue
                if isinstance(message, View) and any(isinstance(entry, RoundFinished) for entry in message.entries):
                    assert scene.match is not None
                    self.finished[scene.match.hex()] = None
                # The other one may have stopped already, with a rematch under way that both had asked for.
                if self.is_stopping and scene.phase in (Phase.FINISHED, Phase.READY):
                    return
                if scene.phase is Phase.READY and model.own is not None and not model.own.entropy_hash:
                    await self.connection.get_ready()
                elif scene.phase is Phase.RACING and self.resigns and model.may_send_next_move:
                    await self.connection.play(MOVES["resign"])
                elif scene.phase is Phase.FINISHED and model.own is not None and not model.own.wants_rematch:
                    await self.connection.request(Rematch())


@pytest.mark.long
@pytest.mark.timeout(180)
async def test_a_room_outlives_kills_around_its_checkpoints_with_all_records(
    fleet: Fleet, redis: BatchingRedis
) -> None:
    limits = ("--messages-per-second", "1000", "--rounds-per-address", "1000000")
    urls = [await fleet.start(*limits) for _ in range(2)]
    ports = [int(url.rpartition(":")[2]) for url in urls]
    chance = random.Random(1)
    first = Rematcher(urls[0], Create(options=QUICK), resigns=True)
    playing = [asyncio.create_task(first.play())]
    room = await first.connection.entered()
    second = Rematcher(urls[1], Join(room=room), resigns=False)
    playing.append(asyncio.create_task(second.play()))
    for _ in range(KILLS):
        await asyncio.sleep(chance.uniform(*SECONDS_BETWEEN))
        number = chance.randrange(2)
        await fleet.kill(urls[number])
        urls[number] = await fleet.start(*limits, port=ports[number])
    log, goes_on = Log(redis), len(first.finished)

    async def goes_on_and_is_cut() -> None:
        assert len(first.finished) >= goes_on + 3
        assert (await log.read(room))[0].index > 1

    await until(goes_on_and_is_cut, "three more matches are over, and the log is cut")
    first.is_stopping = second.is_stopping = True
    try:
        async with asyncio.timeout(40):
            await asyncio.gather(*playing)
    except TimeoutError as reason:
        raise AssertionError(f"waited 40 s until both stop; last seen: {first.last} | {second.last}") from reason

    store, matches = RecordStore(redis), sorted({*first.finished, *second.finished})

    async def all_are_recorded() -> None:
        assert [match for match in matches if await store.read(match) is None] == []

    await until(all_are_recorded, "every match that was shown to end has a record")
    for match in matches[:: 1 + len(matches) // PROVED]:
        record, checks = verify_record((await store.read(match) or b"").decode() + "\n")
        list(checks)
        assert record.match_id == match
