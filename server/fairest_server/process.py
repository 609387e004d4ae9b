"""One process of a deployment: its rooms, its heartbeat and its sweep."""

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import structlog
from redis.asyncio import Redis
from redis.exceptions import RedisError

from fairest_server.archive.reader import ArchiveReader
from fairest_server.live.drain import Drain
from fairest_server.live.drand_relay import DrandRelay
from fairest_server.live.room_server import RoomServer
from fairest_server.live.signing import DeploymentKey
from fairest_server.membership.ban_watch import BanWatch
from fairest_server.membership.heartbeat import Heartbeat
from fairest_server.membership.operator_control import OperatorControl
from fairest_server.membership.periodic import repeat
from fairest_server.membership.player_verbs import PlayerVerbs
from fairest_server.membership.sweeper import Sweeper
from fairest_server.ops.events import Event
from fairest_server.settings import Settings
from fairest_server.store.bans import BanStore
from fairest_server.store.control import Control
from fairest_server.store.players import Players
from fairest_server.store.processes import Processes
from fairest_server.store.redis.batching_client import BatchingRedis

_LOG = structlog.get_logger(__name__)


@asynccontextmanager
async def serving_rooms(
    redis: BatchingRedis,
    beating: Redis,
    listening: Redis,
    key: DeploymentKey,
    settings: Settings,
    archive: ArchiveReader | None = None,
    drain: Drain | None = None,
) -> AsyncIterator[RoomServer]:
    """Serve rooms as a member of the deployment for as long as the context lasts. Raises RedisError.

    `beating` and `listening` are clients of their own for heartbeats and wake-ups, which wait for nothing else.
    """
    control = Control(redis)
    processes = Processes(redis, beating, secrets.token_hex(4))
    rooms = RoomServer(
        redis,
        listening,
        processes,
        key,
        settings.closed_room_seconds,
        archive,
        drain,
        settings.rounds_kept,
        settings.daily_list,
        DrandRelay(settings.daily_drand) if settings.daily_drand else None,
    )
    heartbeat = Heartbeat(processes, rooms.clock, rooms.registry, rooms.attached, rooms.stopping)
    sweeper = Sweeper(processes, rooms.log, rooms.registry, rooms.attached, key, heartbeat, rooms.stopping)
    ban_watch, player_verbs = BanWatch(BanStore(redis), rooms), PlayerVerbs(Players(redis), BanStore(redis))
    try:
        # Nothing is decided without Redis' clock, which comes with the first heartbeat.
        await heartbeat.beat()
        await ban_watch.read()
    except (RedisError, OSError) as reason:
        # On a Cluster, the node of the heartbeats may be away; the first one that reaches it has the bans read.
        _LOG.warning(Event.REDIS_FAILED, reason=str(reason))
    with suppress(RedisError, OSError):
        # Likewise the node of the chain of rounds: until it is back, no head is shown.
        await rooms.rounds.advance()
    async with rooms.serving() as tasks:
        heartbeat.on_bans_version = lambda version: ban_watch.on_version(version, tasks.create_task)
        heartbeat.on_requests = OperatorControl(control, player_verbs, rooms, tasks.create_task).on_requests
        for run in (heartbeat.run, heartbeat.watch_silence, sweeper.release, sweeper.compare, sweeper.sweep):
            tasks.create_task(run())
        for work in (
            rooms.rounds.advance,
            rooms.rater.advance,
            rooms.daily_deals.advance,
            rooms.tournaments.advance,
            rooms.public_counting.advance,
        ):
            tasks.create_task(repeat(work, rooms.stopping))
        yield rooms
