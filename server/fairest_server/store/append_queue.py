"""The queue of appends to Redis: sent in batches, each append built just before its batch is sent.

    enqueue(writer)             a room has something to append, and waits to be polled
      |                         (call_soon, or the reply to the batch before)
      v
    poll                        up to MAX_BATCH writers are taken from the queue
      |  writer.build_append()  each decides what to append, with all that it was asked until now
      v
    send                        one EVALSHA of append.lua for each, in one write and one round trip
      |                         (the next batch is built and sent before anything else)
      v
    writer.on_append_result()   each learns what became of its append

A batch shares the round trip, and the fsync. As long as Redis answers, nothing on this path is a task, a coroutine or a
future, neither for an append nor for a batch. When anything fails, the batch is sent again by a task, which connects,
loads the script and retries.
"""

import asyncio
import time
from collections import deque
from collections.abc import Sequence
from enum import StrEnum
from typing import Any, Final, Protocol

from redis.asyncio import Redis
from redis.exceptions import NoScriptError, RedisError

from fairest_protocol.value import Value
from fairest_server.ops import metrics
from fairest_server.ops.faults import report
from fairest_server.ops.metrics import Part
from fairest_server.room.events import Event
from fairest_server.room.steps import LogEntry
from fairest_server.store.keys import RoomKeys
from fairest_server.store.log_entries import format_event, parse_entry
from fairest_server.store.redis.batch_connection import BatchConnection, CommandWords
from fairest_server.store.redis.cluster_client import channel_commands
from fairest_server.store.redis.scripts import Script

MAX_BATCH: Final = 100
"""Writers polled for one batch; to handle their results takes 10 to 15 ms. Heartbeats are sent between batches."""


class Answer(StrEnum):
    """The result of an append."""

    APPENDED = "appended"
    CONFLICT = "conflict"
    """The last entry of the log is not the expected one."""
    EARLY = "early"
    """Redis' clock is before `not_before_ms`."""
    LATE = "late"
    """Redis' clock is after `not_after_ms`."""
    FAILED = "failed"
    """Redis answered with an error, or nothing was sent: the events follow no later, and are hardly in the log."""
    UNKNOWN = "unknown"
    """Redis did not answer: the events may be in the log, or follow later, or not."""


metrics.APPENDS.declare(Answer)
_ANSWERS: Final = {answer.encode(): answer for answer in Answer}


class Reply(Value):
    """The result of an append, and Redis' clock in ms: the stamp of what was appended, 0 for `FAILED` and `UNKNOWN`.

    `entries` are given with a `CONFLICT`: those of the log from the expected last one on.
    """

    answer: Answer
    now_ms: int = 0
    entries: Sequence[LogEntry] = ()


_FAILED: Final = Reply(Answer.FAILED)
_UNKNOWN: Final = Reply(Answer.UNKNOWN)


class Append(Value):
    """Events for one room's log, on the condition that the log's last index and tag are the expected ones.

    Times are milliseconds on Redis' clock; a `not_after_ms` of 0 is any time. `next_check_ms` is when the sweep must
    check the room: None leaves it as it is, 0 means never. `expire_seconds` is how long the log is kept from now on, 0
    for ever. `is_shared` publishes the entries if the channel has more subscriptions than the sender's
    `own_subscriptions`. `listing` is the room's new entry in the lobby: empty to remove it, None to leave it as it is.
    `rounds` are entries for the chain of rounds.
    """

    room: str
    expected: int
    expected_tag: str
    tag: str
    events: Sequence[Event]
    not_before_ms: int = 0
    not_after_ms: int = 0
    next_check_ms: int | None = None
    expire_seconds: int = 0
    is_shared: bool = False
    own_subscriptions: int = 0
    listing: bytes | None = None
    rounds: Sequence[str] = ()


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


Batch = list[tuple[Writer, CommandWords]]
"""Writers, each with the arguments of EVALSHA for its append: the number of keys, the keys and the arguments."""


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
        """When the batch was sent, on the clock of `time.perf_counter`."""
        self._is_busy = False
        """Whether a batch is under way or scheduled."""
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
            # Not at once: writers that are enqueued in the same turn of the event loop share the batch.
            asyncio.get_running_loop().call_soon(self._send_next)

    async def close(self) -> None:
        """Send what waits, then close the connection. Writers that are enqueued afterwards are never asked.

        Must not be cancelled: the result of the batch under way would be unknown.
        """
        if self._is_busy:
            self._drained = asyncio.get_running_loop().create_future()
            await self._drained
        # From now on the queue is busy for ever, so that `enqueue` never schedules a batch again.
        self._is_busy = True
        await self._connection.close()

    def _send_next(self) -> None:
        """Send the next batch, or become idle."""
        if self._waiting and self._send_waiting():
            return
        self._is_busy = False
        if self._drained is not None and not self._drained.done():
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
                    batch.append((writer, _keys_and_arguments(writer.keys, append)))
            except Exception as fault:
                report(Part.ROOM, fault, room=writer.code)
                _report_result(writer, _FAILED)
        self._batch = batch
        if not batch:
            return False
        self._sent_at = time.perf_counter()
        if not self._try_send():
            self._retry()
        return True

    def _try_send(self) -> bool:
        """Send the batch over the open connection; return False if there is none, or the script is not known yet."""
        if self._script is None:
            return False
        sha, commands = self._script.sha, []
        for _, append in self._batch:
            commands.append(("EVALSHA", sha, *append))
        try:
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
            if isinstance(reply, RedisError):
                self._retry()
                return
            parsed.append(_parse(reply))
        self._dispatch(parsed)

    def _retry(self, failures: int = 0) -> None:
        self._retrying = asyncio.create_task(self._send_again(failures))

    async def _send_again(self, failures: int) -> None:
        """Send the batch, which failed `failures` times, and dispatch the replies. Never raises.

        If it raised, this queue would stay busy for ever, and no room of its part of Redis could append.
        """
        try:
            replies = await self._send_with_retries(failures)
        except (RedisError, OSError):
            replies = [_UNKNOWN] * len(self._batch)
        except Exception as fault:
            report(Part.LOG, fault)
            replies = [_UNKNOWN] * len(self._batch)
        self._dispatch(replies)

    async def _send_with_retries(self, failures: int) -> list[Reply]:
        """Send the batch, on a new connection if need be, and the script's text if Redis does not know it.

        Raises the last RedisError or OSError once all retries failed; `failures` attempts were made before.
        """
        if self._script is None:
            self._script = Script("append.lua", head=await channel_commands(self._redis))
        sha, text = self._script.sha, self._script.text
        replies = await self._connection.send([("EVALSHA", sha, *append) for _, append in self._batch], failures)
        if any(isinstance(reply, NoScriptError) for reply in replies):
            replies = await self._connection.send([("EVAL", text, *append) for _, append in self._batch])
        return [_parse(reply) for reply in replies]

    def _dispatch(self, replies: Sequence[Reply]) -> None:
        """Send the next batch, then give each writer of this one its result: Redis works while the rooms do."""
        metrics.APPEND_SECONDS.add(time.perf_counter() - self._sent_at)
        metrics.BATCHES.add(len(self._batch))
        batch, self._batch = self._batch, []
        is_sent = bool(self._waiting) and self._send_waiting()
        for (writer, _), reply in zip(batch, replies, strict=True):
            metrics.APPENDS.add(reply.answer)
            _report_result(writer, reply)
        if not is_sent:
            # The results may have enqueued writers; those did not schedule a batch, because the queue is still busy.
            self._send_next()


def _report_result(writer: Writer, reply: Reply) -> None:
    try:
        writer.on_append_result(reply)
    except Exception as fault:
        report(Part.ROOM, fault, room=writer.code)


def _keys_and_arguments(keys: RoomKeys, append: Append) -> CommandWords:
    """Return the number of keys, the keys and the arguments of append.lua for this append. A move needs few of them."""
    index, events, listing, rounds = append.expected, append.events, append.listing, append.rounds
    words = [f"{index}-0", append.expected_tag, append.tag, append.not_before_ms, append.not_after_ms, len(events)]
    for event in events:
        index += 1
        words += (f"{index}-0", format_event(event))
    next_check_ms, expire_seconds = append.next_check_ms, append.expire_seconds
    is_move = next_check_ms is None and not expire_seconds and listing is None and not rounds
    if append.is_shared or not is_move:
        words += (keys.wakeup_channel if append.is_shared else "", append.own_subscriptions)
    if is_move:
        return (1, keys.log, *words)
    check = "" if next_check_ms is None else next_check_ms
    changed = (() if listing is None else (keys.lobby,)) + ((keys.round_outbox,) if rounds else ())
    more = (append.room, check, expire_seconds, listing or "", len(rounds), *rounds)
    return (2 + len(changed), keys.log, keys.deadlines, *changed, *words, *more)


def _parse(reply: Any) -> Reply:
    """Return the reply to an append; an error in its place is `FAILED`, and does not concern the rest of the batch."""
    if isinstance(reply, RedisError):
        return _FAILED
    try:
        if isinstance(reply, bytes):
            return Reply(Answer.APPENDED, int(reply))
        word, now_ms, *found = reply
        entries = [parse_entry(entry_id, fields) for entry_id, fields in found[0]] if found else ()
        return Reply(_ANSWERS[word], int(now_ms), entries)
    except ValueError:
        # An entry of the log cannot be read. The room reads its log next, and reports the error.
        return _UNKNOWN
    except Exception as fault:
        report(Part.LOG, fault)
        return _UNKNOWN
