"""Wake-ups between server processes: published only where a process beside the sender has the room open."""

from collections.abc import Iterator

import pytest

from fairest_protocol.messages.from_client import Watch
from fairest_server.store import keys
from tests.support.processes import RedisProcess, redis_process, serving_fleet
from tests.support.waiting import until
from tests.support.wire_client import WireClient, open_client, racing_players


@pytest.fixture
def engine() -> Iterator[RedisProcess]:
    """A Redis of its own, since its commands are counted."""
    with redis_process() as process:
        yield process


def published(engine: RedisProcess) -> int:
    """Return how many messages were published since the start."""
    return int(engine.info("commandstats").partition(b"cmdstat_publish:calls=")[2].partition(b",")[0] or 0)


async def is_heard(engine: RedisProcess, room: str) -> None:
    """Wait until the process with this room knows of the other one, and listens for its entries."""
    channel = keys.log(room)

    async def listens() -> bool:
        return engine.call("PUBSUB", "NUMSUB", channel) == [channel.encode(), 1]

    await until(listens, "the process listens")


async def play_until(player: WireClient, engine: RedisProcess, *, is_published: bool) -> None:
    """Move until a move is published, or is not."""

    async def has_come() -> bool:
        before = published(engine)
        await player.play("sa")
        return (published(engine) > before) is is_published

    await until(has_come, f"a move is {'' if is_published else 'not '}published")


@pytest.mark.long
async def test_moves_are_not_published_while_both_players_are_on_one_process(engine: RedisProcess) -> None:
    async with serving_fleet(engine.url) as fleet:
        url, _ = await fleet.start(), await fleet.start()
        async with racing_players(url) as (first, _):
            await is_heard(engine, first.room)
            await play_until(first, engine, is_published=False)


@pytest.mark.long
async def test_moves_are_published_once_somebody_watches_on_another_process(engine: RedisProcess) -> None:
    async with serving_fleet(engine.url) as fleet:
        url, other = await fleet.start(), await fleet.start()
        async with racing_players(url) as (first, second), open_client(other) as spectator:
            await is_heard(engine, first.room)
            await play_until(first, engine, is_published=False)
            await spectator.enter(Watch(room=first.room))
            await play_until(second, engine, is_published=True)
            await spectator.receive_until(lambda scene: scene.seats[1].moves > 0)
