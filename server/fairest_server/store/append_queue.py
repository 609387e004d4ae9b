"""The queue of appends to Redis: sent in batches, each append built just before its batch is sent.

    enqueue(writer)             a room has something to append, and waits to be polled
      |                         (no sooner than BATCH_SECONDS after the last batch, or when that is answered
      |                          if it left rooms over)
      v
    poll                        up to MAX_BATCH writers are taken from the queue
      |  writer.build_append()  each decides what to append, with all that it was asked until now
      v
    send                        EVALSHA of append.lua for up to MAX_TOGETHER at a time, in one write and one round trip
      |                         (a next batch that is due is built and sent before anything else)
      v
    writer.on_append_result()   each learns what became of its append

A batch shares the round trip, and the fsync. As long as Redis answers, nothing on this path is a task, a coroutine or a
future, neither for an append nor for a batch. When anything fails, the batch is sent again by a task, which connects,
loads the script and retries, with a script for each append, so that a failure is that of one append.
"""

import asyncio
import time
from collections import deque
from collections.abc import Sequence
from typing import Any, Final, Protocol

from redis.asyncio import Redis
from redis.exceptions import NoScriptError, RedisError

from fairest_server.ops import metrics
from fairest_server.ops.faults import report
from fairest_server.ops.metrics import Part
from fairest_server.store.appends import (
    FAILED,
    MAX_TOGETHER,
    UNKNOWN,
    Append,
    Reply,
    Words,
    commands_of,
    parse_alone,
    parse_result,
    results_of,
    words_of,
)
from fairest_server.store.keys import RoomKeys
from fairest_server.store.redis.batch_connection import BatchConnection
from fairest_server.store.redis.cluster_client import channel_commands
from fairest_server.store.redis.scripts import Script

MAX_BATCH: Final = 50
"""Writers polled for one batch; to handle their results takes some 5 ms. Heartbeats are sent between batches.

A room that is polled takes no more moves until its result is handled, so that in larger batches fewer moves share an
append (docs/decisions/0021-what-a-move-costs.md, step 53).
"""


BATCH_SECONDS: Final = 0.005
"""The shortest time between two batches, unless the earlier one left rooms over, or the queue is being closed. The
event loop rounds it to milliseconds.

A batch costs a process 50 us and Redis 28 us, however few rooms are in it, so a busy process sends fewer and larger
ones. A move that comes later than this after the last batch waits for nothing
(docs/decisions/0099-a-batch-each-five-milliseconds.md).
"""


class Writer(Protocol):
    """A room that has something to append to its log."""

    @property
    def code(self) -> str:
        """The room's code."""

    @property
    def keys(self) -> RoomKeys:
        """The room's keys, made once."""

    def build_append(self) -> Append | None:
        """Return what there is to append now, if anything. If this raises, the result is `FAILED`."""

    def on_append_result(self, reply: Reply) -> None:
        """Take the result of the append. Must not raise."""


Batch = list[tuple[Writer, Words]]
"""Writers, each with the words of its append."""


class AppendQueue:
    """The writers that wait to append to one part of Redis. One batch is under way at a time."""

    def __init__(self, redis: Redis, connection: BatchConnection) -> None:
        self._redis = redis
        self._connection = connection
        self._script: Script | None = None
        """The script of an append, once it is known whether Redis has sharded channels."""
        self._waiting: deque[Writer] = deque()
        self._batch: Batch = []
        self._sent_at: float
        """When the last batch was sent, on the clock of `time.perf_counter`."""
        self._due_at = 0.0
        """When the next one may be sent, on the same clock."""
        self._is_busy = False
        """Whether a batch is under way or scheduled."""
        self._timer: asyncio.TimerHandle | None = None
        """Sends the next batch when its time has come; None while a batch is under way."""
        self._retrying: asyncio.Task[None] | None = None
        """A reference, because the event loop keeps only weak ones."""
        self._drained: asyncio.Future[None] | None = None
        """Set by `close`, and resolved when nothing is left to send."""

    def enqueue(self, writer: Writer, *, is_first: bool) -> None:
        """Poll `writer` for its append when its place in the queue comes; with `is_first`, before all that wait."""
        if is_first:
            self._waiting.appendleft(writer)
        else:
            self._waiting.append(writer)
        if not self._is_busy:
            self._is_busy = True
            self._schedule()

    async def close(self) -> None:
        """Send what waits, then close the connection. Writers that are enqueued afterwards are never asked.

        Must not be cancelled: the result of the batch under way would be unknown.
        """
        if self._is_busy:
            self._drained = asyncio.get_running_loop().create_future()
            if self._timer is not None:
                self._timer.cancel()
                self._schedule()
            await self._drained
        # The queue stays busy for ever, so that `enqueue` never schedules a batch again.
        self._is_busy = True
        await self._connection.close()

    def _schedule(self) -> None:
        """Send the next batch when it is due, or at once if `close` waits for it."""
        loop = asyncio.get_running_loop()
        seconds = self._due_at - time.perf_counter()
        if seconds > 0 and self._drained is None:
            self._timer = loop.call_later(seconds, self._send_next)
        else:
            # Not at once: writers that are enqueued in the same turn of the event loop share the batch.
            self._timer = None
            loop.call_soon(self._send_next)

    def _send_next(self) -> None:
        """Send the next batch, or become idle."""
        self._timer = None
        if not self._send_waiting():
            self._become_idle()

    def _become_idle(self) -> None:
        if self._drained is None:
            self._is_busy = False
        elif not self._drained.done():
            # It stays busy, so that nothing is sent before `close` goes on.
            self._drained.set_result(None)

    def _send_waiting(self) -> bool:
        """Build a batch from the writers that wait and send it; return False if none has anything to append."""
        batch: Batch = []
        polled = 0
        # Writers without an append count as well, so that a poll is bounded; but not while the batch is still empty.
        while self._waiting and (polled < MAX_BATCH or not batch):
            writer = self._waiting.popleft()
            polled += 1
            # A fault of one writer fails its own append only, and not the others of the batch.
            try:
                append = writer.build_append()
                if append is not None:
                    batch.append((writer, words_of(writer.keys, append)))
            except Exception as fault:
                report(Part.ROOM, fault, room=writer.code)
                _report_result(writer, FAILED)
        self._batch = batch
        if not batch:
            return False
        self._sent_at = time.perf_counter()
        # Rooms that are left over have waited already.
        self._due_at = self._sent_at + (0.0 if self._waiting else BATCH_SECONDS)
        if not self._try_send():
            self._retry()
        return True

    def _try_send(self) -> bool:
        """Send the batch over the open connection; return False if there is none, or the script is not known yet."""
        if self._script is None:
            return False
        try:
            commands = commands_of(self._script, [words for _, words in self._batch], MAX_TOGETHER)
            return self._connection.try_send(commands, self._on_replies)
        except Exception as fault:
            report(Part.LOG, fault)
            return False

    def _on_replies(self, replies: Sequence[Any] | RedisError) -> None:
        """Dispatch the replies, or send the whole batch again after an error.

        append.lua appends once however often it is run. It returns its first reply again while the log ends with this
        append, and later `conflict`, with entries that hold it.
        """
        if isinstance(replies, RedisError):
            self._retry(failures=1)
            return
        parsed: list[Reply] = []
        for reply in replies:
            parsed += map(parse_result, results_of(reply))
        if len(parsed) == len(self._batch):
            self._dispatch(parsed)
        else:
            self._retry()

    def _retry(self, failures: int = 0) -> None:
        self._retrying = asyncio.create_task(self._send_again(failures))

    async def _send_again(self, failures: int) -> None:
        """Send the batch, which failed `failures` times, and dispatch the replies. Never raises.

        If it raised, this queue would stay busy for ever, and no room of its part of Redis could append.
        """
        try:
            replies = await self._send_with_retries(failures)
        except (RedisError, OSError):
            replies = [UNKNOWN] * len(self._batch)
        except Exception as fault:
            report(Part.LOG, fault)
            replies = [UNKNOWN] * len(self._batch)
        self._dispatch(replies)

    async def _send_with_retries(self, failures: int) -> list[Reply]:
        """Send the batch, on a new connection if need be, and the script's text if Redis does not know it.

        Raises the last RedisError or OSError once all retries failed; `failures` attempts were made before.
        """
        if self._script is None:
            self._script = Script("append.lua", head=await channel_commands(self._redis))
        commands = commands_of(self._script, [words for _, words in self._batch], 1)
        replies = await self._connection.send(commands, failures)
        if any(isinstance(reply, NoScriptError) for reply in replies):
            replies = await self._connection.send([("EVAL", self._script.text, *words[2:]) for words in commands])
        return [parse_alone(reply) for reply in replies]

    def _dispatch(self, replies: Sequence[Reply]) -> None:
        """Send the next batch if it is due, so that Redis has work; then give each writer of this one its result."""
        metrics.APPEND_SECONDS.add(time.perf_counter() - self._sent_at)
        metrics.BATCHES.add(len(self._batch))
        batch, self._batch = self._batch, []
        is_sent = time.perf_counter() >= self._due_at and self._send_waiting()
        for (writer, _), reply in zip(batch, replies, strict=True):
            metrics.APPENDS.add(reply.answer)
            _report_result(writer, reply)
        if is_sent:
            return
        # The results may have enqueued writers; those did not schedule a batch, because the queue is still busy.
        if self._waiting:
            self._schedule()
        else:
            self._become_idle()


def _report_result(writer: Writer, reply: Reply) -> None:
    try:
        writer.on_append_result(reply)
    except Exception as fault:
        report(Part.ROOM, fault, room=writer.code)
