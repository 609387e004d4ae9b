"""Cutting logs: what is over and recorded is no longer read by anybody who opens the room."""

from random import getrandbits
from typing import Final

from redis.exceptions import RedisError

from fairest_protocol.messages.fields import Phase
from fairest_server.live.live_room import LiveRoom
from fairest_server.live.log_reader import LogReader, read_steps
from fairest_server.live.redis_clock import RedisClock
from fairest_server.live.room_tasks import RoomTasks
from fairest_server.live.slices import Slices
from fairest_server.ops import metrics
from fairest_server.room.checkpoint import making_checkpoint
from fairest_server.room.steps import LogEntry, LogSlice, folding
from fairest_server.store.log import Log

CUT_AFTER: Final = 200
"""A log is cut at the next place for it once a reader has to read more entries than this: two short matches.

The room decides nothing meanwhile, for some milliseconds each time, or fast players could always be ahead of it.
"""
CUT_FINISHED_AFTER: Final = 1000
"""The same while the boards of a finished race are shown: a checkpoint then takes four times as long to make."""
ATTEMPTS: Final = 5
"""A log that has moved on each time is left alone until the room changes again."""


class LogCutter:
    """Cuts the logs of open rooms. A log that is not cut stays readable; it costs time and memory and nothing else."""

    def __init__(self, log: Log, clock: RedisClock, reader: LogReader, tasks: RoomTasks, slices: Slices) -> None:
        self._log = log
        self._clock = clock
        self._reader = reader
        self._tasks = tasks
        self._slices = slices
        self._under_way: set[str] = set()

    def is_due(self, room: LiveRoom) -> bool:
        """Return whether the log of this room should be cut now."""
        state = room.state
        if state is None or room.cursor.length <= CUT_AFTER or room.code in self._under_way:
            return False
        if room.cursor.cut_tried_at == room.cursor.index:
            # It failed, and the next change of the room is another occasion: Redis may be full for hours.
            return False
        if room.cursor.is_uncertain or not state.can_be_cut(self._clock.now_ms()):
            # Redis does not answer, or what is in the log still matters.
            return False
        return state.phase is not Phase.FINISHED or room.cursor.length > CUT_FINISHED_AFTER

    def is_under_way(self, room: LiveRoom) -> bool:
        """Return whether the log of this room is being cut."""
        return room.code in self._under_way

    def start_reading(self, room: LiveRoom, after: int) -> None:
        """Read the room's log after this index for it, in a task; cut it first if that is due.

        The room decides nothing until it was read.
        """
        self._tasks.start(self._cut_and_read(room, after), room.code)

    async def _cut_and_read(self, room: LiveRoom, after: int) -> None:
        try:
            if self.is_due(room):
                await self._cut(room)
        finally:
            # Whatever became of the cut, the room waits for this read.
            await self._reader.catch_up(room, after)

    async def _cut(self, room: LiveRoom) -> None:
        self._under_way.add(room.code)
        room.cursor.cut_tried_at = room.cursor.index
        try:
            await self._append_checkpoint(room)
        except (RedisError, OSError, ValueError):
            # The next change of the room is another occasion. A log that cannot be read is the business of the reader.
            return
        finally:
            self._under_way.discard(room.code)

    async def _append_checkpoint(self, room: LiveRoom) -> None:
        steps, end = await read_steps(self._log, self._slices, room.code)
        for _ in range(ATTEMPTS):
            checkpoint = await self._slices.finish(making_checkpoint(steps, self._clock.now_ms()))
            if checkpoint is None or end is None:
                return
            tag = f"{getrandbits(32):08x}"
            stamp_ms = await self._log.cut(room.code, end, tag, checkpoint)
            if stamp_ms is not None:
                metrics.LOGS_CUT.inc()
                room.on_log_slice(LogSlice(end.tag, [LogEntry(end.index + 1, tag, stamp_ms, checkpoint)]))
                return
            later = await self._log.read(room.code, end.index)
            if not later or later[0].index != end.index + 1:
                # Another process has cut it, or it is gone.
                return
            steps += await self._slices.finish(folding(later, steps[-1].after))
            end = later[-1]
