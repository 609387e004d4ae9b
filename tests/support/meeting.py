"""Whether both players of a room are on one process."""

from fairest_protocol.messages.from_client import Create, Join
from fairest_server.store.control import Control
from fairest_server.store.processes import Processes
from fairest_server.store.redis.batching_client import BatchingRedis
from tests.support.waiting import until
from tests.support.wire_client import QUICK, open_client


async def processes_of(redis: BatchingRedis, room: str) -> set[str]:
    """Return the ids of the processes on which players of the room are, or have been within the last second."""
    living = await Control(redis).living()
    return {each for each in living if room in await Processes(redis, redis, each).rooms_of(each)}


async def meet_at_address(url: str, redis: BatchingRedis) -> None:
    """Let two players come to a new room at its address, and wait until one process alone has players of it."""
    async with open_client(url) as creator:
        room = (await creator.enter(Create(options=QUICK))).room
    async with open_client(f"{url}/r/{room}") as ann, open_client(f"{url}/r/{room}", token=creator.token) as host:
        await ann.enter(Join(room=room))
        await host.resume(room)

        async def is_one() -> bool:
            return len(await processes_of(redis, room)) == 1

        await until(is_one, "both players are on one process")
