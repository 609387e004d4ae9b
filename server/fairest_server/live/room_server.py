"""Everything that serves rooms in this process, wired together."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Final

from redis.asyncio import Redis

from fairest_protocol.calculation.rules import Rules
from fairest_protocol.messages.from_server import MatchRecord, Refused
from fairest_protocol.messages.refusals import Refusal
from fairest_server.archive.reader import ArchiveReader
from fairest_server.live.attached_rooms import AttachedRooms
from fairest_server.live.bans import Bans
from fairest_server.live.client_connections import ClientConnections
from fairest_server.live.daily_attempts import DailyAttempts
from fairest_server.live.daily_deals import DailyDeals
from fairest_server.live.drain import Drain
from fairest_server.live.drand_relay import DrandRelay
from fairest_server.live.entrance import Entrance
from fairest_server.live.live_room import LiveRoom
from fairest_server.live.player_seats import PlayerSeats
from fairest_server.live.public_counting import PublicCounting
from fairest_server.live.rater import Rater
from fairest_server.live.record_finder import RecordFinder, RecordUnavailable
from fairest_server.live.record_maker import RecordMaker
from fairest_server.live.redis_clock import RedisClock
from fairest_server.live.registry import RoomRegistry
from fairest_server.live.room_tasks import RoomTasks
from fairest_server.live.round_chain import RoundChain
from fairest_server.live.round_deals import RoundDeals
from fairest_server.live.signing import DeploymentKey
from fairest_server.live.slices import Slices
from fairest_server.live.step_finder import StepFinder
from fairest_server.live.subscribers import Subscriber
from fairest_server.live.tournament_races import TournamentRaces
from fairest_server.live.tournaments import Tournaments
from fairest_server.room.refusing import refuse
from fairest_server.store.daily import DailyStore
from fairest_server.store.log import Log
from fairest_server.store.matches import MatchList
from fairest_server.store.player_rooms import PlayerRooms
from fairest_server.store.player_tournaments import PlayerTournaments
from fairest_server.store.processes import Processes
from fairest_server.store.public_counts import PublicCountStore
from fairest_server.store.rating_views import RatingViews
from fairest_server.store.ratings import RatingStore
from fairest_server.store.records import RecordStore
from fairest_server.store.redis.batching_client import BatchingRedis
from fairest_server.store.rounds import RoundStore
from fairest_server.store.tournaments import TournamentStore

WIND_UP_SECONDS: Final = 1.5
"""How long a process that stops goes on with appends and reads that are under way."""
WIND_UP_CHECKS: Final = 150


class RoomServer:
    """The rooms of this process, on one Redis, within `serving`; sessions send their requests here."""

    def __init__(
        self,
        redis: BatchingRedis,
        listening: Redis,
        processes: Processes,
        key: DeploymentKey,
        closed_room_seconds: int,
        archive: ArchiveReader | None = None,
        drain: Drain | None = None,
        rounds_kept: int = 100_000,
        dailies: Sequence[Rules] = (),
        relay: DrandRelay | None = None,
    ) -> None:
        """`listening` is a client of its own for subscriptions, which wait for nothing else. `dailies` are the variants
        with a daily deal, whose beacon comes from `relay` if there is one.
        """
        self.processes: Final = processes
        self.process_id: Final = processes.process_id
        self.key: Final = key
        self.clock: Final = RedisClock()
        self.log: Final = Log(redis)
        self.attached: Final = AttachedRooms(processes)
        self.rounds: Final = RoundChain(RoundStore(redis, processes.process_id), key.sign_head, rounds_kept)
        self.daily_deals: Final = DailyDeals(
            DailyStore(redis), RoundStore(redis, self.process_id), self.clock, dailies, relay
        )
        self.daily_attempts: Final = DailyAttempts(self.daily_deals, self.clock, key)
        deals = RoundDeals()
        self.tournaments: Final = Tournaments(TournamentStore(redis), self.clock, deals)
        self.player_tournaments: Final = PlayerTournaments(redis)
        self.tournament_races: Final = TournamentRaces(self.tournaments, self.clock, deals, key)
        self.bans: Final = Bans(self.clock)
        self.connections: Final = ClientConnections()
        """The connections of clients to this process."""
        self.drain: Final = drain or Drain()
        self.stopping: Final = asyncio.Event()
        """Set when this process stops."""
        self.tasks: Final = RoomTasks()
        records = RecordStore(redis)
        self.slices: Final = Slices()
        self.matches: Final = MatchList(redis)
        self.records: Final = RecordFinder(records, archive)
        self.rater: Final = Rater(RatingStore(redis), self.records, self.clock, self.slices, lambda: key.public)
        self.ratings: Final = RatingViews(redis, lambda player_id: self.bans.of_player(player_id) is not None)
        self._record_maker = RecordMaker(
            self.log, records, self.matches, self.rater, self.slices, key.sign_lines, self.stopping
        )
        self._step_finder = StepFinder(self.tasks, self.stopping)
        self.registry: Final = RoomRegistry(
            self.log,
            self.clock,
            self.attached,
            self._record_maker,
            self.tasks,
            self.slices,
            listening,
            self._step_finder,
            draw_round=key.draw_round,
            welcome=self._welcome,
            on_steps=PlayerSeats(PlayerRooms(redis), self.tasks).on_steps,
            closed_room_seconds=closed_room_seconds,
        )
        self.public_counting: Final = PublicCounting(
            PublicCountStore(redis, self.process_id), redis, self.registry.rooms, self.slices
        )
        self.entrance: Final = Entrance(self.registry, self.clock, self.tasks, self.slices)

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[asyncio.TaskGroup]:
        """Serve rooms for as long as the context lasts, then finish what is under way.

        Yields the group of tasks that end with this process. Those that talk to Redis are told to end by `stopping`,
        and are not cancelled: redis-py may swallow a cancellation that meets it while it reads with a time limit
        (docs/decisions/0002-redis-client.md).
        """
        async with self.log.sending(), self.tasks.running() as tasks:
            wakeups = tasks.create_task(self.registry.wakeups.run())
            try:
                yield tasks
            finally:
                self.stopping.set()
                tasks.create_task(self._step_finder.end_worker())
                wakeups.cancel()
                tasks.create_task(self._wind_up())

    async def find_record(self, code: str | None, match_id: str | None) -> tuple[MatchRecord | Refused, int]:
        """Return the record of a match, or of the last one finished in the room `code`; or a refusal.

        One of the two is given. The number is that of the log entries, and lines of a record, that were read for it.
        Raises RedisError.
        """
        record, entries_read = None, 0
        if match_id is None and code is not None:
            last = await self._record_maker.last_record(code)
            record, match_id, entries_read = last.record, last.match_id, last.entries_read
        try:
            if record is None and match_id is not None:
                record = await self.records.find(match_id)
        except RecordUnavailable:
            return refuse("get_record", Refusal.TRY_AGAIN), entries_read
        if record is None:
            return refuse("get_record", Refusal.NO_RECORD), entries_read
        return record, entries_read + len(record.lines)

    def _welcome(self, room: LiveRoom, subscriber: Subscriber) -> None:
        self.entrance.welcome(room, subscriber)

    async def _wind_up(self) -> None:
        """Wait until no room is busy, for at most WIND_UP_SECONDS."""
        for _ in range(WIND_UP_CHECKS):
            if not any(room.is_busy for room in self.registry.rooms.values()):
                return
            await asyncio.sleep(WIND_UP_SECONDS / WIND_UP_CHECKS)
